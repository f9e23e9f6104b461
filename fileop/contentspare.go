package fileop

import (
	"errors"
	"sync"
)

// spareBytes bounds what is kept in memory for a store that cannot write.
const spareBytes = 64 << 20

// spareContents is a Contents that keeps in memory what its store cannot write, as
// on a full disk: what is edited then can be undone as long as the process lives.
type spareContents struct {
	store Contents

	mu      sync.Mutex
	spare   *MemContents // nil: it was never needed
	failure error        // the latest one of the store
}

var _ Contents = (*spareContents)(nil)

// Put implements Contents. Its only error is ErrContentsFull.
func (s *spareContents) Put(data []byte, sync bool) (ContentID, error) {
	id, err := s.store.Put(data, sync)
	if err == nil || errors.Is(err, ErrContentsFull) {
		return id, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
	if s.spare == nil {
		s.spare = NewMemContents(ContentLimits{Bytes: spareBytes})
	}
	return s.spare.Put(data, false)
}

// Get implements Contents.
func (s *spareContents) Get(id ContentID) ([]byte, error) {
	data, err := s.store.Get(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || s.spare == nil {
		return data, err
	}
	if spare, missing := s.spare.Get(id); missing == nil {
		return spare, nil
	}
	return nil, err
}

// Release implements Contents.
func (s *spareContents) Release() {
	s.store.Release()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spare != nil {
		s.spare.Release()
	}
}

// failed is why the store could not write, nil if it always could.
func (s *spareContents) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}
