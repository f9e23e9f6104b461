package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Shell decides about a command as it would be given to bash -c, without the
// user's profile. Every part is judged and the strictest decides; what is not
// understood is asked for.
func (e *Engine) Shell(cmd string, c Context) Verdict {
	f, parse := guard(cmd)
	w := &walk{e: e, c: &c, src: cmd, rounds: 1}
	if f.decision != Allow {
		w.find(f)
	}
	if parse {
		w.script(cmd, state{dirs: []string{c.dir()}})
	}
	v := verdict(&c, w.findings)
	v.Parts = w.parts
	if len(v.Parts) == 0 {
		v.Parts = []Part{{Text: Visible(cmd[:min(len(cmd), maxCommand)]), Decision: v.Decision, Reason: v.Reason}}
	}
	return v
}

// maxScripts is how deep scripts within scripts are looked into.
const maxScripts = 5

// walk goes over a script once and gathers what it finds.
type walk struct {
	e         *Engine
	c         *Context
	src       string // of the script that is walked now
	findings  []finding
	parts     []Part
	part      int      // which of parts is judged now, from 1; 0: none
	calls     [][]word // commands so far, in the order of the walk
	lists     bool     // what comes through the pipe is names of files in the workspace
	rounds    int      // how often loops make this place walked
	scripts   int      // depth of scripts within scripts
	untrusted bool     // a rule would allow something if the workspace were trusted
}

func (w *walk) find(f finding) { w.findings = append(w.findings, f) }

// source is the text of a node, hidden characters visible.
func (w *walk) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(w.src) {
		return ""
	}
	return w.src[from:to]
}

// script parses and walks a text.
func (w *walk) script(text string, st state) {
	if w.scripts++; w.scripts > maxScripts {
		w.find(floor(AskOnce, "too deep", "scripts within scripts are nested too deep"))
		w.scripts--
		return
	}
	outer := w.src
	defer func() { w.src = outer; w.scripts-- }()
	texts := readings(text)
	if len(texts) > 1 {
		w.find(floor(AskOnce, "not understood", "a comment ends in a backslash, which not everybody reads as bash does"))
	}
	for _, w.src = range texts {
		w.parse(w.src, st)
	}
}

func (w *walk) parse(text string, st state) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		w.find(floor(AskOnce, "not understood", "the command is not understood as bash would: "+Visible(err.Error())))
	}
	if file != nil {
		w.list(file.Stmts, st)
	}
}

// substitution walks commands whose output becomes a part of a word. Where they go
// and what they set stays with them.
func (w *walk) substitution(stmts []*syntax.Stmt, st state) {
	lists := w.lists
	w.lists = false
	w.list(stmts, st)
	w.lists = lists
}

// list walks statements that follow one another, whatever comes of each.
func (w *walk) list(stmts []*syntax.Stmt, st state) ways {
	out := same(st)
	for _, s := range stmts {
		out = w.stmt(s, out.either())
	}
	return out
}

func (w *walk) stmt(s *syntax.Stmt, st state) ways {
	if s.Background || s.Coprocess || s.Disown {
		w.find(once(classRun, "background", "it goes on in the background after the command has ended"))
	}
	out := w.command(s, st)
	if s.Background {
		out = same(st)
	}
	if s.Negated {
		out.well, out.ill = out.ill, out.well
	}
	return out
}

func (w *walk) command(s *syntax.Stmt, st state) ways {
	call, simple := s.Cmd.(*syntax.CallExpr)
	if simple || s.Cmd == nil {
		return w.call(s, call, st)
	}
	if len(s.Redirs) > 0 {
		w.whole(s, st, func() { w.redirects(s.Redirs, st) })
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return w.binary(cmd, st)
	case *syntax.Block:
		return w.list(cmd.Stmts, st)
	case *syntax.Subshell:
		w.list(cmd.Stmts, st)
		return same(st)
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			return w.stmt(cmd.Stmt, st)
		}
	case *syntax.IfClause:
		return same(w.branches(cmd, st))
	case *syntax.WhileClause:
		start := w.loopStart(cmd, st)
		cond := w.list(cmd.Cond, start)
		body := w.list(cmd.Do, cond.either())
		return same(cond.either().or(body.either()))
	case *syntax.ForClause:
		return same(w.loop(cmd, st))
	case *syntax.CaseClause:
		return same(w.cases(cmd, st))
	case *syntax.TestClause:
		w.whole(s, st, func() { w.testClause(cmd, st) })
	case *syntax.ArithmCmd:
		w.whole(s, st, func() { w.arithmetic(cmd.X, st) })
	case *syntax.LetClause:
		w.whole(s, st, func() {
			for _, x := range cmd.Exprs {
				w.arithmetic(x, st)
			}
			w.find(once(classRun, "arithmetic", "arithmetic with names can run commands that stand in variables"))
		})
	case *syntax.DeclClause:
		w.whole(s, st, func() { w.declaration(cmd, st) })
		return same(st.forget(assignedIn(cmd)))
	case *syntax.FuncDecl:
		w.function(s, cmd, st)
	default:
		w.whole(s, st, func() { w.find(floor(AskOnce, "not understood", "this form is not understood")) })
	}
	return same(st)
}

// whole judges a statement as one part.
func (w *walk) whole(s *syntax.Stmt, st state, judge func()) {
	text := w.source(s)
	if from, end := s.Pos().Offset(), s.Semicolon.Offset(); s.Semicolon.IsValid() && !s.Background && end > from && int(end-from) <= len(text) {
		text = strings.TrimRight(text[:end-from], " \t\n")
	}
	p := Part{Text: Visible(text)}
	if len(st.dirs) == 1 {
		p.Dir = st.dirs[0]
	}
	findings, part := w.findings, w.part
	w.parts = append(w.parts, p)
	w.findings, w.part = nil, len(w.parts)
	at := w.part - 1
	judge()
	v := verdict(w.c, w.findings)
	w.parts[at].Decision, w.parts[at].Reason = v.Decision, v.Reason
	w.findings, w.part = append(findings, w.findings...), part
}
