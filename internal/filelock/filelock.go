// Package filelock locks open files against other processes. The system gives a
// lock back when its process ends, however that happens.
//
// It must not know what the files are for, and opens, names and removes none.
package filelock

import (
	"errors"
	"os"
)

// ErrLocked says that somebody else has the lock.
var ErrLocked = errors.New("the file is locked")

// Try takes a file's lock without waiting. The lock belongs to the open file: the
// same process has to lock a second one again. It fails with ErrLocked, or with
// the system's error where the file system has no locks.
func Try(f *os.File) error { return try(f) }

// Release gives the lock back, whoever else has the file. Do it before the file is
// closed: a process that is being started has all files for a moment, and would
// keep the lock for as long.
func Release(f *os.File) { release(f) }
