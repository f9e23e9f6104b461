package policy

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call walks a simple command: variables, a program with its words, redirections.
func (w *walk) call(s *syntax.Stmt, c *syntax.CallExpr, st state) (out ways) {
	out = same(st)
	w.whole(s, st, func() {
		w.redirects(s.Redirs, st)
		if c == nil {
			return
		}
		var argv []word
		for _, arg := range c.Args {
			argv = append(argv, w.words(arg, st)...)
		}
		if len(c.Args) == 0 {
			out = same(w.assign(c.Assigns, st))
			return
		}
		for _, a := range c.Assigns {
			w.prefix(a, st)
		}
		if text, ok := w.hereText(s.Redirs, st); ok && isShell(argv[0].text) {
			w.script(text, st)
		}
		out = w.simple(argv, st)
	})
	return out
}

// hereText is the text that a command is given by << or <<<, when it is fixed.
func (w *walk) hereText(redirs []*syntax.Redirect, st state) (string, bool) {
	for _, r := range redirs {
		if r.Hdoc != nil {
			text := r.Hdoc.Lit()
			return text, text != ""
		}
		if r.Op == syntax.WordHdoc {
			text := w.word(r.Word, st)
			return text.text, !text.dynamic
		}
	}
	return "", false
}

// ownVariable are names that a script may set for itself: short or lower case, and
// not among those that programs heed.
var ownVariable = regexp.MustCompile(`^([a-z_][a-z0-9_]*|[A-Z])$`)

// assign takes variables that are set for the rest of the script.
func (w *walk) assign(assigns []*syntax.Assign, st state) state {
	for _, a := range assigns {
		v, ok := w.assigned(a, st)
		if !ok {
			w.find(once(classRun, "variable", "it sets a list, which can run commands"))
		}
		name := a.Name.Value
		if !ownVariable.MatchString(name) || strings.HasSuffix(name, "_proxy") {
			if !w.e.variable(name+"="+v.text, w.c) || !v.literal() {
				w.find(once(classRun, "variable", "it sets "+Visible(name)+", which programs may act on"))
			}
		}
		st = st.set(name, v)
	}
	return st
}

// prefix takes a variable that is set for one command.
func (w *walk) prefix(a *syntax.Assign, st state) {
	v, ok := w.assigned(a, st)
	if !ok || !v.literal() || !w.e.variable(a.Name.Value+"="+v.text, w.c) {
		w.find(once(classRun, "variable", "it sets "+Visible(a.Name.Value)+" for the command, which may act on it"))
	}
}

func (w *walk) assigned(a *syntax.Assign, st state) (v word, ok bool) {
	if a.Array != nil {
		for _, elem := range a.Array.Elems {
			w.words(elem.Value, st)
			w.arithmetic(elem.Index, st)
		}
	}
	if a.Index != nil {
		w.arithmetic(a.Index, st)
	}
	if a.Value != nil {
		v = w.word(a.Value, st)
	}
	v.glob = false
	v.dynamic = v.dynamic || a.Append || a.Array != nil || a.Index != nil
	return v, a.Array == nil && a.Index == nil
}

// plainValue are values of variables that are neither paths nor text to be run.
var plainValue = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.,+@%/-]*$`)

// variable tells whether a rule allows a variable, given as name=value.
func (e *Engine) variable(assignment string, c *Context) bool {
	name, value, _ := strings.Cut(assignment, "=")
	switch {
	case value != "" && !plainValue.MatchString(value), strings.Contains(value, ".."):
		return false
	case strings.Contains(value, "/") && name != "TZ":
		return false // some take a path, and act on what stands there
	}
	decision := AskOnce
	for _, s := range e.given {
		if s.Kind != KindEnv || !s.holds(c) || !matchName(s.Pattern, name) && s.Pattern != assignment {
			continue
		}
		if s.Decision != Allow {
			return false
		}
		decision = Allow
	}
	return decision == Allow
}

// simple judges a program with its words.
func (w *walk) simple(argv []word, st state) ways {
	w.calls = append(w.calls, argv)
	w.untrusted = false
	w.denied(argv, st)
	name := argv[0]
	switch {
	case !name.literal() || name.odd || name.text == "":
		w.find(once(classRun, "dynamic command", "which program it runs is known only when it runs"))
		w.hiddenCommands(argv, st)
		w.loose(argv, st)
		return same(state{vars: st.vars})
	case strings.ContainsFunc(name.text, func(r rune) bool { return r >= 0x80 }):
		w.find(once(classFloor, "odd name", "the program's name holds letters that may only look like others: "+Visible(name.text)))
		return same(st)
	}
	if judge := builtin(name.text); judge != nil {
		if out, done := judge(w, argv, st); done {
			return out
		}
	}
	if w.allowed(argv, st) {
		return same(st)
	}
	w.loose(argv, st)
	w.ask(argv, st)
	return same(st)
}

// allowed finds a rule that allows a command, and judges the files that the rule
// knows the command to touch.
func (w *walk) allowed(argv []word, st state) bool {
	plain := w.plainArgv(argv)
	if plain == nil || len(st.dirs) == 0 {
		return false
	}
	for _, s := range slices.Concat(w.e.given, w.e.programs[plain[0].text]) {
		if s.Kind != KindShell && s.Kind != KindExact || s.Decision != Allow {
			continue
		}
		if !s.prefixOf(texts(plain), equalWord) || slices.ContainsFunc(plain[:len(s.Words)], func(v word) bool { return !v.literal() }) {
			continue
		}
		if !s.holds(w.c) {
			w.untrusted = true
			continue
		}
		if strings.Contains(plain[0].text, "/") && !w.atStart(st) || s.Kind == KindExact && !w.atStart(st) {
			continue // which program, or which files, depends on where it runs
		}
		rest := plain[len(s.Words):]
		f := finding{decision: Allow, class: classRun, rule: s.String()}
		if s.looks {
			f.class = classRead
		}
		if s.syntax == nil {
			if slices.ContainsFunc(rest, word.mayBeOption) || risky(plain) {
				continue
			}
			w.find(f)
			w.loose(argv, st)
			return true
		}
		if use, ok := s.syntax.use(rest); ok && !risky(plain) && special(plain) {
			w.find(f)
			w.use(use, st)
			return true
		}
	}
	return false
}

// plainArgv is argv as rules are held against it: git without the one option
// before its command that does no harm. Nil: no rule can allow it.
func (w *walk) plainArgv(argv []word) []word {
	if argv[0].text == "git" && len(argv) > 1 && argv[1].text == "--no-pager" {
		return slices.Concat(argv[:1], argv[2:])
	}
	return argv
}

// use judges the files that a command is known to touch.
func (w *walk) use(u usage, st state) {
	for _, f := range u.names {
		w.readWord(f, st, true)
	}
	for _, f := range u.reads {
		w.readWord(f, st, false)
	}
	for _, f := range u.writes {
		w.writeWord(f, st, true)
	}
}
