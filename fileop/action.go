package fileop

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Errors of the journal and of undoing, to be matched with errors.Is.
var (
	// ErrNoAction: the journal has no such action, or has forgotten it.
	ErrNoAction = errors.New("no such change")
	// ErrNoHunk: the action has no hunk of that number.
	ErrNoHunk = errors.New("no such part of a change")
	// ErrNotApplied: the action is not one that stands in the file.
	ErrNotApplied = errors.New("not a change that was made")
	// ErrUnderWay: the change is being written at this moment.
	ErrUnderWay = errors.New("still being made")
	// ErrConflict: what was changed since lies in the same lines.
	ErrConflict = errors.New("changed since in the same place")
	// ErrInTheWay: another file stands where one would have to come back.
	ErrInTheWay = errors.New("something else stands there now")
	// ErrGone: the file that was changed is not there any more.
	ErrGone = errors.New("deleted since")
	// ErrLaterChange: the file was moved or deleted by a later change that still stands.
	ErrLaterChange = errors.New("a later change has moved or deleted the file")
	// ErrChangedSince: a file that was made was changed since, so it is not deleted.
	ErrChangedSince = errors.New("changed since it was made")
)

// ActionID names a change in a journal. It is unique there and never given again.
type ActionID string

// ActionKind says what a change does to its file.
type ActionKind string

// The kinds of change.
const (
	ActionEdit   ActionKind = "edit"
	ActionCreate ActionKind = "create"
	ActionDelete ActionKind = "delete"
	ActionRename ActionKind = "rename" // from Path to NewPath
)

// ActionState says how far a change has come.
type ActionState string

// The states of a change.
const (
	StateProposed ActionState = "proposed" // computed and shown
	StateApproved ActionState = "approved" // may be written; with contents: the write has begun
	StateApplied  ActionState = "applied"  // stands in the file
	StateReviewed ActionState = "reviewed" // every hunk was kept or refused by the user
	StateRejected ActionState = "rejected" // refused, or could not be written; Reason says which
	StateStale    ActionState = "stale"    // the file changed before it could be written
	StateUndone   ActionState = "undone"   // taken back
)

// actionMoves holds the legal moves. An action whose write has begun may be undone
// although nobody saw it end, as when the process was killed meanwhile.
var actionMoves = map[ActionState][]ActionState{
	StateProposed: {StateApproved, StateRejected, StateStale},
	StateApproved: {StateApplied, StateRejected, StateStale, StateUndone},
	StateApplied:  {StateReviewed, StateUndone},
	StateReviewed: {StateUndone},
	StateUndone:   {StateApplied}, // by Redo
}

// MoveError is a move between states that there is not: always a bug.
type MoveError struct {
	ID       ActionID
	From, To ActionState
}

// Error names the action and the move.
func (e *MoveError) Error() string {
	return fmt.Sprintf("bug: the change %s cannot move from %s to %s", e.ID, e.From, e.To)
}

// Cause says where a change comes from.
type Cause struct {
	Session  string `json:"session,omitempty"`
	Turn     int    `json:"turn,omitempty"`      // counted from 1 in the session; 0: none
	Step     int    `json:"step,omitempty"`      // counted from 1 in the turn; 0: none
	ToolCall string `json:"tool_call,omitempty"` // id of the call
	Tool     string `json:"tool,omitempty"`      // its name
	Command  bool   `json:"command,omitempty"`   // found after a command ran, not written by us
}

// ContentID is the SHA-256 of a file's bytes in hexadecimal; "" is no file, or one
// whose bytes are not known.
type ContentID string

func contentID(data []byte) ContentID {
	sum := sha256.Sum256(data)
	return ContentID(hex.EncodeToString(sum[:]))
}

// Verdict is what the user made of a hunk.
type Verdict string

// The verdicts. A hunk without one is open.
const (
	VerdictKept    Verdict = "kept"
	VerdictChanged Verdict = "changed"
	VerdictRefused Verdict = "refused"
)

// ActionHunk is a part of an edit that can be kept or refused by itself. Lines are
// counted from 1; a range without lines is named by the line that it stands before.
type ActionHunk struct {
	ID       int     `json:"id"` // from 1, never changes
	OldStart int     `json:"old_start"`
	OldLines int     `json:"old_lines"`
	NewStart int     `json:"new_start"`
	NewLines int     `json:"new_lines"`
	Verdict  Verdict `json:"verdict,omitempty"` // kept or refused, "": open
	Decided  uint64  `json:"decided,omitempty"` // Seq of the decision
}

// TaskAction is a change of a file, from the proposal to the end.
type TaskAction struct {
	ID         ActionID     `json:"id"`
	Seq        uint64       `json:"seq"` // of its latest move, rising in the whole journal
	Kind       ActionKind   `json:"kind"`
	Path       string       `json:"path"`               // absolute, as the user writes it
	NewPath    string       `json:"new_path,omitempty"` // of a rename
	Cause      Cause        `json:"cause"`
	State      ActionState  `json:"state"`
	Reason     string       `json:"reason,omitempty"` // why it is in this state, for people
	Before     ContentID    `json:"before,omitempty"` // "" for a create; else the bytes are not known
	After      ContentID    `json:"after,omitempty"`  // "" for a delete; else the bytes are not known
	Hunks      []ActionHunk `json:"hunks,omitempty"`
	Confidence float64      `json:"confidence"`        // from 0 to 1; 1 for what we wrote ourselves
	At         time.Time    `json:"at"`                // when it was made, or proposed
	Found      ContentID    `json:"found,omitempty"`   // what stood there when it was last reviewed or undone
	Left       ContentID    `json:"left,omitempty"`    // what that left; "" with Found: no file
	Moved      ContentID    `json:"moved,omitempty"`   // of a rename that was undone: what stood at NewPath
	Undoing    uint64       `json:"undoing,omitempty"` // which undoing took it back, rising; 0: none that Redo knows
}

// Partly tells whether some of the action's hunks were refused and not all.
func (a TaskAction) Partly() bool {
	refused := a.count(VerdictRefused)
	return refused > 0 && refused < len(a.Hunks)
}

func (a TaskAction) count(v Verdict) int {
	n := 0
	for _, h := range a.Hunks {
		if h.Verdict == v {
			n++
		}
	}
	return n
}

// standing tells whether the change is, or may be, in the file.
func (a TaskAction) standing() bool {
	switch a.State {
	case StateApplied, StateReviewed:
		return true
	case StateApproved: // the write had begun when the journal ended
		return a.Before != "" || a.After != ""
	}
	return false
}

func (a *TaskAction) move(to ActionState, reason string) error {
	if !slices.Contains(actionMoves[a.State], to) {
		return &MoveError{ID: a.ID, From: a.State, To: to}
	}
	a.State, a.Reason = to, clipText(reason, maxReason)
	return nil
}

// maxReason is how much of a reason is kept, in bytes.
const maxReason = 500

func clipText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := n
	for cut > 0 && s[cut]&0xc0 == 0x80 { // not inside a character
		cut--
	}
	return s[:cut] + "…"
}
