package fileop

// Recorder is told of every change that an Operator makes. It may be called by
// several goroutines at once; for one file the calls come one after the other.
type Recorder interface {
	// Begin is told of a change just before it is written, and of the bytes that it
	// replaces; nil: the file is new. An error keeps it from being written. Else end
	// is called once with what came of it.
	Begin(c Change, before []byte) (end func(Outcome), err error)
	// Stale is told of a change that was not written, since the file is another by now.
	Stale(c Change)
}

// Outcome is what came of a change that was begun.
type Outcome struct {
	Image   []byte // the file's bytes now; nil: there is none
	Unknown bool   // the write failed and the file could not be looked at
	Stale   bool   // nothing was written, since the file was another by then
	Err     error  // why the write failed; nil: it did not
}

// noRecorder is told and forgets.
type noRecorder struct{}

func (noRecorder) Begin(Change, []byte) (func(Outcome), error) { return func(Outcome) {}, nil }
func (noRecorder) Stale(Change)                                {}

var (
	_ Recorder = noRecorder{}
	_ Recorder = (*Journal)(nil)
)

// Begin implements Recorder: contents and intent are on the disk when it returns, so
// that also a write of which nobody sees the end can be undone. When they cannot be
// written they are in memory. Contents for which there is no room do not keep a
// change from being made, but from being undone.
func (j *Journal) Begin(c Change, before []byte) (func(Outcome), error) {
	a := j.proposal(c)
	j.enterTurn(a.Cause.Turn)
	a.Before, a.After = j.keep(before, true), j.keep(c.data, false)
	j.mu.Lock()
	defer j.mu.Unlock()
	if a.State == StateProposed {
		if err := a.move(StateApproved, ""); err != nil {
			return nil, err
		}
	}
	a.Kind = c.kind(before == nil)
	j.put(&a)
	j.begun[a.ID] = true
	j.flush(true)
	return func(came Outcome) { j.end(a.ID, before, came) }, nil
}

// Stale implements Recorder.
func (j *Journal) Stale(c Change) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.move(c.action, StateStale, "the file changed before it could be written") == nil {
		j.flush(false)
	}
}

// end takes down what came of a write.
func (j *Journal) end(id ActionID, before []byte, came Outcome) {
	after := j.keep(came.Image, false)
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.begun, id)
	a, ok := j.actions[id]
	if !ok || came.Unknown {
		return // it stays a write that has begun, which undo looks into
	}
	if came.Stale {
		if j.move(id, StateStale, "the file changed while it was written") == nil {
			j.flush(false)
		}
		return
	}
	to, reason := StateApplied, ""
	if came.Err != nil {
		reason = came.Err.Error()
	}
	switch same := contentOf(came.Image) == contentOf(before); {
	case a.Kind == ActionDelete && came.Image == nil, a.Kind == ActionRename && came.Err == nil:
	case same && came.Err != nil:
		to = StateRejected
	case same:
		to, reason = StateRejected, "the editor did not keep it"
	case came.Image == nil:
		to, reason = StateRejected, "the file was not there after the write"
	}
	next := *a
	if next.move(to, reason) != nil {
		return // undone meanwhile
	}
	inPlace := a.Kind == ActionEdit || a.Kind == ActionCreate
	if next.After = after; to == StateApplied && inPlace {
		next.Hunks = actionHunks(before, came.Image)
	}
	next.At = j.now()
	j.put(&next)
	j.flush(false)
}

// contentOf tells bytes apart, and no file from an empty one.
func contentOf(data []byte) ContentID {
	if data == nil {
		return ""
	}
	return contentID(data)
}

// keep puts contents into the store, and gives their digest even when there is no
// room for them. The digest of no file is "".
func (j *Journal) keep(data []byte, sync bool) ContentID {
	if data == nil {
		return ""
	}
	id, err := j.contents.Put(data, sync)
	if err != nil {
		id = contentID(data)
	}
	return id
}
