package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// Follow gives the lines of wire.jsonl from an offset on, 0 or that of a line, and
// then those that are added, until ctx ends; that is no error. A file that is
// replaced or shortened is read from its beginning. When the session is deleted, the
// last error is an ErrNotFound.
func (r *Reader) Follow(ctx context.Context, from int64) iter.Seq2[Recorded, error] {
	return func(yield func(Recorded, error) bool) {
		w, err := fsnotify.NewWatcher()
		if err == nil {
			// The folder above tells when this one is removed: while it is open it
			// does not tell that itself.
			err = errors.Join(w.Add(r.path), w.Add(filepath.Dir(r.path)))
		}
		if err != nil {
			if w != nil {
				err = errors.Join(err, w.Close())
			}
			yield(Recorded{}, fmt.Errorf("watching %s: %w", r.path, err))
			return
		}
		stopped := false
		take := func(m Recorded) bool {
			stopped = ctx.Err() != nil || !yield(m, nil)
			return !stopped
		}
		err = r.follow(ctx, w, &follower{dir: r.dir, at: from}, take)
		if err = errors.Join(err, w.Close()); err != nil && !stopped {
			yield(Recorded{}, err)
		}
	}
}

func (r *Reader) follow(ctx context.Context, w *fsnotify.Watcher, f *follower, take func(Recorded) bool) error {
	for {
		if more, err := f.drain(take); err != nil || !more {
			return err
		}
		for again := false; !again; {
			select {
			case <-ctx.Done():
				return nil
			case e := <-w.Events:
				if e.Name == r.path && e.Has(fsnotify.Remove|fsnotify.Rename) {
					return ErrNotFound
				}
				again = filepath.Base(e.Name) == wireName && filepath.Dir(e.Name) == r.path
			case err := <-w.Errors:
				if !errors.Is(err, fsnotify.ErrEventOverflow) {
					return fmt.Errorf("watching the recording: %w", err)
				}
				again = true // whatever was lost, there is something new
			}
		}
	}
}
