package contextprovider

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/editors/state"
)

// queued gives what is queued, as a companion does.
func queued(all *[]Request) func(bool) []Request {
	return func(take bool) []Request {
		out := *all
		if take {
			*all = nil
		}
		return out
	}
}

// What the user chose in the editor is told once, beside what else there is, and the
// user hears of it.
func TestRequestsAreToldOnce(t *testing.T) {
	fix := Request{
		Fix: true, Path: "/w/a.go", From: Position{3, 5}, To: Position{4, 2}, Text: "x := y\n}",
		Diagnostics: []Diagnostic{{Path: "/w/a.go", Lines: LineRange{3, 3}, Message: "undefined: y"}, {Path: "/w/a.go", Lines: LineRange{4, 4}, Message: "of a linter", Severity: SeverityWarning}},
	}
	ask := Request{Path: "/w/b.go", From: Position{9, 1}, To: Position{9, 1}, Text: "long", Cut: true}
	var waiting []Request
	facts := &Facts{Diagnostics: []Diagnostic{{Path: "/w/a.go", Lines: LineRange{3, 3}, Column: 6, Message: "undefined: y", Severity: SeverityError}}}
	m := momentOf(t, facts, func(o *MomentOptions) { o.Requests = queued(&waiting) })
	before := m.Part(t.Context(), "", nil, nil)
	waiting = []Request{fix, ask}
	if text := m.Describe(t.Context(), nil); !strings.Contains(text, "asks about b.go") || len(waiting) != 2 {
		t.Errorf("what waits is not shown, or not left: %s", text)
	}
	first := m.Part(t.Context(), "", nil, []string{before})
	const want = `<requests>
By an action of the editor the user asks to mend what is reported at a.go, line 3 column 5 to line 4 column 2, as a part of this message.
3| x := y
4| }
a.go:4: warning: of a linter
By an action of the editor the user asks about b.go, line 9 column 1, as a part of this message.
9| long
  (there is more)
</requests>
`
	if diff := cmp.Diff(want, inside(t, first)); diff != "" {
		t.Error(diff)
	}
	if got := m.Notice(); got != "Sent along, as you chose in the editor: lines 3 to 4 of `a.go` (to mend), line 9 of `b.go`." {
		t.Errorf("the user hears %q", got)
	}
	if got := m.Notice(); got != "" {
		t.Errorf("the user hears again %q", got)
	}
	if again := m.Part(t.Context(), "", nil, []string{before, first}); again != "" || m.Notice() != "" {
		t.Errorf("told again: %s", again)
	}
	waiting = []Request{fix, ask} // the same again is asked again
	if again := m.Part(t.Context(), "", nil, []string{before, first}); inside(t, again) != want {
		t.Errorf("not told again: %q", again)
	}
	waiting = []Request{ask}
	m.SetUse(UseOff)
	if got := inside(t, m.Part(t.Context(), "", nil, []string{before})); !strings.Contains(got, "asks about b.go") || strings.Contains(got, "diagnostics") {
		t.Errorf("with the context off: %q", got)
	}
	if got := m.Part(t.Context(), "", nil, nil); got != "" {
		t.Errorf("with the context off and nothing asked: %q", got)
	}
}

func TestRequestsKeepSensitiveFilesNamesOnly(t *testing.T) {
	waiting := []Request{{Path: "/w/secret.env", From: Position{1, 1}, To: Position{1, 9}, Text: "canary", Diagnostics: []Diagnostic{{Path: "/w/secret.env", Message: "canary"}}}}
	m := momentOf(t, &Facts{}, func(o *MomentOptions) { o.Requests = queued(&waiting) })
	if got := m.Part(t.Context(), "", nil, nil); strings.Contains(got, "canary") || !strings.Contains(got, "asks about secret.env") {
		t.Error(got)
	}
}

// A companion's prompts are given to one taker.
func TestCompanionsGiveRequests(t *testing.T) {
	dir, root := t.TempDir(), t.TempDir()
	w, err := state.NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	c := NewCompanions(dir, []string{root})
	if got := c.Requests(true); len(got) != 0 {
		t.Errorf("of nothing came %v", got)
	}
	at := func(line, column int) state.Position { return state.Position{Line: line, Column: column} }
	for _, path := range []string{root + "/a.go", t.TempDir() + "/of-another-project"} {
		if err := w.Queue(state.Prompt{
			Kind: state.Fix, Path: path, Range: state.Range{Start: at(3, 1), End: at(3, 4)}, Text: "abc", At: time.Now(),
			Diagnostics: []state.Diagnostic{{Range: state.Range{Start: at(3, 2), End: at(3, 3)}, Severity: state.Error, Source: "s", Message: "m"}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	want := []Request{{
		Fix: true, Path: root + "/a.go", From: Position{3, 1}, To: Position{3, 4}, Text: "abc",
		Diagnostics: []Diagnostic{{Path: root + "/a.go", Lines: LineRange{3, 3}, Column: 2, Severity: SeverityError, Source: "s", Message: "m"}},
	}}
	for _, take := range []bool{false, true} {
		if diff := cmp.Diff(want, c.Requests(take)); diff != "" {
			t.Error(diff)
		}
	}
	if got := c.Requests(true); len(got) != 0 {
		t.Errorf("given again: %v", got)
	}
}
