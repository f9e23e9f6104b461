package policy

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is a word of a command after quotes are removed.
type word struct {
	text    string // for a glob the pattern, for a dynamic word what is known of it
	glob    bool   // the shell puts names of files in its place
	dynamic bool   // what it will be cannot be told
	split   bool   // the shell may make several words of it, or none
	odd     bool   // spelt with braces or $'…', as nobody spells a program
}

func (w word) with(text string) word {
	w.text = text
	return w
}

func (w word) literal() bool { return !w.glob && !w.dynamic }

// mayBeOption tells whether the shell may put an option in the place of a word.
func (w word) mayBeOption() bool {
	return w.dynamic || w.glob && strings.ContainsAny(w.text[:min(1, len(w.text))], "*?[-")
}

func texts(words []word) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = w.text
	}
	return all
}

// maxBraces is how many words one may become by braces.
const maxBraces = 64

// reader turns words of the syntax tree into words. What it meets inside goes to
// the walk: commands in substitutions run, whatever becomes of their output.
type reader struct {
	w   *walk
	st  state
	out word
	b   strings.Builder
}

// words reads one word of the tree, which may be several by braces.
func (w *walk) words(node *syntax.Word, st state) []word {
	if node == nil {
		return nil
	}
	whole := node
	node = &syntax.Word{Parts: slices.Clone(node.Parts)}
	if !syntax.SplitBraces(node) {
		return []word{w.word(node, st)}
	}
	if namesBeforeBraces(whole) {
		return w.unreadable(whole, st)
	}
	var all []word
	for _, n := range expandBraces(node.Parts, maxBraces) {
		read := w.word(n, st)
		if read.text == "" && plainLetters(n) {
			continue // bash drops what becomes nothing
		}
		read.odd = true
		all = append(all, read)
	}
	if all == nil {
		return w.unreadable(whole, st)
	}
	return all
}

// unreadable is a word with braces that cannot be told; what runs in it is walked.
func (w *walk) unreadable(node *syntax.Word, st state) []word {
	read := w.word(node, st)
	read.dynamic, read.split, read.odd = true, true, true
	return []word{read}
}

// namesBeforeBraces tells whether a word with braces holds a $v. Braces come first
// for bash, so that the letters behind them may become part of the name.
func namesBeforeBraces(node *syntax.Word) bool {
	found := false
	syntax.Walk(node, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		found = found || ok && p.Short
		return !found
	})
	return found
}

// plainLetters tells whether nothing in a word is quoted.
func plainLetters(node *syntax.Word) bool {
	return !slices.ContainsFunc(node.Parts, func(p syntax.WordPart) bool {
		_, plain := p.(*syntax.Lit)
		return !plain
	})
}

// word reads a word without braces.
func (w *walk) word(node *syntax.Word, st state) word {
	r := reader{w: w, st: st}
	r.parts(node.Parts, false)
	r.out.text = r.b.String()
	if !strings.ContainsAny(r.out.text, "*?]") {
		r.out.glob = r.out.glob && r.out.dynamic // a bracket that is not closed means itself
	}
	switch tildeOf(node) {
	case tildeHome:
		if w.c.Home == "" {
			r.out.dynamic = true
		} else {
			r.out.text = w.c.slashes(w.c.Home) + strings.TrimPrefix(r.out.text, "~")
		}
	case tildeOther:
		r.out.dynamic = true
	}
	return r.out
}

// tilde says what a ~ in a word means.
type tilde uint8

const (
	noTilde tilde = iota
	tildeHome
	tildeOther // somebody else's home, or a home in the middle of a word
)

func tildeOf(node *syntax.Word) tilde {
	for i, part := range node.Parts {
		lit, ok := part.(*syntax.Lit)
		switch {
		case !ok:
		case strings.Contains(lit.Value, "=~"), strings.Contains(lit.Value, ":~"):
			return tildeOther // bash takes a=~ for an assignment, also in a command's words
		case i == 0 && (strings.HasPrefix(lit.Value, "~/") || lit.Value == "~" && len(node.Parts) == 1):
			return tildeHome
		case i == 0 && strings.HasPrefix(lit.Value, "~"):
			return tildeOther
		}
	}
	return noTilde
}

func (r *reader) parts(parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			r.literal(p.Value, quoted)
		case *syntax.SglQuoted:
			if p.Dollar {
				r.ansi(p.Value)
			} else {
				r.text(p.Value)
			}
		case *syntax.DblQuoted:
			r.out.dynamic = r.out.dynamic || p.Dollar // its text may be translated
			r.parts(p.Parts, true)
		case *syntax.ParamExp:
			r.parameter(p, quoted)
		case *syntax.CmdSubst:
			r.w.substitution(p.Stmts, r.st)
			r.unknown(p, quoted)
		case *syntax.ProcSubst:
			r.w.substitution(p.Stmts, r.st)
			r.text("/dev/fd/0") // a pipe, which is no file of anybody's
		case *syntax.ArithmExp:
			if !plainNumbers(p.X) {
				r.w.find(once(classRun, "arithmetic", "arithmetic with names can run commands that stand in variables"))
			}
			r.arithmetic(p.X)
			r.unknown(p, quoted)
		case *syntax.ExtGlob:
			r.out.glob, r.out.dynamic = true, true
			r.b.WriteString(p.Pattern.Value)
		default:
			r.unknown(part, quoted)
		}
	}
}

// literal takes text between quotes, or without; there a backslash keeps the next
// character from meaning anything.
func (r *reader) literal(s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0):
			i++
			if s[i] != '\n' {
				r.text(s[i : i+1])
			}
		case b == '\\' && i+1 == len(s) && !quoted:
			r.out.dynamic = true // the end of the text, where bash drops it
		case !quoted && strings.IndexByte("*?[", b) >= 0:
			r.out.glob = true
			r.b.WriteByte(b)
		default:
			r.b.WriteByte(b)
		}
	}
}

func (r *reader) text(s string) { r.b.WriteString(s) }

// ansi takes the text of $'…'. Escapes that make it readable are understood, those
// that can spell anything are not.
func (r *reader) ansi(s string) {
	r.out.odd = true
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			r.b.WriteByte(s[i])
			continue
		}
		i++
		plain, ok := map[byte]byte{'t': '\t', 'n': '\n', '\\': '\\', '\'': '\'', '"': '"'}[s[i]]
		if !ok {
			r.out.dynamic = true
		}
		r.b.WriteByte(plain)
	}
}

func (r *reader) unknown(n syntax.Node, quoted bool) {
	r.out.dynamic = true
	r.out.split = r.out.split || !quoted
	r.b.WriteString(r.w.source(n))
}

// numbers are parameters that are always numbers.
var numbers = []string{"?", "#", "$", "!"}

// parameter takes $v and ${v}. What it knows of the value it puts in its place;
// every other form can do more than give a value.
func (r *reader) parameter(p *syntax.ParamExp, quoted bool) {
	plain := p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil && p.Flags == nil && !p.IsSet && len(p.Modifiers) == 0 && p.NestedParam == nil
	if !plain {
		r.w.find(once(classRun, "expansion", "an expansion like "+Visible(r.w.source(p))+" can run commands or change variables"))
		r.inside(p)
		r.unknown(p, quoted)
		return
	}
	if slices.Contains(numbers, p.Param.Value) {
		r.text("0")
		return
	}
	value, known := r.st.value(p.Param.Value, r.w.c)
	if !known || !quoted && (value.glob && r.b.Len() > 0 || strings.ContainsAny(value.text, " \t\n\\") || !value.glob && strings.ContainsAny(value.text, "*?[")) {
		r.unknown(p, quoted)
		return
	}
	if value.glob {
		// A file that was found by the pattern, whichever it is.
		r.out.glob = true
	}
	r.text(value.text)
}

// inside walks what stands within an expansion that is not understood, so that
// nothing denied hides there.
func (r *reader) inside(p *syntax.ParamExp) {
	syntax.Walk(p, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.w.substitution(n.Stmts, r.st)
			return false
		case *syntax.ProcSubst:
			r.w.substitution(n.Stmts, r.st)
			return false
		}
		return true
	})
}

func (r *reader) arithmetic(x syntax.ArithmExpr) {
	if x == nil {
		return
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.CmdSubst); ok {
			r.w.substitution(s.Stmts, r.st)
			return false
		}
		return true
	})
}

var number = regexp.MustCompile(`^[0-9]+$`)

// plainNumbers tells whether an expression holds nothing but numbers: a name in
// arithmetic is computed again, and that can run commands.
func plainNumbers(x syntax.ArithmExpr) bool {
	ok := x != nil
	if ok {
		syntax.Walk(x, func(n syntax.Node) bool {
			switch n := n.(type) {
			case nil, *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm, *syntax.Word:
			case *syntax.Lit:
				ok = ok && number.MatchString(n.Value)
			default:
				ok = false
			}
			return ok
		})
	}
	return ok
}
