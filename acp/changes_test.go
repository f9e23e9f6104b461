package acp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
)

// review is an editor that looks at changes and decides about them.
type review struct {
	*testing.T
	client  *acptest.Client
	session *acptest.Session
	heard   *overheard
}

func newReview(t *testing.T, scripts ...string) *review {
	r := &review{T: t, heard: &overheard{}}
	r.client = stage{
		scripts: scripts,
		newSoul: func(spec acp.SoulSpec, p llm.Provider) (soul.Soul, error) {
			r.heard.Provider = p
			return builtin(spec, r.heard)
		},
	}.serve(t)
	r.client.Initialize(both)
	r.session = r.client.NewSession(t.TempDir())
	return r
}

// reviewed is what the methods answer, as far as the tests look at it.
type reviewed struct {
	Outcomes []struct{ ID, Path, Outcome, Reason string }
	Changes  []struct {
		ID, Kind, Path, NewPath, State, Tool, ToolCallID, Diff string
		Turn                                                   int
		ByCommand                                              bool
		Hunks                                                  []struct {
			Index    int
			NewStart int
			Verdict  string
		}
	}
}

// brief is a line for each change: id, kind, file, state, and the verdicts.
func (r *review) brief(v reviewed) string {
	var lines []string
	for _, c := range v.Changes {
		words := []string{c.ID, c.Kind, filepath.Base(c.Path), c.State}
		for _, h := range c.Hunks {
			words = append(words, strings.TrimSuffix(string(rune('0'+h.Index))+":"+h.Verdict, ":"))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	for _, o := range v.Outcomes {
		lines = append(lines, strings.TrimSpace(strings.Join([]string{o.ID, filepath.Base(o.Path), o.Outcome, o.Reason}, " ")))
	}
	return strings.Join(lines, "\n")
}

func (r *review) ask(method string, params map[string]any) *acptest.Call {
	params["sessionId"] = r.session.ID
	return r.client.Request("_kimi/changes/"+method, params)
}

func (r *review) does(method string, params map[string]any, want string) reviewed {
	r.Helper()
	var v reviewed
	r.ask(method, params).Result(&v)
	if diff := cmp.Diff(want, r.brief(v)); diff != "" {
		r.Errorf("%s %v (-want +got):\n%s", method, params, diff)
	}
	return v
}

func (r *review) say(text string) string {
	r.Helper()
	turn := r.session.Prompt(acptest.Text(text))
	if got := turn.Wait(); got != "end_turn" {
		r.Fatalf("%s ended with %s", text, got)
	}
	return turn.Text()
}

func (r *review) want(name, text string) {
	r.Helper()
	raw, err := os.ReadFile(filepath.Join(r.session.Cwd, name))
	if err != nil {
		raw = []byte("none")
	}
	if string(raw) != text {
		r.Errorf("%s holds %q, want %q", name, raw, text)
	}
}

const (
	reviewBefore = "one\n2\n3\n4\n5\n6\n7\n8\n9\nmiddle\n11\n12\n13\n14\n15\n16\n17\n18\nlast\n"
	reviewAfter  = "ONE\n2\n3\n4\n5\n6\n7\n8\n9\nMIDDLE\n11\n12\n13\n14\n15\n16\n17\n18\nLAST\n"
)

// TestChanges lists the changes of a session, refuses parts of one while the user goes
// on in the same file, keeps others, and refuses a whole. The model is told once.
func TestChanges(t *testing.T) {
	r := newReview(t,
		writeFile("w1", "a.txt", reviewAfter), writeFile("w2", "new.txt", "new\n"), "text: done",
		"text: I see", "text: again")
	put(t, r.session.Cwd, "a.txt", reviewBefore)
	r.does("list", map[string]any{}, "")
	r.say("go")
	v := r.does("list", map[string]any{"diffs": true}, "a1 edit a.txt applied 1 2 3\na2 create new.txt applied 1")
	c := v.Changes[0]
	if !strings.Contains(c.Diff, "+MIDDLE") || c.Turn != 1 || c.Tool != "WriteFile" || c.ToolCallID != "w1" || c.ByCommand || c.Hunks[1].NewStart != 10 {
		t.Errorf("%+v", c)
	}

	// The user goes on in the file: it stays.
	put(t, r.session.Cwd, "a.txt", strings.Replace(reviewAfter, "14\n", "fourteen, mine\n", 1))
	r.does("reject", map[string]any{"id": "a1", "hunks": []int{2}}, "a1 edit a.txt applied 1 2:refused 3\na1 a.txt merged")
	mine := strings.NewReplacer("MIDDLE", "middle", "14\n", "fourteen, mine\n").Replace(reviewAfter)
	r.want("a.txt", mine)
	if err := r.ask("reject", map[string]any{"id": "a1", "hunks": []int{4}}).Fails(-32602); !strings.Contains(err.Message, "a1 has no part 4") {
		t.Errorf("it says %q", err.Message)
	}
	if err := r.ask("accept", map[string]any{"id": "a1", "hunks": []int{2}}).Fails(-32600); !strings.Contains(err.Message, "was refused") {
		t.Errorf("it says %q", err.Message)
	}
	r.does("accept", map[string]any{"id": "a1", "hunks": []int{1}}, "a1 edit a.txt applied 1:kept 2:refused 3")
	r.does("accept", map[string]any{"id": "a1"}, "a1 edit a.txt reviewed 1:kept 2:refused 3:kept")
	r.want("a.txt", mine)
	r.does("reject", map[string]any{"path": "new.txt"}, "a2 create new.txt undone 1\na2 new.txt restored")
	r.want("new.txt", "none")
	r.does("list", map[string]any{}, "a1 edit a.txt reviewed 1:kept 2:refused 3:kept")
	r.does("list", map[string]any{"all": true}, "a1 edit a.txt reviewed 1:kept 2:refused 3:kept\na2 create new.txt undone 1")

	r.say("and now?")
	told := r.heard.asked[len(r.heard.asked)-1]
	for _, part := range []string{
		"Part 1 of your change of " + filepath.Join(r.session.Cwd, "a.txt") + " was kept",
		"Part 2 of your change of " + filepath.Join(r.session.Cwd, "a.txt") + " was refused",
		"Your change of " + filepath.Join(r.session.Cwd, "new.txt") + " was refused",
		"+fourteen, mine",
	} {
		if !strings.Contains(told, part) {
			t.Errorf("%q is not in what the model was told: %s", part, told)
		}
	}
	r.say("once more")
	if again := r.heard.asked[len(r.heard.asked)-1]; strings.Contains(again, "Part 1") {
		t.Errorf("the model is told twice: %s", again)
	}
}

// TestChangesKeptForTheUser: what the user has changed in the same lines is not
// overwritten, and that is no error.
func TestChangesKeptForTheUser(t *testing.T) {
	r := newReview(t, editFile("e1", "a.txt", "two", "TWO"), "text: done")
	put(t, r.session.Cwd, "a.txt", "one\ntwo\nthree\n")
	r.say("go")
	put(t, r.session.Cwd, "a.txt", "one\ntwo by the user\nthree\n")
	for _, params := range []map[string]any{{"id": "a1", "hunks": []int{1}}, {"id": "a1"}, {"path": filepath.Join(r.session.Cwd, "a.txt")}} {
		r.does("reject", params, "a1 edit a.txt applied 1\na1 a.txt kept changed since in the same place")
	}
	r.want("a.txt", "one\ntwo by the user\nthree\n")
}

// TestChangesByCommands: what a command did is listed as its, and taken back.
func TestChangesByCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the command is for a POSIX shell")
	}
	r := newReview(t, shell("s1", "echo made > made.txt; rm gone.txt; echo two >> a.txt"), "text: done")
	put(t, r.session.Cwd, "a.txt", "one\n")
	put(t, r.session.Cwd, "gone.txt", "was here\n")
	r.say("go")
	v := r.does("list", map[string]any{}, "a1 delete gone.txt applied\na2 edit a.txt applied 1\na3 create made.txt applied")
	for _, c := range v.Changes {
		if !c.ByCommand || c.Tool != "Shell" || c.ToolCallID != "s1" {
			t.Errorf("%+v", c)
		}
	}
	r.does("accept", map[string]any{"id": "a3"}, "a3 create made.txt reviewed")
	r.does("reject", map[string]any{"id": "a1"}, "a1 delete gone.txt undone\na1 gone.txt restored")
	r.does("reject", map[string]any{"id": "a2", "hunks": []int{1}}, "a2 edit a.txt undone 1:refused\na2 a.txt restored")
	r.want("gone.txt", "was here\n")
	r.want("a.txt", "one\n")
	r.want("made.txt", "made\n")
}

func TestChangesErrors(t *testing.T) {
	r := newReview(t, editFile("e1", "a.txt", "two", "TWO"), "text: done")
	put(t, r.session.Cwd, "a.txt", "one\ntwo\nthree\n")
	r.say("go")
	r.does("reject", map[string]any{"id": "a1"}, "a1 edit a.txt undone 1\na1 a.txt restored")
	const notFound, invalidParams, invalidRequest = -32002, -32602, -32600
	for _, test := range []struct {
		name   string
		params map[string]any
		code   int
		words  string
	}{
		{"nothing named", map[string]any{}, invalidParams, "the id of a change, or the path"},
		{"both named", map[string]any{"id": "a1", "path": "a.txt"}, invalidParams, "not both"},
		{"no text", map[string]any{"id": 1}, invalidParams, "id must be a string"},
		{"empty id", map[string]any{"id": ""}, invalidParams, "id is empty"},
		{"empty path", map[string]any{"path": ""}, invalidParams, "path is empty"},
		{"hunks of a path", map[string]any{"path": "a.txt", "hunks": []int{1}}, invalidParams, "hunks go with the id"},
		{"no hunks", map[string]any{"id": "a1", "hunks": []int{}}, invalidParams, "at least one"},
		{"odd hunks", map[string]any{"id": "a1", "hunks": "all"}, invalidParams, "list of indexes"},
		{"unknown id", map[string]any{"id": "a9"}, notFound, "no such change"},
		{"unknown hunk", map[string]any{"id": "a1", "hunks": []int{7}}, invalidRequest, "not a change that was made"},
		{"unknown path", map[string]any{"path": "b.txt"}, notFound, "no change of b.txt stands"},
		{"outside", map[string]any{"path": "/etc/passwd"}, notFound, "outside the workspace"},
		{"not standing", map[string]any{"id": "a1"}, invalidRequest, "undone"},
	} {
		for _, method := range []string{"accept", "reject"} {
			t.Run(method+" "+test.name, func(t *testing.T) {
				if err := r.ask(method, test.params).Fails(test.code); !strings.Contains(err.Message, test.words) {
					t.Errorf("it says %q, not %q", err.Message, test.words)
				}
			})
		}
	}
	for _, method := range []string{"list", "accept", "reject"} {
		r.client.Request("_kimi/changes/"+method, map[string]any{"sessionId": "none"}).Fails(notFound)
		r.client.Request("_kimi/changes/"+method, map[string]any{}).Fails(invalidParams)
	}
}

// TestExtensionExamples: what the page shows is JSON, and the errors are those of the
// agent.
func TestExtensionExamples(t *testing.T) {
	page, err := os.ReadFile("../docs/acp-extensions.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := strings.Split(string(page), "```json\n")[1:]
	if len(examples) < 8 {
		t.Errorf("%d examples", len(examples))
	}
	for _, example := range examples {
		text, _, _ := strings.Cut(example, "```")
		if !json.Valid([]byte(text)) {
			t.Errorf("this is no JSON: %s", text)
		}
	}
	if got := newReview(t).ask("accept", map[string]any{"id": "a9"}).Fails(-32002); !strings.Contains(string(page), fmt.Sprintf("%q", got.Message)) {
		t.Errorf("the page does not hold %q", got.Message)
	}
}

// TestExtensionsAreAdvertised: the methods stand in initialize's answer, and those that
// stand there are served and described, under a heading or in a table.
func TestExtensionsAreAdvertised(t *testing.T) {
	c := stage{}.serve(t)
	agent := c.Initialize(both)
	var caps struct {
		Meta struct {
			Kimi struct{ Methods []string } `json:"kimi"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(agent.AgentCapabilities, &caps); err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{
		"_kimi/changes/list", "_kimi/changes/accept", "_kimi/changes/reject",
		"_kimi/editor_state", "_kimi/workspace/active_document", "_kimi/workspace/open_documents", "_kimi/workspace/recent_documents",
	} {
		if !slices.Contains(caps.Meta.Kimi.Methods, method) {
			t.Errorf("%s is not in %v", method, caps.Meta.Kimi.Methods)
		}
	}
	page, err := os.ReadFile("../docs/acp-extensions.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range caps.Meta.Kimi.Methods {
		if !strings.Contains(string(page), "### `"+method+"`") && !strings.Contains(string(page), "\n| `"+method+"` |") {
			t.Errorf("docs/acp-extensions.md does not describe %s", method)
		}
		ask := c.Request
		if !strings.HasPrefix(method, "_") {
			ask = c.Misuse // of a draft, which no schema has yet
		}
		if _, err := ask(method, map[string]any{}).Wait(); err == nil || err.Code == -32601 {
			t.Errorf("%s is advertised and answers %v", method, err)
		}
	}
}

// TestChangesBesideAPrompt: what was changed before a session was brought back is listed
// also when a prompt has just begun to do so.
func TestChangesBesideAPrompt(t *testing.T) {
	s := kept(t, writeFile("w1", "a.txt", "one\n"), "text: done")
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	se.Prompt(acptest.Text("go")).Wait()
	c.Close()
	c = s.again(t, "text: yes")
	se = c.ResumeSession(se.ID, se.Cwd)
	turn := se.Prompt(acptest.Text("and now?"))
	var v reviewed
	c.Request("_kimi/changes/list", map[string]any{"sessionId": se.ID}).Result(&v)
	if len(v.Changes) != 1 || v.Changes[0].ID != "a1" {
		t.Errorf("listed are %+v", v.Changes)
	}
	turn.Wait()
}
