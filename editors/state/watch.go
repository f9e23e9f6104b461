package state

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long changes are gathered before they are told: a companion writes
// at each move of the cursor.
const settle = 30 * time.Millisecond

// Watch calls changed once it watches, so that what came before is not missed, and
// after states or prompts of any workspace have changed, from the goroutine that
// called it, until ctx ends (nil). It makes the folder when it is
// missing. An error means that the folder cannot be watched; States and Take work all
// the same.
func (r *Reader) Watch(ctx context.Context, changed func()) (err error) {
	root, err := openFolder(r.dir, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the editor states: %w", err)
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := w.Add(r.dir); err != nil {
		return fmt.Errorf("watch the editor states: %w", err)
	}
	changed()
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-w.Events:
			if end := filepath.Ext(e.Name); end != stateEnd && end != promptEnd {
				continue
			}
		case <-w.Errors: //nolint:errcheck // which of them is of no interest: events did not reach us, so anything may have changed
		case <-settled:
			settled = nil
			changed()
			continue
		}
		if settled == nil {
			settled = time.After(settle)
		}
	}
}
