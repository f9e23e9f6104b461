package acp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
)

// While the arguments of an edit stream, its card shows the text so far and the
// line that is being written.
func TestEditGrowsWhileItStreams(t *testing.T) {
	var text strings.Builder
	for n := range 60 {
		fmt.Fprintf(&text, "line %d of the new file\n", n+1)
	}
	content, err := json.Marshal(text.String())
	if err != nil {
		t.Fatal(err)
	}
	args := `{"path":"new.txt","content":` + string(content) + "}" // in the order of the tool's schema
	var script strings.Builder
	script.WriteString(`tool_call: {"id":"w","name":"WriteFile","arguments":null}` + "\n")
	for piece := range strings.SplitAfterSeq(args, " ") {
		part, err := json.Marshal(map[string]string{"arguments_part": piece})
		if err != nil {
			t.Fatal(err)
		}
		script.WriteString("tool_call_part: " + string(part) + "\n")
	}
	s := stage{scripts: []string{script.String(), "text: done"}}.session(t)
	turn := s.Prompt(acptest.Text("go"))
	if got := turn.Wait(); got != "end_turn" {
		t.Fatalf("ended with %s", got)
	}
	shown, length, line := 0, 0, 0
	for _, u := range turn.Updates() {
		if u.Status != "" && u.Kind == "tool_call_update" {
			break // the call runs: what follows is the change itself
		}
		var card struct {
			Content   []struct{ NewText string }
			Locations []struct{ Line int }
		}
		if err := json.Unmarshal(u.Raw, &card); err != nil || u.Kind != "tool_call_update" || len(card.Content) == 0 || len(card.Locations) == 0 {
			continue
		}
		shown++
		if n := len(card.Content[0].NewText); n <= length || !strings.HasPrefix(text.String(), card.Content[0].NewText) {
			t.Errorf("update %d shows %d bytes after %d", shown, n, length)
		} else {
			length = n
		}
		if card.Locations[0].Line <= line {
			t.Errorf("update %d is at line %d after %d", shown, card.Locations[0].Line, line)
		}
		line = card.Locations[0].Line
	}
	if shown < 3 || shown > 12 {
		t.Errorf("%d updates while %d bytes streamed, want a few", shown, len(args))
	}
	if calls := turn.Calls(); calls[0].Status != "completed" || calls[0].Diffs()[0].NewText != text.String() {
		t.Errorf("the call ends as %+v", calls[0])
	}
}
