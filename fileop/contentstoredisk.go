package fileop

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// ContentStore is a Contents in a folder that only the user may look into. Each
// contents is a file named by its digest; it appears whole or not at all.
type ContentStore struct {
	root *os.Root
	now  func() time.Time

	mu     sync.Mutex
	budget contentBudget
}

var _ Contents = (*ContentStore)(nil)

const newContentPrefix = ".new-"

// OpenContents opens a content store, and makes its folder where there is none. The
// folder must not be a symbolic link. What was put longest ago is given up first,
// also when it was put before the store was opened. One process at a time may have
// the store open.
func OpenContents(dir string, l ContentLimits) (*ContentStore, error) {
	root, err := openPrivate(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the kept contents: %w", err)
	}
	s := &ContentStore{root: root, now: time.Now, budget: newContentBudget(l)}
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("listing the kept contents: %w", err), root.Close())
	}
	return s, nil
}

// openPrivate opens a folder that only its owner can enter, and makes it if need be.
func openPrivate(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, notRegular(dir, info.Mode())
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := root.Chmod(".", 0o700); err != nil {
			return nil, errors.Join(err, root.Close())
		}
	}
	return root, nil
}

// load takes stock of a folder: oldest first, and without what a crash left.
func (s *ContentStore) load() error {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return err
	}
	var infos []fs.FileInfo
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), newContentPrefix) {
			_ = s.root.Remove(e.Name()) // one that stays is in nobody's way
			continue
		}
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && isContentID(e.Name()) {
			infos = append(infos, info)
		}
	}
	slices.SortStableFunc(infos, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range infos {
		s.budget.add(ContentID(info.Name()), info.Size(), -1)
	}
	if evict, ok := s.budget.room(0); ok { // the bounds may be smaller than they were
		s.evict(evict)
	}
	return nil
}

func isContentID(name string) bool {
	raw, err := hex.DecodeString(name)
	return err == nil && len(raw) == len(digest{}) && strings.ToLower(name) == name
}

// Close lets go of the folder. No other method may be called afterwards.
func (s *ContentStore) Close() error { return s.root.Close() }

// Put implements Contents.
func (s *ContentStore) Put(data []byte, sync bool) (ContentID, error) {
	id := contentID(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.has(id, int64(len(data))) {
		return id, nil
	}
	evict, ok := s.budget.room(int64(len(data)))
	if !ok {
		return "", fullContents(len(data))
	}
	s.evict(evict)
	if err := s.write(string(id), data, sync); err != nil {
		return "", fmt.Errorf("keeping the contents: %w", err)
	}
	s.budget.add(id, int64(len(data)), s.budget.turn)
	return id, nil
}

// has tells whether contents are there, and makes them those of this turn.
func (s *ContentStore) has(id ContentID, size int64) bool {
	if !s.budget.touch(id) {
		return false
	}
	info, err := s.root.Lstat(string(id))
	if err != nil || !info.Mode().IsRegular() || info.Size() != size {
		s.budget.drop(id)
		return false
	}
	now := s.now()
	_ = s.root.Chtimes(string(id), now, now) // the order of eviction after the next opening, no more
	return true
}

func (s *ContentStore) write(name string, data []byte, sync bool) error {
	temp := newContentPrefix + rand.Text()
	f, err := s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = s.root.Rename(temp, name)
	}
	if err != nil {
		_ = s.root.Remove(temp) // the next opening removes it
		return err
	}
	if sync {
		syncDir(s.root, ".")
	}
	return nil
}

func (s *ContentStore) evict(ids []ContentID) {
	for _, id := range ids {
		_ = s.root.Remove(string(id)) // counted again at the next opening
		s.budget.drop(id)
	}
}

// Get implements Contents. Damaged contents are lost, and removed.
func (s *ContentStore) Get(id ContentID) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !isContentID(string(id)) {
		return nil, ErrContentLost
	}
	info, err := s.root.Lstat(string(id))
	if err != nil || !info.Mode().IsRegular() || info.Size() > MaxFile {
		return nil, ErrContentLost
	}
	data, err := s.root.ReadFile(string(id))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrContentLost, err)
	}
	if contentID(data) != id {
		s.evict([]ContentID{id})
		return nil, fmt.Errorf("%w: they are damaged", ErrContentLost)
	}
	return data, nil
}

// Release implements Contents.
func (s *ContentStore) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget.turn++
}
