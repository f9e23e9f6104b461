package state

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"kimi-acp/internal/filelock"
)

// A companion that lives holds a lock on a file of its own. Process ids would not
// do: they are used again, and differ between containers that share a home.

// alive tells whether the companion with an id still runs. now is for file systems
// without locks, where what was written lately counts.
func alive(root *os.Root, id string, now time.Time) bool {
	f, err := root.OpenFile(id+lockEnd, os.O_RDWR, 0)
	if err != nil {
		// A companion makes its lock before everything else.
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	switch err := filelock.Try(f); {
	case errors.Is(err, filelock.ErrLocked):
		return true
	case err != nil:
		info, err := root.Lstat(id + stateEnd)
		return err == nil && now.Sub(info.ModTime()) < lockless
	}
	bury(root, id)
	filelock.Release(f)
	return false
}

// bury removes what a companion left. The lock goes last, so that who is
// interrupted leaves the rest to be found.
func bury(root *os.Root, id string) {
	names, err := list(root)
	if err != nil {
		return
	}
	for _, name := range names {
		if owner, ok := idOf(name); ok && owner == id && !strings.HasSuffix(name, lockEnd) {
			_ = remove(root, name) // the next reader tries again
		}
	}
	_ = remove(root, id+lockEnd)
}

// buryLocks removes the locks of companions that were killed while they removed what
// they had written: nothing else is left by which they would be looked at.
func buryLocks(root *os.Root, names []string, now time.Time) {
	told := map[string]bool{}
	for _, name := range names {
		if id, ok := idOf(name); ok && !strings.HasSuffix(name, lockEnd) {
			told[id] = true
		}
	}
	for _, name := range names {
		if id, ok := idOf(name); ok && !told[id] {
			alive(root, id, now)
		}
	}
}

// list gives the names of the files in the folder, in order.
func list(root *os.Root) ([]string, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
