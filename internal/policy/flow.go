package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxRounds is how many values of a loop are looked at one by one, if by that no more
// than maxNodes nodes of the tree are walked, loops around it counted.
const (
	maxRounds = 16
	maxNodes  = 20_000
)

func (w *walk) binary(b *syntax.BinaryCmd, st state) ways {
	switch b.Op {
	case syntax.AndStmt:
		x := w.stmt(b.X, st)
		y := w.stmt(b.Y, x.well)
		return ways{y.well, x.ill.or(y.ill)}
	case syntax.OrStmt:
		x := w.stmt(b.X, st)
		y := w.stmt(b.Y, x.ill)
		return ways{x.well.or(y.well), y.ill}
	}
	// Both sides of a pipe run in shells of their own.
	lists := w.lists
	before := len(w.calls)
	w.stmt(b.X, st)
	w.lists = listsFiles(w.calls[before:])
	w.stmt(b.Y, st)
	w.lists = lists
	return same(st)
}

func (w *walk) branches(clause *syntax.IfClause, st state) state {
	if len(clause.Cond) == 0 { // else
		return w.list(clause.Then, st).either()
	}
	cond := w.list(clause.Cond, st)
	out := w.list(clause.Then, cond.well).either()
	if clause.Else == nil {
		return out.or(cond.ill)
	}
	return out.or(w.branches(clause.Else, cond.ill))
}

func (w *walk) cases(clause *syntax.CaseClause, st state) state {
	w.words(clause.Word, st)
	out := st
	for _, item := range clause.Items {
		for _, pattern := range item.Patterns {
			w.words(pattern, st)
		}
		out = out.or(w.list(item.Stmts, out).either())
	}
	return out
}

// loop walks a for loop: once for each of few values that are known, else once
// with a value that is not.
func (w *walk) loop(clause *syntax.ForClause, st state) state {
	start := w.loopStart(clause, st)
	iter, ok := clause.Loop.(*syntax.WordIter)
	if !ok {
		w.find(once(classRun, "arithmetic", "a loop that counts can run commands that stand in variables"))
		return st.or(w.list(clause.Do, start).either())
	}
	var values []word
	for _, item := range iter.Items {
		values = append(values, w.words(item, st)...)
	}
	if clause.Select || !iter.InPos.IsValid() || len(values) > maxRounds || w.rounds*len(values)*sizeOf(clause) > maxNodes {
		values = []word{{dynamic: true}}
	}
	out := st
	rounds := w.rounds
	w.rounds *= max(len(values), 1)
	for _, v := range values {
		out = out.or(w.list(clause.Do, start.set(iter.Name.Value, v)).either())
	}
	w.rounds = rounds
	return out
}

// sizeOf counts the nodes of a tree.
func sizeOf(node syntax.Node) int {
	n := 0
	syntax.Walk(node, func(syntax.Node) bool {
		n++
		return true
	})
	return n
}

// loopStart is what is known at the start of any round: nothing of what the loop
// itself changes.
func (w *walk) loopStart(loop syntax.Node, st state) state {
	syntax.Walk(loop, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			switch strings.ReplaceAll(call.Args[0].Lit(), `\`, "") {
			case "cd", "pushd", "popd", "", "command", "builtin", "eval":
				st.dirs = nil
			}
		}
		return true
	})
	return st.forget(assignedIn(loop))
}

// assignedIn names the variables that are set somewhere in a node.
func assignedIn(node syntax.Node) []string {
	var names []string
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				names = append(names, n.Name.Value)
			}
		case *syntax.WordIter:
			names = append(names, n.Name.Value)
		}
		return true
	})
	return names
}

func (st state) forget(names []string) state {
	for _, name := range names {
		st = st.set(name, word{dynamic: true})
	}
	return st
}

// function takes a function's declaration: from then on a name means something
// else, so every part is asked for. One that calls itself twice over is a bomb.
func (w *walk) function(s *syntax.Stmt, f *syntax.FuncDecl, st state) {
	w.whole(s, st, func() {
		w.find(once(classRun, "function", "it gives a name another meaning"))
		if f.Name != nil && callsItself(f) {
			w.find(floor(Deny, "fork bomb", "it starts itself again and again, until the machine stops"))
		}
	})
	w.list([]*syntax.Stmt{f.Body}, st)
}

func callsItself(f *syntax.FuncDecl) bool {
	calls, spreads := 0, false
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 && n.Args[0].Lit() == f.Name.Value {
				calls++
			}
		case *syntax.Stmt:
			spreads = spreads || n.Background
		case *syntax.BinaryCmd:
			spreads = spreads || n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		}
		return true
	})
	return calls > 1 || calls == 1 && spreads
}

// filters are programs that pass on lines of what they are given, as they are.
var filters = []string{"grep", "sort", "uniq", "head", "tail"}

// listsFiles tells whether a pipe's commands print nothing but names of files that
// lie beneath where they run.
func listsFiles(calls [][]word) bool {
	for i, argv := range calls {
		name := argv[0].text
		if i > 0 {
			if !slices.Contains(filters, name) || hasOption(argv, "-o", "--only-matching") {
				return false
			}
			continue
		}
		switch {
		case name == "find":
			if hasOption(argv, "-printf") {
				return false
			}
		case name == "git":
			// Of a log the messages would be taken for names.
			if len(argv) < 2 || argv[1].text != "ls-files" && (argv[1].text != "diff" || !hasOption(argv, "--name-only")) {
				return false
			}
		case name == "rg" || name == "grep":
			if !hasOption(argv, "-l", "--files", "--files-with-matches", "-rl", "-lr", "-rln", "-rnl", "-ril", "-lri", "-ln") {
				return false
			}
		case name != "fd" && name != "ls":
			return false
		}
	}
	return len(calls) > 0
}

func hasOption(argv []word, options ...string) bool {
	return slices.ContainsFunc(argv, func(w word) bool { return slices.Contains(options, w.text) })
}
