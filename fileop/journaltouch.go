package fileop

// maxTouches is how many of our writes to one file are remembered for comparing.
const maxTouches = 32

// touch is one of our writes to a file, or one of a command: what it found there and
// what it left. What lies between a touch and the next is somebody else's.
type touch struct {
	seq         uint64 // of the first of the actions that it was made for
	found, left ContentID
	blind       bool // the bytes are not known
}

// noteTouch takes down what a new state of an action says about its files.
func (j *Journal) noteTouch(old, a *TaskAction) {
	was := ActionState("")
	if old != nil {
		was = old.State
	}
	if was == StateUndone && a.State == StateApplied {
		j.addTouch(a.Path, touch{seq: a.Seq, found: old.Left, left: a.Left})
		if a.Kind == ActionRename {
			j.addTouch(a.NewPath, touch{seq: a.Seq, blind: true})
		}
		return
	}
	if was != StateApplied && was != StateReviewed {
		switch a.State {
		case StateApplied, StateReviewed, StateUndone: // a state in between may not have been written
			j.noteApplied(a)
		}
	}
	if old == nil || old.Found != a.Found || old.Left != a.Left || old.State != a.State {
		if a.Found != "" || a.Left != "" {
			j.addTouch(a.Path, touch{seq: a.Seq, found: a.Found, left: a.Left})
			if a.Kind == ActionRename {
				j.addTouch(a.NewPath, touch{seq: a.Seq, blind: true}) // there is no file now
			}
		}
	}
}

func (j *Journal) noteApplied(a *TaskAction) {
	t := touch{seq: a.Seq, found: a.Before, left: a.After}
	switch a.Kind {
	case ActionRename:
		t.blind = a.Before == "" || a.After == ""
		j.addTouch(a.NewPath, touch{seq: a.Seq, left: a.After, blind: t.blind})
		t.left = ""
	case ActionEdit:
		t.blind = a.Before == "" || a.After == ""
	case ActionCreate:
		t.blind = a.After == ""
	case ActionDelete:
		t.blind = a.Before == ""
	}
	j.addTouch(a.Path, t)
}

func (j *Journal) addTouch(path string, t touch) {
	ts := j.touches[path]
	if n := len(ts); n > 0 && ts[n-1].found == t.found && ts[n-1].left == t.left && !t.blind {
		return // one write for several actions
	}
	ts = append(ts, t)
	j.touches[path] = append([]touch(nil), ts[max(0, len(ts)-maxTouches):]...)
}
