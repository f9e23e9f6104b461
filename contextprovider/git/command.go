package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"

	"kimi-acp/internal/proc"
)

// runner runs git in one work tree.
type runner struct {
	dir     string   // the top folder of the work tree
	environ []string // hardened
}

// maxSettings bounds the list of a repository's settings, in bytes. One with more is
// not worked with, since what is beyond could not be overridden.
const maxSettings = 1 << 20

// newRunner finds the settings of the repository at dir and overrides those that run
// something.
func newRunner(ctx context.Context, dir string) (runner, error) {
	r := runner{dir: dir, environ: environ(os.Environ(), dir, nil)}
	w, err := r.output(ctx, maxSettings, "config", "--list", "--name-only", "--includes", "-z")
	if err != nil {
		return runner{}, err
	}
	if w.Truncated {
		return runner{}, errors.New("the repository has too many settings")
	}
	r.environ = environ(os.Environ(), dir, fields(w.Stdout))
	return r, nil
}

// output runs a command of git's. A failure of the command is an error with git's
// own words.
func (r runner) output(ctx context.Context, limit int, args ...string) (proc.Written, error) {
	w, err := r.try(ctx, limit, args...)
	if err != nil {
		return w, err
	}
	if w.ExitCode != 0 {
		return w, errors.New(complaint(w.Stderr))
	}
	return w, nil
}

// try is output for commands whose failure is an answer.
func (r runner) try(ctx context.Context, limit int, args ...string) (proc.Written, error) {
	w, err := proc.Output(ctx, proc.Program{
		Args: append([]string{"git", "--no-pager", "--no-optional-locks"}, args...), Dir: r.dir, Environ: r.environ, MaxOutput: limit,
	})
	if errors.Is(err, exec.ErrNotFound) {
		return w, errors.New("there is no git on this machine")
	}
	return w, err
}

// complaint is the line of git's that says what is wrong.
func complaint(stderr string) string {
	for line := range strings.SplitSeq(stderr, "\n") {
		if text, ok := strings.CutPrefix(line, "fatal: "); ok {
			return text
		}
		if text, ok := strings.CutPrefix(line, "error: "); ok {
			return text
		}
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n"); first != "" {
		return first
	}
	return "git failed"
}

// fields takes output with -z apart.
func fields(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(string(bytes.TrimSuffix(out, []byte{0})), "\x00")
}
