package obs

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"time"
)

// bugKey names the attribute that marks a record as the report of a bug. Its value is
// the place.
const bugKey = "bug"

// BugError is a state that the program's own code should have made impossible.
type BugError struct {
	Place string // file and line that found it, as "dir/file.go:12"
	Err   error  // what was found
}

// Error gives what was found, for a person.
func (b *BugError) Error() string { return "internal error: " + b.Err.Error() }

// Unwrap gives what was found.
func (b *BugError) Unwrap() error { return b.Err }

// Bug logs a bug with the place that called Bug, and gives it as a *BugError for the
// caller to return. The format is fmt.Errorf's. In tests, obstest.Logger makes it fail
// the test.
func Bug(logger *slog.Logger, format string, args ...any) error {
	b := &BugError{Place: "unknown place", Err: fmt.Errorf(format, args...)}
	var pcs [1]uintptr
	if runtime.Callers(2, pcs[:]) == 1 {
		frame, _ := runtime.CallersFrames(pcs[:]).Next()
		b.Place = fmt.Sprintf("%s/%s:%d", filepath.Base(filepath.Dir(frame.File)), filepath.Base(frame.File), frame.Line)
	}
	ctx := context.Background() // a bug is reported also when the work was cancelled
	if h := logger.Handler(); h.Enabled(ctx, slog.LevelError) {
		r := slog.NewRecord(time.Now(), slog.LevelError, b.Error(), pcs[0])
		r.AddAttrs(slog.String(bugKey, b.Place))
		_ = h.Handle(ctx, r) // there is nobody left to tell
	}
	return b
}

// BugPlace gives the place of the bug that a record reports, if it reports one. It is
// for handlers that treat bugs apart.
func BugPlace(r slog.Record) (place string, ok bool) {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == bugKey {
			place, ok = a.Value.String(), true
		}
		return !ok
	})
	return place, ok
}
