package acp_test

import (
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kimi-acp/acp"
	"kimi-acp/contextprovider"
	"kimi-acp/fileop"
	"kimi-acp/internal/acptest"
	"kimi-acp/internal/modeltest"
	"kimi-acp/soul/llm"
)

// typing are the texts that the user has typed and not saved, by path.
type typing map[string]string

func (t typing) Files() []string { return slices.Sorted(maps.Keys(t)) }

func (t typing) Text(path string) (*string, bool) {
	text, ok := t[path]
	return &text, ok
}

// What companions of editors tell of unsaved text lies over the files on disk where the
// editor gives none itself, and only there.
func TestUnsavedTextLiesOverTheFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		can  acptest.Capabilities
		want string
	}{
		{"the editor gives no files", acptest.Capabilities{}, "typed"},
		{"the editor gives files", both, "disk"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "a.txt", "disk canary\n")
			held := typing{filepath.Join(dir, "a.txt"): "typed canary\n", filepath.Join(dir, "new.md"): "new\n"}
			server := modeltest.New(t)
			calls := func(id, tool, arguments string) modeltest.Part { return modeltest.Call(0, id, tool, arguments) }
			for _, part := range []modeltest.Part{
				calls("r", "ReadFile", `{"path":"a.txt"}`), calls("g", "Grep", `{"pattern":"canary","output_mode":"content"}`),
				calls("f", "Glob", `{"pattern":"*.md"}`), calls("w", "WriteFile", `{"path":"a.txt","content":"ours\n"}`), modeltest.Text("done"),
			} {
				server.Push(modeltest.Reply{Parts: []modeltest.Part{part}})
			}
			client := stage{newSoul: overHTTP(t, server), options: acp.Options{Unsaved: func(roots []string) fileop.Unsaved {
				if !slices.Equal(roots, []string{dir}) {
					t.Errorf("asked for %v", roots)
				}
				return held
			}}}.serve(t)
			client.Initialize(c.can)
			if got := client.NewSession(dir).Prompt(acptest.Text("go")).Wait(); got != "end_turn" {
				t.Fatal(got)
			}
			results := map[string]string{}
			for _, m := range server.Requests()[4].Chat.Messages {
				if m.Role == "tool" {
					results[m.ToolCallID] = m.Text()
				}
			}
			for _, id := range []string{"r", "g"} {
				if !strings.Contains(results[id], c.want+" canary") {
					t.Errorf("%s gave %s", id, results[id])
				}
			}
			if typed := c.want == "typed"; strings.Contains(results["f"], "new.md") != typed {
				t.Errorf("of the file that only the editor has is told: %s", results["f"])
			}
			data, err := os.ReadFile(filepath.Join(dir, "a.txt"))
			if want := map[string]string{"typed": "disk canary\n", "disk": "ours\n"}[c.want]; err != nil || string(data) != want {
				t.Errorf("on disk is %q, %v, want %q", data, err, want)
			}
		})
	}
}

// What the user chose in the editor goes to the model with the next prompt, once, and
// the user sees that.
func TestWhatTheUserChoseGoesAlong(t *testing.T) {
	heard, waiting := &overheard{}, []contextprovider.Request(nil)
	options := acp.Options{Moment: func(s acp.MomentSpec) (*contextprovider.Moment, error) {
		waiting = []contextprovider.Request{{Path: filepath.Join(s.Roots[0], "a.go"), From: contextprovider.Position{Line: 3, Column: 1}, To: contextprovider.Position{Line: 3, Column: 9}, Text: "var x = 1"}}
		return contextprovider.NewMoment(contextprovider.MomentOptions{
			SessionID: s.SessionID, Roots: s.Roots, Tokens: llm.EstimateText, Readable: s.Readable, Deadline: time.Minute, Logger: slog.New(slog.DiscardHandler),
			Requests: func(take bool) []contextprovider.Request {
				all := waiting
				if take {
					waiting = nil
				}
				return all
			},
		})
	}}
	_, s := lookingOn(t, listening(heard, options, "text: one", "text: two"))
	s.Prompt(acptest.Text("/help")).Wait() // a command of ours takes nothing
	turn := s.Prompt(acptest.Text("explain"))
	turn.Wait()
	if got := turn.Text(); got != "Sent along, as you chose in the editor: line 3 of `a.go`.\n\none" {
		t.Errorf("the user sees %q", got)
	}
	if got := heard.asked[0]; !strings.HasPrefix(got, "explain<context>") || strings.Count(got, "3| var x = 1\n") != 1 {
		t.Errorf("the model was told: %s", got)
	}
	turn = s.Prompt(acptest.Text("more"))
	turn.Wait()
	if got := heard.asked[1]; got != "more" || turn.Text() != "two" {
		t.Errorf("told again: %s; %s", got, turn.Text())
	}
}
