package policy

import (
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Pieces of which scripts are made at random. p is a function that tells what it was
// given; nothing else in them does anything.
var (
	wordPieces = []string{"a", "b", "'", `"`, `\`, "{", ",", "}", "~", " ", "=", ":", "#", " #", "$v", "${v}", "$'", "1", "..", "/", "\\\n", "-", "!", "^", "é", `$"`, `\{`, "{a,", "'{'"}
	listPieces = []string{"p a", "p b;", "p", "\n", " ; ", " && ", "#", " #", `\`, "\\\n", "'", `"`, "{a,b}", "<<E\n", "E\n", "<<'E'\n", "<<-E\n", "\tE\n", "$v", "${v}", "(", ")", "{ ", " ; }", "if ", "; then ", "; fi", "for i in 1 2; do ", "; done", " ! ", "case a in a) ", ";; esac", "|cat", "2>&1", ">/dev/null", "<<<a", "$'a'", "[[ a ]]", "[ a ]", "~", "=", "v=1", "time ", "$(p c)", "`p d`", `"$(p e)"`, "$((1+1))", "x"}
)

// What bash runs has been seen: each call of p with the words that bash gives it.
func TestReadsLikeBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to compare with")
	}
	random := rand.New(rand.NewPCG(1, 2))
	e, c, dir := engine(t, Options{}), project(), t.TempDir()
	compared := 0
	for range 6000 {
		script, pieces := "v=x; p ", wordPieces
		if random.IntN(2) == 0 {
			script, pieces = "", listPieces
		}
		for range random.IntN(10) + 2 {
			script += pieces[random.IntN(len(pieces))]
		}
		ours, known := callsOfP(e, &c, script)
		if !known || compared >= 300 {
			continue
		}
		compared++
		for _, call := range bashCallsOfP(bash, dir, script) {
			if !ours[call] {
				t.Errorf("%q: bash runs p with %q, which was not seen among %v", script, strings.Split(call, "\x01"), ours)
			}
		}
	}
	if compared < 300 {
		t.Errorf("only %d scripts were compared", compared)
	}
}

// callsOfP gives the calls of p that were seen. Not known: something in the script is
// known only when it runs, or is not understood, and so is asked for.
func callsOfP(e *Engine, c *Context, script string) (calls map[string]bool, known bool) {
	w := &walk{e: e, c: c, src: script, rounds: 1}
	w.script(script, state{dirs: []string{c.dir()}})
	calls = map[string]bool{}
	for _, f := range w.findings {
		if f.rule == "not understood" {
			return nil, false
		}
	}
	for _, argv := range w.calls {
		for _, v := range argv {
			if !v.literal() {
				return nil, false
			}
		}
		if argv[0].text == "p" {
			calls[strings.Join(texts(argv[1:]), "\x01")] = true
		}
	}
	return calls, len(calls) > 0
}

func bashCallsOfP(bash, dir, script string) []string {
	const p = "p() { local IFS=$'\\x01'; printf '%s\\0' \"$*\" >&9; }\nexec 9>&1 1>/dev/null\n"
	cmd := exec.Command(bash, "--noprofile", "--norc", "-c", p+script)
	cmd.Dir, cmd.Env = dir, []string{"HOME=/home/you", "PATH=" + filepath.Dir(bash) + ":/bin:/usr/bin"}
	out, _ := cmd.Output() // how the script ends does not matter
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
