package soul

import (
	"errors"
	"testing"
)

// everyMove checks a table against the list of its legal moves, move by move.
func everyMove[S ~string](t *testing.T, table Table[S], states []S, legal map[S][]S) {
	t.Helper()
	for _, from := range states {
		for _, to := range states {
			want := false
			for _, l := range legal[from] {
				want = want || l == to
			}
			m := NewMachine("it", table, from, nil)
			err := m.Move(to)
			var illegal *IllegalMoveError
			switch {
			case want && (err != nil || m.State() != to):
				t.Errorf("%s to %s: %v, now %s", from, to, err, m.State())
			case !want && (!errors.As(err, &illegal) || m.State() != from):
				t.Errorf("%s to %s: %v, now %s; the move must be refused", from, to, err, m.State())
			}
		}
	}
}

func TestSessionMoves(t *testing.T) {
	everyMove(t, SessionTable, []SessionState{SessionIdle, SessionActive, SessionPaused, SessionClosed}, map[SessionState][]SessionState{
		"idle":   {"active", "paused", "closed"},
		"active": {"idle", "closed"},
		"paused": {"idle", "active", "closed"},
	})
}

func TestTaskMoves(t *testing.T) {
	everyMove(t, TaskTable, []TaskState{TaskPending, TaskRunning, TaskCompleted, TaskReviewed, TaskReopened, TaskFailed, TaskCancelled}, map[TaskState][]TaskState{
		"pending":   {"running", "failed", "cancelled"},
		"running":   {"completed", "failed", "cancelled"},
		"completed": {"reviewed", "reopened"},
		"reviewed":  {"reopened"},
		"reopened":  {"running", "cancelled"},
		"failed":    {"running", "cancelled"},
	})
}

func TestMachineTellsOfMoves(t *testing.T) {
	var got []string
	m := NewMachine("it", SessionTable, SessionIdle, func(from, to SessionState) { got = append(got, string(from+">"+to)) })
	for _, to := range []SessionState{SessionActive, SessionPaused, SessionIdle, SessionClosed, SessionIdle} {
		_ = m.Move(to)
	}
	want := []string{"idle>active", "active>idle", "idle>closed"}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("told of %q, want %q", got, want)
	}
}
