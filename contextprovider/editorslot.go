package contextprovider

import (
	"context"
	"slices"
	"sync"
)

// editorSlot keeps what editors tell of a session. Its states are never changed
// after they were put in.
type editorSlot struct {
	mu  sync.Mutex
	now *EditorState
}

func (s *editorSlot) state() *EditorState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *editorSlot) change(f func(*EditorState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := EditorState{}
	if s.now != nil {
		next = *s.now
		next.Open, next.Recent, next.Problems = slices.Clone(next.Open), slices.Clone(next.Recent), slices.Clone(next.Problems)
	}
	f(&next)
	s.now = &next
}

// editorProvider tells what the editor has told.
type editorProvider struct {
	windows  Windows // nil: what is selected is told only where the editor did
	readable func(path string) bool
}

// Name is "editor".
func (editorProvider) Name() string { return sectionEditor }

// maxSelected bounds the lines of a selection that are read.
const maxSelected = 200

// Gather gives the editor's state as the prompt found it.
func (p editorProvider) Gather(ctx context.Context, q Query) (Facts, error) {
	e := q.Editor
	if e == nil {
		return Facts{}, nil
	}
	if s := e.Selection; s != nil && s.Text == "" && p.windows != nil && p.readable(e.Active) {
		w, err := p.windows.ReadWindow(ctx, e.Active, s.From.Line, min(s.To.Line-s.From.Line+1, maxSelected))
		if err == nil {
			// Whole lines: columns are counted in units that differ between editors.
			next := *e
			next.Selection = &Selection{From: s.From, To: s.To, Text: w.Text}
			e = &next
		}
	}
	return Facts{Editor: e, Diagnostics: e.Problems}, nil
}
