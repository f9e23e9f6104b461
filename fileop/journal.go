package fileop

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"
)

// maxActions is how many actions a journal remembers. Older ones stay in its file
// and can no longer be undone.
const maxActions = 20_000

// Journal remembers the changes of a session, from each proposal to its end, so that
// the user can look at them, keep or refuse parts of them, and take them back. Give
// it to the Operator as its Recorder. It may be used by several goroutines at once.
//
// What it cannot write, as on a full disk, it keeps in memory and tries again with the
// next change: no edit is refused for that. Health tells.
type Journal struct {
	contents *spareContents
	now      func() time.Time

	reviews sync.Mutex // held by what writes files: undoing and refusing

	mu      sync.Mutex
	file    journalFile
	actions map[ActionID]*TaskAction // never changed in place
	order   []ActionID               // as they were made
	last    int                      // number of the newest id
	seq     uint64
	turn    int
	begun   map[ActionID]bool // being written at this moment
	touches map[string][]touch
	failure error // the latest failure to keep something
	damaged int   // lines that could not be read
}

// JournalOptions say where a journal is kept.
type JournalOptions struct {
	Old      io.Reader        // what was written before; nil: nothing
	File     io.Writer        // takes one Write for each record; its Sync is called if it has one
	Contents Contents         // the bytes before and after
	Now      func() time.Time // nil: time.Now
}

// OpenJournal reads an old journal and goes on with it. A last line that was cut off
// is left out, as is a damaged one, see Health. An error is one of reading.
func OpenJournal(o JournalOptions) (*Journal, error) {
	j := &Journal{
		contents: &spareContents{store: o.Contents},
		now:      o.Now,
		file:     journalFile{w: o.File},
		actions:  map[ActionID]*TaskAction{},
		begun:    map[ActionID]bool{},
		touches:  map[string][]touch{},
	}
	if j.now == nil {
		j.now = time.Now
	}
	if o.Old == nil {
		return j, nil
	}
	if err := j.load(o.Old); err != nil {
		return nil, fmt.Errorf("reading the journal of changes: %w", err)
	}
	return j, nil
}

// Health says what the journal could not do.
type Health struct {
	Err       error // the latest failure to write; nil: none, or made up for since. Contents are not made up for
	Unwritten int   // actions of which the file does not hold the latest state
	Damaged   int   // lines that could not be read when the journal was opened
}

// Health says how the journal fares.
func (j *Journal) Health() Health {
	j.mu.Lock()
	defer j.mu.Unlock()
	h := Health{Err: j.failure, Unwritten: len(j.file.unwritten), Damaged: j.damaged}
	if h.Err == nil {
		h.Err = j.contents.failed()
	}
	return h
}

// Propose takes down a planned change and gives it a place in the journal, under
// which Approve, Reject and Commit go on.
func (j *Journal) Propose(cause Cause, c Change) Change {
	j.mu.Lock()
	defer j.mu.Unlock()
	a := j.newAction(cause)
	a.Path, a.NewPath = c.Path, c.NewPath
	a.Kind = c.kind(c.Before == nil)
	c.action = a.ID
	j.put(&a)
	j.flush(false)
	return c
}

// kind is what the change does. Whether a file is made is known when it is written.
func (c Change) kind(isNew bool) ActionKind {
	switch {
	case c.Kind == ActionDelete || c.Kind == ActionRename:
		return c.Kind
	case isNew:
		return ActionCreate
	}
	return ActionEdit
}

// Action gives the id under which a change was proposed, "" if it was not.
func (c Change) Action() ActionID { return c.action }

// Approve takes down that a proposed change may be made. Committing one that is
// merely proposed approves it.
func (j *Journal) Approve(id ActionID) error { return j.decide(id, StateApproved, "") }

// Reject takes down that a proposed change was turned down, and why.
func (j *Journal) Reject(id ActionID, reason string) error {
	return j.decide(id, StateRejected, reason)
}

func (j *Journal) decide(id ActionID, to ActionState, reason string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.move(id, to, reason); err != nil {
		return err
	}
	j.flush(false)
	return nil
}

// Action gives an action as it is now.
func (j *Journal) Action(id ActionID) (TaskAction, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	a, ok := j.actions[id]
	if !ok {
		return TaskAction{}, fmt.Errorf("%q: %w", id, ErrNoAction)
	}
	return a.clone(), nil
}

// Actions gives the actions that are meant, in the order in which they were made.
func (j *Journal) Actions(which Which) []TaskAction {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []TaskAction
	for _, id := range j.order {
		if a := j.actions[id]; which.means(*a) {
			out = append(out, a.clone())
		}
	}
	return out
}

// Diff is an action's change as a unified diff, for people and models to read. An
// error wraps ErrNoAction or ErrContentLost.
func (j *Journal) Diff(id ActionID) (string, error) {
	a, err := j.Action(id)
	if err != nil {
		return "", err
	}
	before, after, err := j.images(a)
	if err != nil {
		return "", err
	}
	path := a.Path
	if a.NewPath != "" {
		path = a.NewPath
	}
	if before == nil {
		return Unified(path, nil, readable(after)), nil
	}
	text := readable(before)
	return Unified(path, &text, readable(after)), nil
}

// images gives what an action found and what it left; nil: no file.
func (j *Journal) images(a TaskAction) (before, after []byte, err error) {
	if a.Kind != ActionCreate {
		if before, err = j.content(a.Before); err != nil {
			return nil, nil, err
		}
	}
	if a.Kind != ActionDelete {
		if after, err = j.content(a.After); err != nil {
			return nil, nil, err
		}
	}
	return before, after, nil
}

func (j *Journal) content(id ContentID) ([]byte, error) {
	if id == "" {
		return nil, ErrContentLost
	}
	data, err := j.contents.Get(id)
	if err != nil {
		return nil, err
	}
	return notNil(data), nil
}

func (a TaskAction) clone() TaskAction {
	a.Hunks = slices.Clone(a.Hunks)
	return a
}

// enterTurn lets the contents of older turns go. Changes of no turn are one each.
func (j *Journal) enterTurn(turn int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if turn == 0 || turn != j.turn {
		j.turn = turn
		j.contents.Release()
	}
}

// proposal gives the action of a change that is to be written: that under which it
// was proposed, unless that one has come to its end, else a new one.
func (j *Journal) proposal(c Change) TaskAction {
	j.mu.Lock()
	defer j.mu.Unlock()
	if a, ok := j.actions[c.action]; ok {
		if (a.State == StateProposed || a.State == StateApproved) && !a.standing() {
			return a.clone()
		}
		again := j.newAction(a.Cause)
		again.Path, again.NewPath = c.Path, c.NewPath
		return again
	}
	a := j.newAction(Cause{})
	a.Path, a.NewPath = c.Path, c.NewPath
	return a
}

// newAction makes an action with an id of its own. The caller holds the lock, here
// and below.
func (j *Journal) newAction(cause Cause) TaskAction {
	j.last++
	return TaskAction{
		ID:         ActionID("a" + strconv.Itoa(j.last)),
		Cause:      cause,
		State:      StateProposed,
		Confidence: 1,
		At:         j.now(),
	}
}

func (j *Journal) move(id ActionID, to ActionState, reason string) error {
	a, ok := j.actions[id]
	if !ok {
		return fmt.Errorf("%q: %w", id, ErrNoAction)
	}
	next := *a
	if err := next.move(to, reason); err != nil {
		return err
	}
	j.put(&next)
	return nil
}

// put takes down the new state of an action. It is written by the next flush.
func (j *Journal) put(a *TaskAction) {
	j.seq++
	a.Seq = j.seq
	j.index(a)
	j.file.unwritten = append(slices.DeleteFunc(j.file.unwritten, func(id ActionID) bool { return id == a.ID }), a.ID)
}

// index makes an action known in memory, and forgets the oldest when there are too many.
func (j *Journal) index(a *TaskAction) {
	old := j.actions[a.ID]
	j.noteTouch(old, a)
	j.actions[a.ID] = a
	if old != nil {
		return
	}
	j.order = append(j.order, a.ID)
	if len(j.order) > maxActions {
		j.forget(j.order[0])
		j.order = slices.Delete(j.order, 0, 1)
	}
}

// forget drops an action, and what was noted of its files if that was the last one.
func (j *Journal) forget(id ActionID) {
	a := j.actions[id]
	for _, path := range []string{a.Path, a.NewPath} {
		if ts := j.touches[path]; len(ts) > 0 && ts[len(ts)-1].seq <= a.Seq {
			delete(j.touches, path)
		}
	}
	delete(j.actions, id)
}
