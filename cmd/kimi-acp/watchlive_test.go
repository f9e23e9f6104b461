//go:build unix

package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
)

// watcher is a `kimi-acp sessions watch` that runs.
type watcher struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	said  strings.Builder
}

func watchSession(t *testing.T, share string, args ...string) *watcher {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t), append([]string{"sessions", "watch"}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "KIMI_SHARE_DIR="+share)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return &watcher{cmd: cmd, lines: bufio.NewScanner(out)}
}

// until reads on until a line holds a text.
func (w *watcher) until(t *testing.T, text string) {
	t.Helper()
	for w.lines.Scan() {
		w.said.WriteString(w.lines.Text() + "\n")
		if strings.Contains(w.lines.Text(), text) {
			return
		}
	}
	t.Fatalf("%q was not shown, but\n%s", text, w.said.String())
}

// stop ends it as Ctrl-C does.
func (w *watcher) stop(t *testing.T) {
	t.Helper()
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for w.lines.Scan() {
		w.said.WriteString(w.lines.Text() + "\n")
	}
	if err := w.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// While another process runs a turn, whoever watches the session sees each call when it
// begins and each result when it comes, and disturbs nobody: not a byte that is kept is
// another one for it.
func TestSessionIsWatchedLive(t *testing.T) {
	share, dir := t.TempDir(), t.TempDir()
	c := start(t, append(playing(t,
		"text: Earlier.",
		"text: I wait.\n"+runs(t, "echo begun; until [ -e go ]; do sleep 0.02; done; echo and over"),
		"text: It is over.", "text: Later.",
	), "KIMI_SHARE_DIR="+share))
	c.Initialize(acptest.Capabilities{})
	c.OnPermission = acptest.Choose("allow_once")
	s := c.NewSession(dir)
	s.Prompt(acptest.Text("before")).Wait()
	turn := s.Prompt(acptest.Text("wait for it"))
	turn.Until("the command runs", func(u acptest.Update) bool { return u.Status == "in_progress" })

	w := watchSession(t, share, s.ID)
	w.until(t, "wait for it")
	w.until(t, "I wait.")
	w.until(t, "until [ -e go ]") // its result has not come
	if turn.Call().Answered() {
		t.Error("the turn is over already")
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.until(t, "and over")
	w.until(t, "It is over.")
	w.until(t, "the turn ended")
	if got := turn.Wait(); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
	s.Prompt(acptest.Text("more")).Wait()
	w.until(t, "Later.") // also the next turn
	w.stop(t)
	if strings.Contains(w.said.String(), "Earlier.") {
		t.Errorf("it did not begin with the last turn:\n%s", w.said.String())
	}

	c.Request("session/close", map[string]any{"sessionId": s.ID}).Result(nil)
	before := treeSum(t, share)
	w = watchSession(t, share, s.ID[:8], "--all")
	w.until(t, "Earlier.")
	w.until(t, "Later.")
	w.stop(t)
	if after := treeSum(t, share); after != before {
		t.Errorf("watching has changed\n%s\nto\n%s", before, after)
	}
}

// treeSum names what is in a folder of sessions, with its sums. Logs are left out.
func treeSum(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "logs" {
				return fs.SkipDir
			}
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s %x\n", path, sha256.Sum256(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
