package contextprovider

import (
	"slices"

	"kimi-acp/editors/state"
)

// Companion gives a function for MomentOptions.Companion that reads what the
// companions of editors write about these roots into a folder. What cannot be read
// tells nothing.
func Companion(dir string, roots []string) func() *EditorState {
	reader := state.NewReader(dir, roots)
	return func() *EditorState {
		all, err := reader.States()
		if err != nil {
			return nil
		}
		s, ok := state.Merge(all)
		if !ok {
			return nil
		}
		e := fromCompanion(s)
		return &e
	}
}

// fromCompanion reads a state in our terms. Its columns count characters, which is
// what a reader counts too.
func fromCompanion(s state.State) EditorState {
	e := EditorState{Editor: s.Editor.Name, Seen: s.Updated}
	if a := s.Active; a != nil {
		e.Active, e.Withheld = a.Path, a.Withheld
		if a.Cursor != nil {
			e.Cursor = &Position{Line: a.Cursor.Line, Column: a.Cursor.Column}
		}
		if sel := a.Selection; sel != nil {
			e.Selection = &Selection{
				From: Position{sel.Start.Line, sel.Start.Column}, To: Position{sel.End.Line, sel.End.Column}, Text: sel.Text,
			}
		}
		if a.Visible != nil {
			e.Visible = &LineRange{First: a.Visible.Start.Line, Last: a.Visible.End.Line}
		}
	}
	for _, d := range s.Documents {
		e.Open = append(e.Open, Document{Path: d.Path, Dirty: d.Dirty})
	}
	severities := []state.Severity{"", state.Error, state.Warning, state.Information, state.Hint}
	for _, f := range s.Diagnostics {
		for _, d := range f.Items {
			e.Problems = append(e.Problems, Diagnostic{
				Path: f.Path, Lines: LineRange{First: d.Range.Start.Line, Last: d.Range.End.Line}, Column: d.Range.Start.Column,
				Severity: Severity(max(slices.Index(severities, d.Severity), 0)), //nolint:gosec // 0 to 4
				Source:   d.Source, Code: d.Code, Message: d.Message,
			})
		}
	}
	return e
}
