package contextprovider

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/editors/state"
)

func TestCompanion(t *testing.T) {
	dir, root := t.TempDir(), t.TempDir()
	w, err := state.NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	told := NewCompanions(dir, []string{root}).State
	if e := told(); e != nil {
		t.Errorf("before anything was written: %+v", e)
	}
	at := func(line, column int) state.Position {
		return state.Position{Line: line, Column: column, Byte: column - 1}
	}
	file := root + "/a.go"
	if err := w.Write(state.State{
		Editor: state.Editor{Name: "hx"}, Roots: []string{root},
		Active: &state.Active{
			Path: file, Cursor: ptr(at(3, 5)), At: time.Now(),
			Selection: &state.Selection{Range: state.Range{Start: at(3, 1), End: at(4, 2)}, Text: "x"},
			Visible:   &state.Range{Start: at(1, 1), End: at(40, 1)},
		},
		Documents: []state.Document{{Path: file, Dirty: true, Used: time.Now()}},
		Diagnostics: []state.FileDiagnostics{{Path: file, At: time.Now(), Items: []state.Diagnostic{
			{Range: state.Range{Start: at(3, 5), End: at(3, 6)}, Severity: state.Warning, Source: "gopls", Code: "C", Message: "m"},
		}}},
	}); err != nil {
		t.Fatal(err)
	}
	e := told()
	if e == nil {
		t.Fatal("what a companion wrote is not told")
	}
	if e.Seen.IsZero() {
		t.Error("without a time")
	}
	e.Seen = time.Time{}
	want := &EditorState{
		Editor: "hx", Active: file, Cursor: &Position{3, 5}, Selection: &Selection{From: Position{3, 1}, To: Position{4, 2}, Text: "x"},
		Visible: &LineRange{1, 40}, Open: []Document{{Path: file, Dirty: true}},
		Problems: []Diagnostic{{Path: file, Lines: LineRange{3, 3}, Column: 5, Severity: SeverityWarning, Source: "gopls", Code: "C", Message: "m"}},
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Error(diff)
	}
}

func ptr[T any](v T) *T { return &v }
