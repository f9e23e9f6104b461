package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"kimi-acp/soul/wire"
)

// scattered is a text of n blocks of lines and the same with one line of each changed.
func scattered(n int, fill string) (old, text string) {
	var a, b strings.Builder
	for i := range n {
		for j := range 20 {
			fmt.Fprintf(&a, "line %d of block %d %s\n", j, i, fill)
			if j == 10 {
				fmt.Fprintf(&b, "changed in block %d %s\n", i, fill)
				continue
			}
			fmt.Fprintf(&b, "line %d of block %d %s\n", j, i, fill)
		}
	}
	return a.String(), b.String()
}

func TestDiffsFit(t *testing.T) {
	few, fewNew := scattered(200, "")
	long, longNew := scattered(200, strings.Repeat("word ", 60))
	many, manyNew := scattered(3000, "x")
	huge := strings.Repeat("all of it new\n", 100_000)
	control := strings.Repeat("\x01", 30_000)
	for _, c := range []struct {
		name     string
		old, new string
		note     string
	}{
		{"it fits", "a\n", "b\n", ""},
		{"the places fit", few, fewNew, "only the 200 places that change are shown"},
		{"places of long lines", long, longNew, "large: 200 places. Shown are 200 in part; "},
		{"more places than can be shown", many, manyNew, "large: 3000 places. Shown are "},
		{"one large place", "a\n", huge, "large: 1 place. Shown are 1 in part; "},
		{"letters that take room", "a", control, "bytes of text are not shown"},
		{"one long line", "a" + strings.Repeat("é", 90_000), "b" + strings.Repeat("é", 90_000), "bytes of text are not shown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			content := diffs([]wire.FileChange{{Path: "/w/f", Old: &c.old, New: c.new}}, maxAskedDiff)
			raw, err := json.Marshal(content)
			if err != nil {
				t.Fatal(err)
			}
			if len(raw) > maxAskedDiff+2000 {
				t.Errorf("%d bytes, want %d", len(raw), maxAskedDiff)
			}
			if *content[0].OldText == *content[0].NewText {
				t.Error("no difference is shown")
			}
			if c.note == "" {
				if len(content) != 1 || *content[0].OldText != c.old || *content[0].NewText != c.new {
					t.Errorf("%s", raw)
				}
				return
			}
			if note := content[len(content)-1].Content.Text; !strings.Contains(note, c.note) {
				t.Errorf("it says %q, want %q", note, c.note)
			}
		})
	}
}

// TestDiffsAreCutFairly: a small place beside a large one is whole.
func TestDiffsAreCutFairly(t *testing.T) {
	old := "first\n" + strings.Repeat("same\n", 20) + "last\n"
	text := strings.Repeat("much\n", 40_000) + strings.Repeat("same\n", 20) + "end\n"
	content := diffs([]wire.FileChange{{Path: "/w/f", Old: &old, New: text}}, maxAskedDiff)
	if got := *content[0].NewText; !strings.HasSuffix(got, "⟨line 40021⟩\nend\n") || !strings.Contains(got, "bytes more⟩") {
		t.Errorf("the end is %q", got[max(0, len(got)-200):])
	}
	if note := content[1].Content.Text; !strings.Contains(note, "large: 2 places. Shown are 1 whole, 1 in part; ") {
		t.Error(note)
	}
}

func TestAsker(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		request wire.ApprovalRequest
		want    string
	}{
		{wire.ApprovalRequest{}, ""},
		{wire.ApprovalRequest{AgentID: text("a1"), SubagentType: text("coder")}, "Agent coder"},
		{wire.ApprovalRequest{AgentID: text("a1"), SubagentType: text("")}, "Agent a1"},
		{wire.ApprovalRequest{SourceDescription: text("fix\u202e it")}, `Agent fix\u202e it`},
		{wire.ApprovalRequest{AgentID: text(strings.Repeat("a", 100))}, "Agent " + strings.Repeat("a", maxAsker) + "…"},
	} {
		if got := asker(c.request); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestFeedback(t *testing.T) {
	for raw, want := range map[string]string{
		`{"outcome":{"outcome":"selected","optionId":"reject_once"}}`:                                   "",
		`{"outcome":{"outcome":"selected","optionId":"reject_once","_meta":{"feedback":" use make "}}}`: "use make",
		`{"outcome":{"outcome":"selected","optionId":"reject_once"},"_meta":{"feedback":"use make"}}`:   "use make",
		`{"outcome":{"outcome":"selected","optionId":"reject_once"},"_meta":{"feedback":7}}`:            "",
		`{"outcome":{"outcome":"selected","optionId":"reject_once"},"_meta":[]}`:                        "",
		`{"outcome":{"_meta":{"feedback":"` + strings.Repeat("a", maxFeedback+9) + `"}}}`:               strings.Repeat("a", maxFeedback) + "…",
	} {
		result, _ := object(json.RawMessage(raw))
		if got := feedbackIn(result, result.sub("outcome")); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}
