// Package obstest is the log for tests: a reported bug fails the test.
//
// It must not be imported by anything but tests.
package obstest

import (
	"context"
	"log/slog"
	"testing"

	"kimi-acp/internal/obs"
)

// Logger gives a logger that writes to the test's output, details too, and fails the
// test when a bug is reported with obs.Bug. A test may use it from several goroutines,
// until it ends.
func Logger(t testing.TB) *slog.Logger {
	text := slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})
	return slog.New(strict{Handler: text, t: t})
}

// strict is a handler that fails the test at a bug.
type strict struct {
	slog.Handler
	t testing.TB
}

// Handle hands the record on, and fails the test if it reports a bug.
func (s strict) Handle(ctx context.Context, r slog.Record) error {
	if place, ok := obs.BugPlace(r); ok {
		s.t.Errorf("bug at %s: %s", place, r.Message)
	}
	return s.Handler.Handle(ctx, r)
}

// WithAttrs keeps the handler strict.
func (s strict) WithAttrs(attrs []slog.Attr) slog.Handler {
	return strict{s.Handler.WithAttrs(attrs), s.t}
}

// WithGroup keeps the handler strict.
func (s strict) WithGroup(name string) slog.Handler {
	return strict{s.Handler.WithGroup(name), s.t}
}
