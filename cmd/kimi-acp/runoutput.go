package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"kimi-acp/cmd/kimi-acp/run"
	"kimi-acp/internal/screen"
	"kimi-acp/soul/wire"
)

// outliveReaders makes a write whose reader has gone fail, where it would end the
// program. The signal is caught and not ignored: commands inherit what is ignored.
func outliveReaders() (undo func()) {
	c := make(chan os.Signal, 1) // nobody listens
	signal.Notify(c, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}

var errReaderGone = errors.New("the reader of the output has gone")

// runOutput is where a turn is shown.
type runOutput struct {
	screen *screen.Screen
	views  []run.View
	shown  func(wire.ApprovalRequest) // shows what is asked for; nil: a view does
	end    func(run.Result) int
}

func newRunOutput(f runFlags, dir string, cancel context.CancelCauseFunc) runOutput {
	gone := func(err error) { cancel(fmt.Errorf("%w: %w", errReaderGone, err)) }
	s := screen.ForFile(os.Stderr, 0, os.Getenv)
	out := runOutput{screen: s, shown: func(r wire.ApprovalRequest) { run.ShowRequest(s, r, dir) }}
	told := func(r run.Result) int {
		s.End()
		if r.Err != nil {
			fmt.Fprintln(os.Stderr, strings.TrimSpace(fmt.Sprintf("kimi-acp run: %v. %s", r.Err, run.Advice(r.Err))))
		}
		return int(run.Exit(r))
	}
	if f.json {
		lines := run.NewLines(os.Stdout, gone)
		out.views = []run.View{{Stream: wire.Merged, View: lines}}
		out.end = func(r run.Result) int {
			code := told(r)
			if err := lines.End(r, run.ExitCode(code), nil); err != nil {
				return int(run.ExitFailed)
			}
			return code
		}
		return out
	}
	answer := run.NewAnswer(os.Stdout, gone)
	if f.quiet {
		out.views = []run.View{{Stream: wire.Raw, View: answer}}
		out.end = told
		return out
	}
	show := run.NewShow(answer, s, dir)
	out.views, out.shown = []run.View{{Stream: wire.Raw, View: show}}, nil
	out.end = func(r run.Result) int {
		show.End(r)
		return told(r)
	}
	return out
}
