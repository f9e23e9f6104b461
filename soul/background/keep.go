package background

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"kimi-acp/internal/keptfile"
)

// A task has a folder of its own below that of the session: task.json says what it is
// and how far, and is touched while it runs; beside it lies the output.

const (
	taskFile    = "task.json"
	maxTaskFile = 1 << 20         // bytes
	beatEvery   = 5 * time.Second // how often a task that runs is marked as living
)

// lostReason is why a task is over whose process is gone.
const lostReason = "the agent's process ended while it ran"

// Keep has the tasks kept in a folder, which nobody else writes to, and finds those that
// are there: what had not ended has been lost, and Untold gives it. The folder is made
// with the first task. An error says that there may be more tasks than were found.
func (t *Tasks) Keep(dir string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dir = dir
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for background tasks: %w", err)
	}
	var problems []error
	for _, e := range entries {
		if t.find(e.Name()) != nil {
			continue
		}
		w, err := t.load(e.Name())
		if err != nil {
			problems = append(problems, err)
			continue
		}
		t.all = append(t.all, w)
	}
	slices.SortStableFunc(t.all, func(a, b *work) int { return a.task.Started.Compare(b.task.Started) })
	t.forgetOld()
	return errors.Join(problems...)
}

// Release says that the folder is no longer ours to write to. Nothing may run.
func (t *Tasks) Release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dir = ""
}

// load finds a task of another process. The caller holds the lock.
func (t *Tasks) load(id string) (*work, error) {
	dir := filepath.Join(t.dir, id)
	data, err := keptfile.Read(filepath.Join(dir, taskFile), maxTaskFile)
	if err != nil {
		return nil, fmt.Errorf("read the background task %s: %w", id, err)
	}
	w := &work{done: make(chan struct{})}
	close(w.done)
	if err := json.Unmarshal(data, &w.task); err != nil || w.task.ID != id {
		return nil, fmt.Errorf("read the background task %s: %s is damaged: %w", id, taskFile, errors.Join(err, fs.ErrInvalid))
	}
	w.out = readOutput(dir)
	if w.task.Status.Over() {
		return w, nil
	}
	w.task.Ended, w.task.Reason = w.task.Started, lostReason
	if info, err := os.Stat(filepath.Join(dir, taskFile)); err == nil {
		w.task.Ended = info.ModTime() // the last time that it was marked as living
	}
	_, w.task.Printed = w.out.last(0)
	t.move(w, Lost)
	return w, nil
}

// settle writes down how a task is, as far as it is kept. The caller holds the lock.
func (t *Tasks) settle(w *work) {
	if t.dir == "" {
		return
	}
	dir := filepath.Join(t.dir, w.task.ID)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		var data []byte
		if data, err = json.Marshal(w.task); err == nil {
			err = keptfile.Update(filepath.Join(dir, taskFile), maxTaskFile, func([]byte) ([]byte, error) { return data, nil })
		}
	}
	if err != nil {
		t.log.Warn("a background task was not kept", "task", w.task.ID, "error", err)
		return
	}
	if !w.task.Status.Over() {
		w.out.keep(dir)
	}
}

// keep has what is printed from now on written to files in dir.
func (o *output) keep(dir string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dir = dir
}

// discard deletes what is kept of a task. The caller holds the lock.
func (t *Tasks) discard(w *work) {
	if t.dir == "" {
		return
	}
	if err := os.RemoveAll(filepath.Join(t.dir, w.task.ID)); err != nil {
		t.log.Debug("a background task was not deleted", "task", w.task.ID, "error", err)
	}
}

// beat marks a task as living as long as it runs, until rest is called, which waits.
func (t *Tasks) beat(w *work) (rest func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		every := time.NewTicker(beatEvery)
		defer every.Stop()
		for {
			select {
			case now := <-every.C:
				t.touch(w, now)
			case <-stop:
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-done
	}
}

func (t *Tasks) touch(w *work, now time.Time) {
	t.mu.Lock()
	dir := t.dir
	t.mu.Unlock()
	if dir == "" {
		return
	}
	if err := os.Chtimes(filepath.Join(dir, w.task.ID, taskFile), now, now); err != nil {
		t.log.Debug("a background task was not marked as living", "task", w.task.ID, "error", err)
	}
}
