package obstest

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"kimi-acp/internal/obs"
)

// recorder stands in for a test that may fail.
type recorder struct {
	testing.TB
	out    bytes.Buffer
	errors []string
}

func (r *recorder) Output() io.Writer { return &r.out }

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestLoggerFailsAtBugsOnly(t *testing.T) {
	r := &recorder{TB: t}
	l := Logger(r).With("a", 1).WithGroup("g")
	l.Error("not a bug", "bug-like", true)
	l.Debug("a detail")
	if len(r.errors) != 0 {
		t.Errorf("failed without a bug: %q", r.errors)
	}
	if err := obs.Bug(l, "state %d", 7); err == nil {
		t.Error("no error for the caller")
	}
	if len(r.errors) != 1 || !strings.HasPrefix(r.errors[0], "bug at obstest/logger_test.go:") || !strings.HasSuffix(r.errors[0], ": internal error: state 7") {
		t.Errorf("got %q", r.errors)
	}
	for _, want := range []string{"not a bug", "a detail", "state 7"} {
		if !strings.Contains(r.out.String(), want) {
			t.Errorf("%q is not in the output:\n%s", want, r.out.String())
		}
	}
}
