package tool

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// foundLines gives the numbers of the lines with a match, from 1.
func foundLines(t testing.TB, p *searchPattern, text string) []int {
	t.Helper()
	var out []int
	p.lines([]byte(text), func(l line) bool {
		if strings.Contains(text[l.start:l.end], "\n") || l.start > 0 && text[l.start-1] != '\n' || l.end < len(text) && text[l.end] != '\n' {
			t.Errorf("%+v is no line of %q", l, text)
		}
		out = append(out, strings.Count(text[:l.start], "\n")+1)
		return true
	})
	return out
}

// plainLines is what every other way has to agree with: the pattern on each line by
// itself.
func plainLines(re *regexp.Regexp, text string) []int {
	var out []int
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i, l := range lines {
		if re.MatchString(l) {
			out = append(out, i+1)
		}
	}
	return out
}

func TestSearchLines(t *testing.T) {
	const text = "alpha beta\nBeta_9 gamma\n\nKelvin \u212a task\n  indented\nta\u017fk é\nend of\ttabs\nfoo(bar)\nfoobar\nlast"
	for _, pattern := range []string{
		"beta", "(?i)beta", "(?i)task", "(?i)É", "é", "foo\\(", "^$", "^", "$", "^foo", "bar$", "\\bfoo\\b", "\\Boo", "a|e", "beta|gamma|foo\\(", "(beta|foo).*", "[^a]", "\\s",
		"x*", "\\d", "\\w+_\\d", "[[:upper:]]\\w+ gamma", "f(oo|ar)?bar", "\\Aend", "last\\z", "alpha.*beta", ".", "(?:foo){1,2}", "k\\b", "(?i)k", "none", "[é]", "a.b", "\\x{212a}", "()", "(?i)(alpha|é)", "al(p)ha",
	} {
		p, err := compileSearch(pattern, false, false)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		if diff := cmp.Diff(plainLines(regexp.MustCompile(pattern), text), foundLines(t, p, text)); diff != "" {
			t.Errorf("%s: %s", pattern, diff)
		}
	}
}

func TestSearchIgnoresCase(t *testing.T) {
	p, err := compileSearch("TASK", true, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 3, 4}, foundLines(t, p, "a Task\nnone\nta\u017fk\ntas\u212a\n")); diff != "" {
		t.Error(diff)
	}
	if p.need.exact {
		t.Error("a literal in any case counts as exact")
	}
}

func TestSearchSpansLines(t *testing.T) {
	const text = "one {\n  two\n}\none { }\nthree\n{\n"
	for _, test := range []struct {
		pattern string
		want    []int
		count   int
	}{
		{`one \{.*?\}`, []int{1, 2, 3, 4}, 2},
		{`two\n\}`, []int{2, 3}, 1},
		{`^three$`, []int{5}, 1},
		{`\n\{`, []int{5, 6}, 1},
		{`(?-s)one.*two`, nil, 0},
		{`o|e`, []int{1, 2, 4, 5}, 7},
	} {
		p, err := compileSearch(test.pattern, false, true)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, foundLines(t, p, text)); diff != "" {
			t.Errorf("%s: %s", test.pattern, diff)
		}
		if n := p.count([]byte(text)); n != test.count {
			t.Errorf("%s: %d matches, want %d", test.pattern, n, test.count)
		}
	}
}

func TestBadPatterns(t *testing.T) {
	for _, pattern := range []string{"(", "a{2,1}", "(?=x)", `\1`, "a\nb", `[\n]`, "(?i)a\\nb"} {
		if _, err := compileSearch(pattern, false, false); err == nil {
			t.Errorf("%q was accepted", pattern)
		}
	}
}

func TestRequiredLiterals(t *testing.T) {
	for _, test := range []struct {
		pattern string
		want    string
		exact   bool
	}{
		{"needle", "needle", true},
		{"(needle)", "needle", true},
		{"(?i)Needle", "needle fold", false},
		{`func F1(69|68)\(`, "func F1", false},
		{`Context\) error`, "Context) error", true},
		{`\w+Handler\b`, "Handler", false},
		{"foo|barbaz", "foo barbaz", false},
		{"foo|b*", "", false},
		{"(abc)+d?", "abc", false},
		{"(abc)*d", "d", false},
		{"a{0,3}long", "long", false},
		{"[ab]c", "c", false},
		{`\d+`, "", false},
		{"x\uFFFDy", "", false},
		{"(?i)éab", "ab fold", false},
	} {
		p, err := compileSearch(test.pattern, false, false)
		if err != nil {
			t.Fatal(err)
		}
		got := string(bytes.Join(p.need.texts, []byte(" ")))
		if p.need.fold {
			got += " fold"
		}
		if got != test.want || p.need.exact != test.exact {
			t.Errorf("%s needs %q, exact %v; want %q, %v", test.pattern, got, p.need.exact, test.want, test.exact)
		}
	}
}

// FuzzSearch: whatever finds lines faster finds the same lines as the pattern on each
// line by itself.
func FuzzSearch(f *testing.F) {
	for _, seed := range [][2]string{
		{`\bfoo\b|^bar`, "foo\nbar foo\n"}, {`(?i)k+s`, "K\u017f\nks"}, {`a*\B`, "aa b\n\n"}, {`x|yz|[0-9]{2}$`, "x\n12\n3y"}, {`^\s*$`, "a\n \n\r\n"}, {`(é|e)f?`, "éf\xff\ne"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := compileSearch(pattern, false, false)
		if err != nil || len(text) > 2000 {
			return
		}
		// What compileSearch makes of the pattern, run in the plain way.
		if diff := cmp.Diff(plainLines(p.re, text), foundLines(t, p, text)); diff != "" {
			t.Errorf("%q in %q: %s", pattern, text, diff)
		}
	})
}

// TestManyStates: a pattern whose automaton explodes is served all the same.
func TestManyStates(t *testing.T) {
	p, err := compileSearch(`[ab]*a[ab]{14}c`, false, false)
	if err != nil {
		t.Fatal(err)
	}
	p.need = literals{} // the automaton has to do it
	random := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for range 300 {
		for range 40 {
			b.WriteByte("ab"[random.IntN(2)])
		}
		b.WriteString([]string{"\n", "c\n"}[random.IntN(2)])
	}
	text := b.String()
	m := newLineMatcher(p.matchers.Get().(*lineMatcher).prog)
	unsure := 0
	for l := range strings.Lines(text) {
		if m.matches([]byte(strings.TrimSuffix(l, "\n"))) == lineUnsure {
			unsure++
		}
	}
	if unsure == 0 || len(m.states) > maxLineStates {
		t.Errorf("%d states, given up %d times", len(m.states), unsure)
	}
	if diff := cmp.Diff(plainLines(p.re, text), foundLines(t, p, text)); diff != "" {
		t.Error(diff)
	}
}
