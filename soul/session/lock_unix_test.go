//go:build unix

package session

import (
	"syscall"
	"testing"
)

// A process that is being started has a copy of every file for a moment. It must
// not keep a session from being opened again.
func TestLockIsGivenBack(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	lock := s.held[len(s.held)-1].(heldLock)
	copied, err := syscall.Dup(int(lock.file.Fd()))
	check(t, err)
	defer func() { check(t, syscall.Close(copied)) }()
	check(t, s.Close())
	check(t, open(t, st, "x").Close())
}
