//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"kimi-acp/internal/acptest"
	"kimi-acp/soul/session"
)

// keptAwake is how many idle sessions the program keeps awake.
const keptAwake = 16

// No more sessions stay awake than may, whether something was said in them or not: those
// that were idle longest are let go of, and another program could have them. The next
// prompt brings one back.
func TestIdleSessionsAreParked(t *testing.T) {
	for _, c := range []struct {
		name string
		said bool
	}{{"spoken in", true}, {"only opened", false}} {
		t.Run(c.name, func(t *testing.T) {
			share, dir, scripts := t.TempDir(), t.TempDir(), []string{}
			for range keptAwake + 3 {
				scripts = append(scripts, "text: yes")
			}
			editor := start(t, append(playing(t, scripts...), "KIMI_SHARE_DIR="+share))
			editor.Initialize(acptest.Capabilities{})
			store := session.NewStore(share)
			inUse := func(id string) bool {
				t.Helper()
				s, err := store.Open(dir, id)
				if errors.Is(err, session.ErrInUse) {
					return true
				}
				if err == nil {
					err = s.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
				return false
			}
			say := func(s *acptest.Session) {
				t.Helper()
				turn := s.Prompt(acptest.Text("go"))
				if got := turn.Wait(); got != "end_turn" || turn.Text() != "yes" {
					t.Fatalf("ended with %s and said %q", got, turn.Text())
				}
			}
			var all []*acptest.Session
			for range keptAwake + 2 {
				s := editor.NewSession(dir)
				if all = append(all, s); c.said {
					say(s)
				}
			}
			for n, s := range all {
				if n < 2 {
					waitForLock(t, filepath.Join(share, "acp", "sessions", s.ID, "lock"))
				}
				if got := inUse(s.ID); got != (n >= 2) {
					t.Errorf("session %d of %d is in use: %v", n+1, len(all), got)
				}
			}
			say(all[0]) // which is one more again
			waitForLock(t, filepath.Join(share, "acp", "sessions", all[2].ID, "lock"))
			if !inUse(all[0].ID) || inUse(all[2].ID) || !inUse(all[3].ID) {
				t.Error("the wrong one was parked when a parked one was spoken in")
			}
			if got := editor.Exit(); got != 0 {
				t.Errorf("exit status %d", got)
			}
		})
	}
}

// waitForLock waits until a session is let go of.
func waitForLock(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
