package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/llm"
)

// kimiShare is a share dir as kimi-cli leaves it.
func kimiShare(t *testing.T, id string) *Store {
	t.Helper()
	st := newStore(t)
	for _, name := range []string{contextName, wireName, stateName} {
		write(t, place(st, id, name), read(t, filepath.Join("testdata", "kimi", name)))
	}
	return st
}

func TestKimiHistory(t *testing.T) {
	st := kimiShare(t, "eae4bcb5-efbc-484c-86c2-9dcbead59c30")
	s := open(t, st, "eae4bcb5-efbc-484c-86c2-9dcbead59c30")
	got := s.Restored()
	if want := "You help with code — take your time.\n\n\"Quotes\", tabs\tand 😀."; got.System != want {
		t.Errorf("system prompt %q, want %q", got.System, want)
	}
	if want := "u:a b<>&\x01\"\\/\t a:sub working — é+tc-1+tc-2 t:tc-1<system>m</system>o t:tc-2<system>ERROR: no shell</system> a:two u: u: u:look a:done"; texts(got.Messages) != want {
		t.Errorf("messages\n%s\nwant\n%s", texts(got.Messages), want)
	}
	if got.Tokens != 120 || got.Counted != 2 || got.Checkpoints != 5 || got.Skipped != nil {
		t.Errorf("tokens %d of %d messages, next checkpoint %d, skipped %q", got.Tokens, got.Counted, got.Checkpoints, got.Skipped)
	}
}

// What kimi-cli wrote and what is written here are the same bytes.
func TestKimiBytes(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "")
	url := "data:image/png;base64,AAAA"
	think := assistant("sub working — é", call("tc-1", `{"a": "1"}`), call("tc-2", `{"command": "echo hi"}`))
	think.Content = append([]llm.Part{llm.Think("hm")}, think.Content...)
	think.ToolCalls[0].Name = "ext"
	for _, err := range []error{
		s.AppendSystem("You help with code — take your time.\n\n\"Quotes\", tabs\tand 😀."),
		s.AppendCheckpoint(0),
		s.AppendMessages(user("a b<>&\x01\"\\/\t")),
		s.AppendCheckpoint(1),
		s.AppendUsage(100),
		s.AppendStep(think, 120, llm.Message{Role: llm.RoleTool, ToolCallID: "tc-1", Content: []llm.Part{llm.Text("<system>m</system>"), llm.Text("o")}}, result("tc-2", "<system>ERROR: no shell</system>")),
		s.AppendCheckpoint(2),
		s.AppendStep(assistant("two"), 0),
		s.AppendCheckpoint(3),
		s.AppendMessages(llm.Message{Role: llm.RoleUser}),
		s.AppendCheckpoint(4),
		s.AppendMessages(user(""), llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Image(url), llm.Text("look")}}, assistant("done")),
	} {
		check(t, err)
	}
	if diff := cmp.Diff(read(t, "testdata/kimi/context.jsonl"), read(t, place(st, s.ID(), contextName))); diff != "" {
		t.Error(diff)
	}
}

// Opening and closing changes nothing of kimi-cli's, and adds nothing to it.
func TestKimiFilesStay(t *testing.T) {
	st := kimiShare(t, "x")
	s := open(t, st, "x")
	check(t, s.Close())
	names, err := os.ReadDir(place(st, "x", ""))
	check(t, err)
	if len(names) != 3 {
		t.Errorf("the folder holds %v", names)
	}
	for _, e := range names {
		path := place(st, "x", e.Name())
		if diff := cmp.Diff(read(t, filepath.Join("testdata", "kimi", e.Name())), read(t, path)); diff != "" {
			t.Errorf("%s: %s", e.Name(), diff)
		}
	}
}

func TestKimiState(t *testing.T) {
	st := kimiShare(t, "x")
	s := open(t, st, "x")
	check(t, s.UpdateState(func(*State) {}))
	if diff := cmp.Diff(read(t, "testdata/kimi/state.json"), read(t, place(st, "x", stateName))); diff != "" {
		t.Error(diff)
	}
	if got := s.State(); got.PlanSlug != "venom-spider-man-magik" || !got.PlanMode || got.Todos[0].Title != "é – one" || *got.WireMtime != 1796036519.9848053 {
		t.Errorf("state %+v", got)
	}
}

func TestNewState(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	if _, err := os.Stat(place(st, "x", stateName)); err == nil {
		t.Error("there is a state before anything was saved")
	}
	whole := 1796036518.0
	check(t, s.UpdateState(func(st *State) { st.ArchivedAt = &whole }))
	want := `{
  "version": 1,
  "approval": {
    "yolo": false,
    "afk": false,
    "auto_approve_actions": []
  },
  "additional_dirs": [],
  "custom_title": null,
  "title_generated": false,
  "title_generate_attempts": 0,
  "plan_mode": false,
  "plan_session_id": null,
  "plan_slug": null,
  "wire_mtime": null,
  "archived": false,
  "archived_at": 1796036518.0,
  "auto_archive_exempt": false,
  "todos": []
}`
	if diff := cmp.Diff(want, read(t, place(st, "x", stateName))); diff != "" {
		t.Error(diff)
	}
}

func TestKimiJSON(t *testing.T) {
	before := read(t, "testdata/kimi/kimi.json")
	entry := `{
      "path": "` + workDir + `",
      "kaos": "local",
      "last_session_id": null
    }`
	tests := []struct{ name, before, after string }{
		{"none", "", "{\n  \"work_dirs\": [\n    " + entry + "\n  ]\n}"},
		{"another", before, strings.Replace(before, "\n    }\n", "\n    },\n    "+entry+"\n", 1)},
		{"there", "{\"work_dirs\":[{\"path\":\"" + workDir + "\"}]}", "{\"work_dirs\":[{\"path\":\"" + workDir + "\"}]}"},
		{"on another machine", `{"work_dirs":[{"path":"` + workDir + `","kaos":"ssh"}]}`, "{\n  \"work_dirs\": [\n    {\n      \"path\": \"" + workDir + "\",\n      \"kaos\": \"ssh\"\n    },\n    " + entry + "\n  ]\n}"},
		{"what is not known", `{"new":1e3,"work_dirs":[],"é":[]}`, "{\n  \"new\": 1e3,\n  \"work_dirs\": [\n    " + entry + "\n  ],\n  \"é\": []\n}"},
		{"damaged", `{"work_dirs":[`, `{"work_dirs":[`},
		{"of another kind", `{"work_dirs":7}`, `{"work_dirs":7}`},
		{"more behind", `{"work_dirs":[]}x`, `{"work_dirs":[]}x`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := newStore(t)
			path := filepath.Join(st.share, kimiName)
			if tt.before != "" {
				write(t, path, tt.before)
			}
			s := create(t, st, "x")
			check(t, s.AppendMessages(user("hi"))) // from here on it counts
			if got := read(t, path); got != tt.after {
				t.Errorf("got %s\nwant %s", got, tt.after)
			}
			if damaged := tt.before == tt.after && tt.name != "there"; damaged != strings.Contains(skipped(s), kimiName) {
				t.Errorf("reported: %q", skipped(s))
			}
		})
	}
}

func TestDeleteForgetsLast(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "gone")
	check(t, s.AppendMessages(user("hi")))
	check(t, s.Close())
	path := filepath.Join(st.share, kimiName)
	write(t, path, strings.Replace(read(t, path), "null", `"gone"`, 1))
	check(t, st.Delete("gone"))
	if got := read(t, path); !strings.Contains(got, `"last_session_id": null`) {
		t.Errorf("kimi.json: %s", got)
	}
}
