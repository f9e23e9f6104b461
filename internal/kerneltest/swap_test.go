//go:build kernels

package kerneltest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
	"kimi-acp/soul/kernel"
)

// A session goes from the built-in kernel to kimi-cli, to the Rust kernel and back, and
// each knows what was said with the others.
func TestSwapBetweenRealKernels(t *testing.T) {
	s := newStage(t)
	agent := installAgent(t)
	t.Setenv("PATH", strings.Join([]string{os.Getenv("PATH"), filepath.Dir(s.kimi), filepath.Dir(agent)}, string(os.PathListSeparator)))
	s.script(t, saying("From here."), saying("Back.")) // of the program itself, which reads them once
	c := acptest.Start(t, acptest.Process{Path: program.Path(t), Dir: s.dir, Env: []string{
		"KIMI_SHARE_DIR=" + s.share, "KIMI_SCRIPTED_ECHO_SCRIPTS=" + filepath.Join(filepath.Dir(s.share), "scripts.json"),
	}})
	c.Initialize(acptest.Capabilities{ReadTextFile: true, WriteTextFile: true})
	session := c.NewSession(s.dir)
	said := func(id string) string {
		t.Helper()
		r, err := s.store.Read(s.dir, id)
		check(t, err)
		defer r.Close()
		h, err := r.History()
		check(t, err)
		return said(h.Messages)
	}
	var want []string
	for _, turn := range []struct{ kernel, words, answer string }{
		{"builtin", "One", "From here."},
		{"python", "Two", "From Python."},
		{"rust", "Three", "From Rust."},
		{"python", "Four", "From Python again."},
		{"builtin", "Five", "Back."},
	} {
		if turn.kernel != "builtin" {
			s.script(t, saying(turn.answer))
		}
		c.Request("session/set_config_option", map[string]any{"sessionId": session.ID, "configId": "kernel", "value": turn.kernel}).Result(nil)
		if turn.kernel != "builtin" { // it has read what it was given
			if got := said(kernel.SessionID(session.ID)); got != strings.Join(want, "|") {
				t.Errorf("%s was given %q, want %q", turn.kernel, got, want)
			}
		}
		p := session.Prompt(acptest.Text(turn.words))
		if got := p.Wait(); got != "end_turn" || !strings.Contains(p.Text(), turn.answer) {
			t.Fatalf("%s: ended with %s, and said %q", turn.kernel, got, p.Text())
		}
		want = append(want, turn.words, turn.answer)
		if got := said(session.ID); got != strings.Join(want, "|") {
			t.Errorf("the session holds %q, want %q", got, want)
		}
	}
	c.Request("session/close", map[string]any{"sessionId": session.ID}).Result(nil)
	c.Close()
}
