package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrUnsafe says that the folder is a link, no folder, or somebody else's, so that
// nothing is read from it or written to it.
var ErrUnsafe = errors.New("the folder of editor states is not safe")

// Folder is where companions and agents of a user meet, given the share folder.
func Folder(shareDir string) string { return filepath.Join(shareDir, "acp", "editors") }

// openFolder opens the folder, which it makes where create says so. A folder that
// others could read is closed to them.
func openFolder(dir string, create bool) (*os.Root, error) {
	if create {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the folder of editor states: %w", err)
		}
	}
	before, err := os.Lstat(dir)
	if err != nil {
		return nil, fmt.Errorf("look for the folder of editor states: %w", err)
	}
	if !before.IsDir() || !ownedByUser(before) {
		return nil, fmt.Errorf("%w: %s has to be a folder of yours, and no link; remove it", ErrUnsafe, dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder of editor states: %w", err)
	}
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(before, opened) {
		err = fmt.Errorf("%w: %s was replaced", ErrUnsafe, dir)
	}
	if err == nil && othersMayEnter(opened) {
		err = root.Chmod(".", 0o700)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the folder of editor states: %w", err), root.Close())
	}
	return root, nil
}

// The endings of the files of a companion, whose names begin with its id.
const (
	lockEnd   = ".lock"
	stateEnd  = ".json"
	promptEnd = ".prompt"
	tempEnd   = ".tmp"
)

// idOf gives the id of the companion that a file belongs to; not ok: it is none of
// ours.
func idOf(name string) (id string, ok bool) {
	switch filepath.Ext(name) {
	case lockEnd, stateEnd, promptEnd, tempEnd:
		id, _, _ = strings.Cut(name, ".")
		return id, id != ""
	}
	return "", false
}

// replaceFile writes a file whole or not at all.
func replaceFile(root *os.Root, temp, name string, data []byte) error {
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, remove(root, temp))
	}
	return nil
}

// remove removes a file that may be gone.
func remove(root *os.Root, name string) error {
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
