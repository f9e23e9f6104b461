package policy

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builtin gives the judge of a program whose words are judged one by one, nil for
// most. Not done means that the rules decide.
func builtin(name string) func(w *walk, argv []word, st state) (out ways, done bool) {
	switch name {
	case "cd":
		return (*walk).cd
	case "test", "[":
		return (*walk).test
	case "xargs":
		return (*walk).xargs
	case "eval":
		return (*walk).evaluate
	}
	if _, ok := wrappers[name]; ok {
		return (*walk).unwrap
	}
	if isShell(name) {
		return (*walk).shell
	}
	return nil
}

// cd changes where the rest of the script stands. Leaving the workspace is asked
// for, since what is done there is done to other files.
func (w *walk) cd(argv []word, st state) (ways, bool) {
	operands := slices.DeleteFunc(slices.Clone(argv[1:]), func(v word) bool {
		return v.literal() && slices.Contains([]string{"-L", "-P", "-e", "--"}, v.text)
	})
	target := word{text: w.c.Home}
	if len(operands) > 0 {
		target = operands[0]
	}
	if len(operands) > 1 || target.text == "" || target.text == "-" || target.glob || strings.HasPrefix(target.text, "-") {
		target.dynamic = true
	}
	paths, ok := w.everywhere(target, st)
	if !ok {
		return ways{state{vars: st.vars}, st}, true
	}
	var dirs []string
	for _, p := range paths {
		facts := w.c.facts(p)
		w.find(w.e.judgeRead(facts, w.c, true))
		dirs = append(dirs, p.clean)
		// From a folder behind a link .. leads to where the link's target lies.
		if real := w.c.slashes(facts.Real); real != "" && real != p.clean {
			dirs = append(dirs, real)
		}
	}
	if len(dirs) > maxDirs {
		dirs = nil
	}
	return ways{st.at(dirs), st}, true
}

// unaryTests ask for facts of files and texts. -v and -R are not among them: they
// run what stands in the name's brackets.
var unaryTests = []string{"-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-n", "-z", "-p", "-S", "-b", "-c", "-O", "-G", "-N", "-t"}

// test takes [ and test.
func (w *walk) test(argv []word, st state) (ways, bool) {
	words := argv[1:]
	if argv[0].text == "[" && len(words) > 0 {
		words = words[:len(words)-1]
	}
	if len(words) > 0 && words[0].text == "!" {
		words = words[1:]
	}
	ok := !slices.ContainsFunc(words, func(v word) bool { return v.split || v.glob })
	switch len(words) {
	case 0, 1:
	case 2:
		ok = ok && slices.Contains(unaryTests, words[0].text)
	case 3:
		switch op := words[1].text; op {
		case "=", "==", "!=", "-nt", "-ot", "-ef":
		case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
			ok = ok && isDigits(words[0].text) && isDigits(words[2].text)
		default:
			ok = false
		}
	default:
		ok = false
	}
	if !ok {
		w.find(once(classRun, "test", "a test of this form can run commands that stand in its words"))
	}
	return same(st), true
}

// testClause takes [[ ]].
func (w *walk) testClause(clause *syntax.TestClause, st state) {
	ok := true
	syntax.Walk(clause.X, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.UnaryTest:
			ok = ok && n.Op != syntax.TsVarSet && n.Op != syntax.TsRefVar
		case *syntax.BinaryTest:
			switch n.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				ok = ok && w.isNumber(n.X, st) && w.isNumber(n.Y, st)
			}
		case *syntax.Word:
			w.word(n, st)
			return false
		}
		return true
	})
	if !ok {
		w.find(once(classRun, "test", "a test of this form can run commands that stand in its words"))
	}
}

func (w *walk) isNumber(x syntax.TestExpr, st state) bool {
	node, ok := x.(*syntax.Word)
	return ok && isDigits(w.word(node, st).text)
}

// arithmetic takes (( )) and indexes.
func (w *walk) arithmetic(x syntax.ArithmExpr, st state) {
	if x == nil {
		return
	}
	r := reader{w: w, st: st}
	r.arithmetic(x)
	if !plainNumbers(x) {
		w.find(once(classRun, "arithmetic", "arithmetic with names can run commands that stand in variables"))
	}
}

// declaration takes export, declare and their like.
func (w *walk) declaration(d *syntax.DeclClause, st state) {
	w.find(once(classRun, "declaration", d.Variant.Value+" changes variables that programs may act on"))
	for _, a := range d.Args {
		w.assigned(a, st)
	}
}

// sedScript is what sed may be told without asking: which lines to print, by
// numbers or by plain patterns.
var sedScript = regexp.MustCompile(`^ *([0-9]+|\$|/[^/\\\n]*/)(,([0-9]+|\$|/[^/\\\n]*/))?p *(; *([0-9]+|\$|/[^/\\\n]*/)(,([0-9]+|\$|/[^/\\\n]*/))?p *)*;? *$`)

// countsInto is the part of a format by which printf sets a variable.
var countsInto = regexp.MustCompile(`%[-+ #0-9.*]*[hljztL]*n`)

// special tells whether the words of a program keep to what a grammar cannot say.
func special(argv []word) bool {
	for i, v := range argv[1:] {
		operand := !strings.HasPrefix(v.text, "-")
		switch argv[0].text {
		case "sed":
			if operand {
				return hasOption(argv, "-n", "-En", "-nE") && v.literal() && sedScript.MatchString(v.text)
			}
		case "printf":
			if countsInto.MatchString(v.text) {
				return false
			}
		case "set":
			if operand && !slices.Contains([]string{"pipefail", "errexit", "nounset", "xtrace"}, v.text) {
				return false
			}
		case "date":
			if operand && !strings.HasPrefix(v.text, "+") && argv[i].text != "-d" && argv[i].text != "--date" && argv[i].text != "-r" {
				return false
			}
		}
	}
	return argv[0].text != "sed"
}
