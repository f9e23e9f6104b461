package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// An AmbiguousError says that several sessions have ids with the same beginning.
type AmbiguousError struct {
	Prefix string
	IDs    []string // at least two
}

// Error names some of the sessions.
func (e *AmbiguousError) Error() string {
	const some = 5
	text := strings.Join(e.IDs[:min(len(e.IDs), some)], ", ")
	if n := len(e.IDs) - some; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%q is the beginning of %d ids: %s; give more of it", e.Prefix, len(e.IDs), text)
}

// IDs gives the ids of all sessions that have a folder, in order.
func (st *Store) IDs() ([]string, error) {
	root, err := os.OpenRoot(st.share)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for sessions: %w", err)
	}
	all, err := idsIn(root)
	if err = errors.Join(err, root.Close()); err != nil {
		return nil, fmt.Errorf("looking for sessions: %w", err)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func idsIn(root *os.Root) ([]string, error) {
	dirs, err := workDirFolders(root)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, dir := range dirs {
		names, err := subfolders(root, sessionsName, dir)
		if err != nil {
			return nil, err
		}
		all = append(all, slices.DeleteFunc(names, func(id string) bool { return checkID(id) != nil })...)
	}
	return all, nil
}

// Find gives the id that a text is, or is the beginning of. ErrNotFound and an
// *AmbiguousError are told apart.
func (st *Store) Find(prefix string) (string, error) {
	if err := checkID(prefix); err != nil {
		return "", err
	}
	all, err := st.IDs()
	if err != nil {
		return "", err
	}
	i, whole := slices.BinarySearch(all, prefix)
	n := i
	for n < len(all) && strings.HasPrefix(all[n], prefix) {
		n++
	}
	switch {
	case whole || n == i+1:
		return all[i], nil
	case n == i:
		return "", fmt.Errorf("%q: %w", prefix, ErrNotFound)
	}
	return "", &AmbiguousError{Prefix: prefix, IDs: slices.Clone(all[i:n])}
}
