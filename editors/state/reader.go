package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Reader is an agent's view of the folder, for one workspace. Its methods may be
// called by several goroutines at once.
type Reader struct {
	dir   string
	roots []workspaceRoot

	mu   sync.Mutex
	read map[string]readState // by file name
}

// readState is a state with what tells that its file has not changed since.
type readState struct {
	info  fs.FileInfo
	state State
	good  bool
}

// NewReader makes a reader for the workspace with these folders. It touches nothing:
// the folder of states need not exist.
func NewReader(dir string, roots []string) *Reader {
	r := &Reader{dir: dir, read: map[string]readState{}}
	for _, root := range roots {
		r.roots = append(r.roots, newWorkspaceRoot(root))
	}
	return r
}

// States gives the states of the editors that live and have a folder in common with
// the workspace, the one that the user was last active in first. They hold nothing
// from outside of the workspace. A file that has not changed is not read again. An
// error means that the folder cannot be used; a file that is broken is left out.
func (r *Reader) States() ([]State, error) {
	root, err := openFolder(r.dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // nothing is lost with it
	names, err := list(root)
	if err != nil {
		return nil, fmt.Errorf("list the editor states: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now, seen := time.Now(), map[string]readState{}
	buryLocks(root, names, now)
	var all []State
	for _, name := range names {
		id, ok := idOf(name)
		if !ok || !strings.HasSuffix(name, stateEnd) || len(seen) == maxCompanions || !alive(root, id, now) {
			continue
		}
		s := r.load(root, name)
		seen[name] = s
		if clipped, ok := r.clip(s.state); s.good && ok {
			all = append(all, clipped)
		}
	}
	r.read = seen
	slices.SortStableFunc(all, func(a, b State) int { return b.lastActive().Compare(a.lastActive()) })
	return all, nil
}

func (s State) lastActive() time.Time {
	if s.Active != nil {
		return s.Active.At
	}
	return time.Time{}
}

// load reads a state, unless it is known. One that cannot be read, or not yet, is
// not good; a writer replaces it whole when there is something new.
func (r *Reader) load(root *os.Root, name string) readState {
	info, err := root.Lstat(name)
	if err != nil {
		return readState{}
	}
	if known, ok := r.read[name]; ok && known.info != nil && os.SameFile(known.info, info) &&
		known.info.Size() == info.Size() && known.info.ModTime().Equal(info.ModTime()) {
		return known
	}
	s := readState{info: info}
	s.good = readJSON(root, name, info, &s.state) == nil && s.state.Format == Format
	return s
}

// readJSON reads a file that is still the one that was looked at.
func readJSON(root *os.Root, name string, looked fs.FileInfo, v any) error {
	if !looked.Mode().IsRegular() {
		return ErrUnsafe
	}
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if opened, err := f.Stat(); err != nil || !os.SameFile(opened, looked) || opened.Size() > maxFile {
		return errors.Join(fs.ErrInvalid, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// Pending gives the prompts that the user queued for this workspace, the oldest
// first, and leaves them there.
func (r *Reader) Pending() ([]Prompt, error) { return r.prompts(false) }

// Take gives the prompts that the user queued for this workspace, the oldest first.
// Each of them is given once: to one caller of one agent.
func (r *Reader) Take() ([]Prompt, error) { return r.prompts(true) }

func (r *Reader) prompts(take bool) ([]Prompt, error) {
	root, err := openFolder(r.dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // nothing is lost with it
	names, err := list(root)
	if err != nil {
		return nil, fmt.Errorf("list the editor states: %w", err)
	}
	now := time.Now()
	var all []Prompt
	for _, name := range names {
		id, ok := idOf(name)
		if !ok || filepath.Ext(name) != promptEnd || len(all) == maxPromptsRead || !alive(root, id, now) {
			continue
		}
		var p Prompt
		info, err := root.Lstat(name)
		if err != nil || readJSON(root, name, info, &p) != nil {
			continue
		}
		if now.Sub(p.At) > PromptAge {
			_ = remove(root, name) // the next reader tries again
			continue
		}
		path, ok := r.within(p.Path)
		// Only one of those who remove a file succeeds.
		if !ok || take && root.Remove(name) != nil {
			continue
		}
		p.Path = path
		p.bound()
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b Prompt) int { return a.At.Compare(b.At) })
	return all, nil
}
