package soul

import (
	"fmt"
	"slices"
	"sync"
)

// Table says which moves between states are legal: for each state, those that
// may come next. It is data and never changes.
type Table[S comparable] map[S][]S

// Allows reports whether a state may follow another.
func (t Table[S]) Allows(from, to S) bool { return slices.Contains(t[from], to) }

// SessionState is the state of a session.
type SessionState string

// The states of a session.
const (
	SessionIdle   SessionState = "idle"   // waits for a prompt
	SessionActive SessionState = "active" // a turn runs
	SessionPaused SessionState = "paused" // parked: memory and watches were let go
	SessionClosed SessionState = "closed" // over
)

// SessionTable holds the legal moves of a session.
var SessionTable = Table[SessionState]{
	SessionIdle:   {SessionActive, SessionPaused, SessionClosed},
	SessionActive: {SessionIdle, SessionClosed},
	SessionPaused: {SessionIdle, SessionActive, SessionClosed},
}

// TaskState is the state of a task, which is a plan's step or a tool call.
type TaskState string

// The states of a task.
const (
	TaskPending   TaskState = "pending"
	TaskRunning   TaskState = "running"
	TaskCompleted TaskState = "completed"
	TaskReviewed  TaskState = "reviewed"
	TaskReopened  TaskState = "reopened"
	TaskFailed    TaskState = "failed"
	TaskCancelled TaskState = "cancelled"
)

// TaskTable holds the legal moves of a task. A failed task may be retried, which
// is a move back to running; reviewed work may be reopened.
var TaskTable = Table[TaskState]{
	TaskPending:   {TaskRunning, TaskFailed, TaskCancelled},
	TaskRunning:   {TaskCompleted, TaskFailed, TaskCancelled},
	TaskCompleted: {TaskReviewed, TaskReopened},
	TaskReviewed:  {TaskReopened},
	TaskReopened:  {TaskRunning, TaskCancelled},
	TaskFailed:    {TaskRunning, TaskCancelled},
}

// IllegalMoveError is a move that the table does not hold: always a bug.
type IllegalMoveError struct {
	What     string // what moved, e.g. "session 4f…"
	From, To string
}

// Error names what moved and how.
func (e *IllegalMoveError) Error() string {
	return fmt.Sprintf("bug: %s cannot move from %s to %s", e.What, e.From, e.To)
}

// Machine is a state that moves by a table. It may be used by several
// goroutines at once.
type Machine[S ~string] struct {
	what   string
	table  Table[S]
	notify func(from, to S)

	mu    sync.Mutex
	state S
}

// NewMachine makes a machine in a first state. what names the thing that moves;
// notify, if not nil, is called after each move, without a lock held.
func NewMachine[S ~string](what string, t Table[S], first S, notify func(from, to S)) *Machine[S] {
	return &Machine[S]{what: what, table: t, state: first, notify: notify}
}

// State is the present state.
func (m *Machine[S]) State() S {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// Move goes to another state. A move that the table does not hold changes
// nothing and is an *IllegalMoveError.
func (m *Machine[S]) Move(to S) error {
	m.mu.Lock()
	from := m.state
	if !m.table.Allows(from, to) {
		m.mu.Unlock()
		return &IllegalMoveError{What: m.what, From: string(from), To: string(to)}
	}
	m.state = to
	m.mu.Unlock()
	if m.notify != nil {
		m.notify(from, to)
	}
	return nil
}
