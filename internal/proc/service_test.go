//go:build unix

package proc

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

func TestService(t *testing.T) {
	r := NewRunner(Options{})
	start := func(script string) *Service {
		t.Helper()
		s, err := r.Start(Program{Args: []string{"/bin/sh", "-c", script}, Dir: t.TempDir(), Environ: []string{"PATH=" + os.Getenv("PATH"), "X=x"}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}

	t.Run("is spoken to", func(t *testing.T) {
		s := start(`read line; echo "$line $X"; echo complaint >&2; read line; exit 3`)
		if _, err := io.WriteString(s.In, "hello\n"); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len("hello x\n"))
		if _, err := io.ReadFull(s.Out, got); err != nil || string(got) != "hello x\n" {
			t.Errorf("%q %v", got, err)
		}
		s.End(time.Minute) // it ends because its input does
		if s.Complaint() != "complaint\n" {
			t.Errorf("complaint %q", s.Complaint())
		}
		if code, _ := s.process.status(); code != 3 {
			t.Errorf("code %d", code)
		}
	})

	t.Run("is ended with its children", func(t *testing.T) {
		s := start(`trap "" TERM; (trap "" TERM; exec 0</dev/null; while :; do sleep 1; done) & echo up; while :; do sleep 1; done`)
		if _, err := io.ReadFull(s.Out, make([]byte, 3)); err != nil {
			t.Fatal(err)
		}
		s.End(0)
		<-s.Exited()
		if groupExists(s.process.group) {
			t.Error("its group is still there")
		}
		s.End(0) // once more does nothing
	})

	t.Run("keeps the end of what it complains", func(t *testing.T) {
		s := start(`i=0; while [ $i -lt 2000 ]; do echo "line $i" >&2; i=$((i+1)); done`)
		<-s.Exited()
		s.End(0)
		if got := s.Complaint(); len(got) > maxComplaint || !strings.HasSuffix(got, "line 1999\n") {
			t.Errorf("%d bytes, %q", len(got), got[max(0, len(got)-20):])
		}
	})

	t.Run("cannot be started", func(t *testing.T) {
		if _, err := r.Start(Program{Args: []string{"/no/such/program"}}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v", err)
		}
		closed := NewRunner(Options{})
		closed.Close()
		if _, err := closed.Start(Program{Args: []string{"/bin/sh"}}); !errors.Is(err, ErrClosed) {
			t.Errorf("%v", err)
		}
	})
}
