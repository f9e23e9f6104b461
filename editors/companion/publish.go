package companion

import (
	"context"
	"log/slog"
	"time"

	"kimi-acp/editors/state"
)

// Between two writes of the state lies at least calm, and calmFactor times what the
// last one took, so that typing in a big unsaved buffer does not keep a core busy; but
// not more than longestCalm, since a write may be slow for other reasons.
const (
	calm        = 15 * time.Millisecond
	calmFactor  = 10
	longestCalm = 100 * time.Millisecond
)

// publish writes the state whenever the desk has changed, until ctx ends. It is told
// what was last first: a change after quiet is written at once.
func (d *desk) publish(ctx context.Context, w *state.Writer, log *slog.Logger) {
	failed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.changed:
		}
		now := d.snapshot()
		began := time.Now()
		err := w.Write(now)
		if err != nil && !failed {
			log.Warn("the editor state could not be written", "error", err)
		}
		failed = err != nil
		rest := time.NewTimer(min(max(calm, calmFactor*time.Since(began)), longestCalm))
		select {
		case <-ctx.Done():
			rest.Stop()
			return
		case <-rest.C:
		}
	}
}
