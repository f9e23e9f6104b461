// Package hook runs the user's hooks: lines for the shell in the settings, which are told
// of what happens in a session and may be against it.
//
// It must not know what a soul does with an answer, which events there are, or which
// settings hooks come from. A hook is a program of the user's and not of the workspace:
// where the workspace is not trusted, it runs in the user's own folder, so that a hook
// that names a file of the workspace finds none.
package hook

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kimi-acp/internal/proc"
	"kimi-acp/soul/wire"
)

// Hook is a line for the shell that is run on an event.
type Hook struct {
	Event   string
	Line    string
	Matcher string        // a regular expression that the target must hold; "": any. One that is none finds nothing
	Timeout time.Duration // above 0
	// FailClosed says that the hook blocks when it cannot say that it does not: when it
	// does not start, ends with another code than 0, or takes too long.
	FailClosed bool
}

// Runner runs lines; see proc.Runner. It may be called by several goroutines at once.
type Runner interface {
	Script(ctx context.Context, s proc.Script) (proc.Written, error)
	Leave(s proc.Script) error
}

// Options are what the hooks of a session are made from. All but Send and Logger are
// required.
type Options struct {
	Hooks     func() []Hook // those of the settings now
	Runner    Runner
	SessionID string
	Roots     []string // of the session; the first is the folder worked in
	Home      string   // the user's own folder, absolute
	Environ   []string // of the user, without our secrets
	Trusted   func() bool
	Send      func(wire.Event) // told of what hooks decide; nil: nobody is
	Logger    *slog.Logger
}

const (
	// maxAnswer bounds what is read of a hook's answer, maxWhy what is kept of its reason,
	// in bytes.
	maxAnswer = 64 << 10
	maxWhy    = 2000
)

// Hooks are those of one session. Its methods may be called at once.
type Hooks struct {
	*Rounds
	o    Options
	said said
}

// New makes the hooks of a session. The caller closes them.
func New(o Options) *Hooks {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Hooks{o: o}
	h.Rounds = NewRounds(RoundsOptions{SessionID: o.SessionID, Dir: o.Roots[0], Find: h.Calls, Send: o.Send, Logger: o.Logger})
	return h
}

// Find gives the hooks on an event that want to know of a target. Of two with the same
// line the first counts.
func (h *Hooks) Find(event, target string) []Hook {
	var found []Hook
	for _, k := range h.o.Hooks() {
		double := func(o Hook) bool { return o.Line == k.Line }
		if k.Event == event && !slices.ContainsFunc(found, double) && Matches(k.Matcher, target) {
			found = append(found, k)
		}
	}
	return found
}

// Leave starts the hooks on an event that is the session's last. Nobody waits for them,
// and they may outlive this process for some seconds.
func (h *Hooks) Leave(event, target string, data map[string]any) {
	found := h.Find(event, target)
	if len(found) == 0 {
		return
	}
	payload := h.payload(event, data)
	for _, k := range found {
		if err := h.o.Runner.Leave(h.script(k, payload)); err != nil {
			h.o.Logger.Warn("a hook was not run", "session", h.o.SessionID, "event", event, "error", err)
		}
	}
}

// script is how a hook is run.
func (h *Hooks) script(k Hook, payload []byte) proc.Script {
	s := proc.Script{Line: k.Line, Dir: h.o.Home, Environ: h.environ(), Stdin: payload, MaxOutput: maxAnswer}
	if h.o.Trusted() {
		s.Dir = h.o.Roots[0]
	}
	return s
}

// environ is the user's environment in which no program is found by chance: entries of
// PATH that are not absolute are left out, and so are those of a workspace that is not
// trusted.
func (h *Hooks) environ() []string {
	trusted := h.o.Trusted()
	out := slices.Clone(h.o.Environ)
	for i, entry := range out {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.EqualFold(name, "PATH") {
			continue
		}
		var dirs []string
		for _, dir := range filepath.SplitList(value) {
			if filepath.IsAbs(dir) && (trusted || !h.within(dir)) {
				dirs = append(dirs, dir)
			}
		}
		out[i] = name + "=" + strings.Join(dirs, string(os.PathListSeparator))
	}
	return out
}

// within tells whether a path lies in the workspace.
func (h *Hooks) within(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	return slices.ContainsFunc(h.o.Roots, func(root string) bool {
		return slices.ContainsFunc([]string{path, real}, func(p string) bool {
			rel, err := filepath.Rel(root, p)
			return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
		})
	})
}
