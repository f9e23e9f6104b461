package session

import (
	"errors"
	"fmt"
)

// The errors that callers tell apart.
var (
	// ErrNotFound says that there is no session of that id.
	ErrNotFound = errors.New("there is no such session")
	// ErrID says that a text cannot be the id of a session, so that there is none of it.
	ErrID = errors.New("that cannot be the id of a session")
	// ErrExists says that a session of that id is there already.
	ErrExists = errors.New("there is a session of this id already")
	// ErrInUse says that the session is open elsewhere, in this process or another.
	ErrInUse = errors.New("the session is open elsewhere; close it there first")
	// ErrChanged says that another program wrote to the session while it was
	// open, so that what it holds and what is in memory differ.
	ErrChanged = errors.New("another program wrote to the session; open it again to go on from there")
	// ErrCursor says that a cursor is not one that List gave.
	ErrCursor = errors.New("the cursor is not one of a list of sessions")
	// ErrNoCheckpoint says that a session has no checkpoint of that id.
	ErrNoCheckpoint = errors.New("there is no such checkpoint")
	// ErrClosed says that the session was closed.
	ErrClosed = errors.New("the session is closed")
)

// A GapError counts the lines of a wire.jsonl that a replay left out.
type GapError struct {
	Unknown    int // messages of types that Wire 1.10 does not have
	Unreadable int // lines that hold no message
}

// Error says how many lines were left out.
func (e *GapError) Error() string {
	return fmt.Sprintf("the replay left out %d messages of unknown types and %d damaged lines", e.Unknown, e.Unreadable)
}
