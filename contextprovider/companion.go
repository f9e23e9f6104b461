package contextprovider

import (
	"slices"

	"kimi-acp/editors/state"
)

// Companions is what the companions of editors tell of a workspace, in a folder in
// which they write. What cannot be read tells nothing. It may be used by several
// goroutines at once, and holds nothing open.
type Companions struct{ reader *state.Reader }

// NewCompanions reads what is told in a folder about these roots. It touches nothing
// yet.
func NewCompanions(dir string, roots []string) *Companions {
	return &Companions{state.NewReader(dir, roots)}
}

// State gives what the user looks at, nil for nothing.
func (c *Companions) State() *EditorState {
	s, ok := c.merged()
	if !ok {
		return nil
	}
	e := fromCompanion(s)
	return &e
}

func (c *Companions) merged() (state.State, bool) {
	all, err := c.reader.States()
	if err != nil {
		return state.State{}, false
	}
	return state.Merge(all)
}

// Files gives the files with unsaved changes; see fileop.Unsaved.
func (c *Companions) Files() []string {
	var all []string
	s, _ := c.merged()
	for _, d := range s.Documents {
		if d.Dirty {
			all = append(all, d.Path)
		}
	}
	return all
}

// Text gives the unsaved text of a file; see fileop.Unsaved.
func (c *Companions) Text(path string) (text *string, dirty bool) {
	s, _ := c.merged()
	i := slices.IndexFunc(s.Documents, func(d state.Document) bool { return d.Path == path && d.Dirty })
	if i < 0 {
		return nil, false
	}
	return s.Documents[i].Text, true
}

// Requests gives what the user chose to be sent with the next prompt, the oldest
// first. With take it is given once, and to nobody else.
func (c *Companions) Requests(take bool) []Request {
	read := c.reader.Pending
	if take {
		read = c.reader.Take
	}
	prompts, err := read()
	if err != nil {
		return nil
	}
	all := make([]Request, len(prompts))
	for i, p := range prompts {
		all[i] = Request{
			Fix: p.Kind == state.Fix, Path: p.Path, From: place(p.Range.Start), To: place(p.Range.End),
			Text: p.Text, Cut: p.Cut, Diagnostics: problemsOf(p.Path, p.Diagnostics),
		}
	}
	return all
}

// place reads a position in our terms. Its column counts characters, which is what a
// reader counts too.
func place(p state.Position) Position { return Position{Line: p.Line, Column: p.Column} }

func fromCompanion(s state.State) EditorState {
	e := EditorState{Editor: s.Editor.Name, Seen: s.Updated}
	if a := s.Active; a != nil {
		e.Active, e.Withheld = a.Path, a.Withheld
		if a.Cursor != nil {
			cursor := place(*a.Cursor)
			e.Cursor = &cursor
		}
		if sel := a.Selection; sel != nil {
			e.Selection = &Selection{From: place(sel.Start), To: place(sel.End), Text: sel.Text}
		}
		if a.Visible != nil {
			e.Visible = &LineRange{First: a.Visible.Start.Line, Last: a.Visible.End.Line}
		}
	}
	for _, d := range s.Documents {
		e.Open = append(e.Open, Document{Path: d.Path, Dirty: d.Dirty, Text: d.Text})
	}
	for _, f := range s.Diagnostics {
		e.Problems = append(e.Problems, problemsOf(f.Path, f.Items)...)
	}
	return e
}

func problemsOf(path string, items []state.Diagnostic) []Diagnostic {
	severities := []state.Severity{"", state.Error, state.Warning, state.Information, state.Hint}
	var all []Diagnostic
	for _, d := range items {
		all = append(all, Diagnostic{
			Path: path, Lines: LineRange{First: d.Range.Start.Line, Last: d.Range.End.Line}, Column: d.Range.Start.Column,
			Severity: Severity(max(slices.Index(severities, d.Severity), 0)), //nolint:gosec // 0 to 4
			Source:   d.Source, Code: d.Code, Message: d.Message,
		})
	}
	return all
}
