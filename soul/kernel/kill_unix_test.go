//go:build unix

package kernel_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kimi-acp/soul"
	"kimi-acp/soul/kernel"
	"kimi-acp/soul/llm"
)

var kills = flag.Int("kills", 20, "how often the kernel is killed in TestKilledAtAnyMoment")

// A kernel that is killed at any moment costs at most its turn: the prompt is answered
// once, what began ends, no file is half-written, nothing is left behind, and the next
// prompt works.
func TestKilledAtAnyMoment(t *testing.T) {
	for _, auto := range []bool{false, true} {
		t.Run(fmt.Sprintf("auto %v", auto), func(t *testing.T) {
			failed, fell, stopped := 0, 0, 0
			for range *kills {
				dir := t.TempDir()
				die, pids := filepath.Join(dir, "die"), filepath.Join(dir, "pids")
				after := time.Duration(rand.Int64N(int64(40 * time.Millisecond)))
				if err := os.WriteFile(die, fmt.Append(nil, after.Microseconds()), 0o600); err != nil {
					t.Fatal(err)
				}
				cfg, w := fakeKernel(t, "1.10", dieEnv+"="+die, pidsEnv+"="+pids)
				files := newEdits(t)
				cfg.Tools = append(cfg.Tools, llm.ToolSpec{Name: "Edit", Description: "Edits.", Parameters: []byte(`{"type":"object"}`)})
				cfg.Wire.HandleTools(files)
				k := kernel.New(cfg)
				var s soul.Soul = k
				o := &other{wire: cfg.Wire}
				if auto {
					s = kernel.NewFallback(k, o)
				}
				_, err := s.Run(t.Context(), prompt("say edit edit edit edit much edit edit tool"))
				said := w.take()
				files.expectWhole(t)
				stopped += files.stopped
				if strings.Count(said, "TurnBegin") != strings.Count(said, "TurnEnd") {
					t.Errorf("killed after %v: %s", after, said)
				}
				if err != nil {
					failed++
				}
				if auto && errors.Is(err, kernel.ErrUnused) {
					t.Errorf("killed after %v, and not fallen back: %v", after, err)
				}
				fell += o.runs
				if _, err := s.Run(t.Context(), prompt("say edit")); err != nil {
					t.Errorf("killed after %v, the next prompt: %v", after, err)
				}
				files.expectWhole(t)
				if err := k.Close(); err != nil {
					t.Error(err)
				}
				expectGone(t, pids)
			}
			t.Logf("%d kills: %d prompts failed, %d fell back, %d edits were stopped", *kills, failed, fell, stopped)
		})
	}
}

// expectGone holds that no process of those in the file is left.
func expectGone(t *testing.T, pids string) {
	t.Helper()
	raw, err := os.ReadFile(pids)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, field := range strings.Fields(string(raw)) {
		var pid int
		if _, err := fmt.Sscan(field, &pid); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(-pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("the group %d is still there: %v", pid, err)
		}
	}
}
