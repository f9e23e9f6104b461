package state

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"kimi-acp/internal/filelock"
)

// Writer is a companion's place in the folder. Its methods may be called by several
// goroutines at once.
type Writer struct {
	id   string
	lock *os.File

	mu      sync.Mutex
	root    *os.Root // nil: closed
	prompts []string // names of those that were queued, the oldest first
	queued  int
}

// NewWriter takes a place in the folder, which it makes when it is missing. What was
// written is removed by Close, or by the next agent that looks.
func NewWriter(dir string) (*Writer, error) {
	root, err := openFolder(dir, true)
	if err != nil {
		return nil, err
	}
	for range 10 {
		w := &Writer{id: fmt.Sprintf("%d-%s", os.Getpid(), strings.ToLower(rand.Text()[:10])), root: root}
		taken, err := w.takeLock()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("take a place among the editor states: %w", err), root.Close())
		}
		if taken {
			return w, nil
		}
	}
	return nil, errors.Join(errors.New("take a place among the editor states: others keep removing it"), root.Close())
}

// takeLock makes and locks the file that shows that the companion lives. An agent
// that looks in between takes it for one that was left, and removes it.
func (w *Writer) takeLock() (bool, error) {
	name := w.id + lockEnd
	f, err := w.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := filelock.Try(f); errors.Is(err, filelock.ErrLocked) {
		return false, f.Close()
	} // a file system without locks: see alive
	mine, err := f.Stat()
	if err == nil {
		if theirs, err := w.root.Lstat(name); err == nil && os.SameFile(mine, theirs) {
			w.lock = f
			return true, nil
		}
	}
	return false, errors.Join(err, f.Close())
}

// Write replaces the state. It sets Format, PID and Updated, and leaves out what is
// over the limits.
func (w *Writer) Write(s State) error {
	s.Format, s.PID, s.Updated = Format, os.Getpid(), time.Now()
	s.bound()
	return w.replace(w.id+stateEnd, s)
}

// Queue hands a prompt over to the next turn of an agent in the prompt's workspace.
func (w *Writer) Queue(p Prompt) error {
	p.At = time.Now()
	p.bound()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queued++
	name := fmt.Sprintf("%s.%06d%s", w.id, w.queued, promptEnd)
	if err := w.replaceLocked(name, p); err != nil {
		return err
	}
	w.prompts = append(w.prompts, name)
	if len(w.prompts) > MaxPrompts {
		_ = remove(w.root, w.prompts[0]) // it may have been taken
		w.prompts = slices.Delete(w.prompts, 0, 1)
	}
	return nil
}

func (w *Writer) replace(name string, v any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.replaceLocked(name, v)
}

func (w *Writer) replaceLocked(name string, v any) error {
	if w.root == nil {
		return fs.ErrClosed
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the editor state: %w", err)
	}
	if err := replaceFile(w.root, w.id+tempEnd, name, data); err != nil {
		return fmt.Errorf("write the editor state: %w", err)
	}
	return nil
}

// Close removes what was written, prompts that nobody took as well. Further calls do
// nothing, and Write and Queue fail from then on.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.root == nil {
		return nil
	}
	bury(w.root, w.id)
	filelock.Release(w.lock)
	err := errors.Join(w.lock.Close(), remove(w.root, w.id+lockEnd), w.root.Close())
	w.root = nil
	return err
}
