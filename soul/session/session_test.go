package session

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kimi-acp/soul/llm"
)

func TestSystemPrompt(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	check(t, s.AppendSystem("be good"))
	if err := s.AppendSystem("be bad"); err == nil {
		t.Error("the system prompt was replaced")
	}
	check(t, s.AppendMessages(user("hi")))
	check(t, s.Close())
	s = open(t, st, "x")
	if got := s.Restored().System; got != "be good" {
		t.Errorf("the prompt is %q", got)
	}
	if err := s.AppendSystem("be bad"); err == nil {
		t.Error("the system prompt was replaced after opening")
	}
}

// An old history gets its system prompt in front.
func TestSystemPromptInFront(t *testing.T) {
	st := newStore(t)
	write(t, place(st, "x", contextName), "{\"role\":\"user\",\"content\":\"hi\"}\n")
	s := open(t, st, "x")
	check(t, s.AppendSystem("be good — always"))
	check(t, s.AppendMessages(assistant("ho")))
	want := `{"role": "_system_prompt", "content": "be good \u2014 always"}` + "\n{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assistant\",\"content\":\"ho\"}\n"
	if got := read(t, place(st, "x", contextName)); got != want {
		t.Errorf("the file holds %q", got)
	}
	check(t, s.Close())
	if s = open(t, st, "x"); skipped(s) != "" {
		t.Errorf("reported %q", skipped(s))
	}
}

func TestRotate(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	check(t, s.AppendSystem("be good"))
	check(t, s.AppendMessages(user("one")))
	old := read(t, place(st, "x", contextName))
	write(t, place(st, "x", "context_4.jsonl"), "older")
	write(t, place(st, "x", "context_007.jsonl"), "not one of ours")
	check(t, s.Rotate())
	if got := read(t, place(st, "x", "context_5.jsonl")); got != old {
		t.Errorf("the old history is %q", got)
	}
	if got := read(t, place(st, "x", contextName)); got != "" {
		t.Errorf("the new history is %q", got)
	}
	if r := s.Restored(); r.System != "" || len(r.Messages) > 0 {
		t.Errorf("restored %+v", r)
	}
	check(t, s.AppendSystem("be better"))
	check(t, s.AppendMessages(user("two")))
	check(t, s.Close())
	s = open(t, st, "x")
	if r := s.Restored(); r.System != "be better" || texts(r.Messages) != "u:two" || skipped(s) != "" {
		t.Errorf("restored %+v", r)
	}
}

func TestRevertTo(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	check(t, s.AppendSystem("be good"))
	check(t, s.AppendCheckpoint(0))
	check(t, s.AppendMessages(user("one"), assistant("two")))
	before := read(t, place(st, "x", contextName))
	check(t, s.AppendCheckpoint(1))
	check(t, s.AppendMessages(user("three")))
	if err := s.RevertTo(7); !errors.Is(err, ErrNoCheckpoint) {
		t.Errorf("going back to nowhere gave %v", err)
	}
	check(t, s.RevertTo(1))
	if got := read(t, place(st, "x", contextName)); got != before {
		t.Errorf("the history is %q, want %q", got, before)
	}
	if got := read(t, place(st, "x", "context_1.jsonl")); !strings.HasSuffix(got, "three\"}\n") {
		t.Errorf("the old history is %q", got)
	}
	if r := s.Restored(); r.Checkpoints != 1 || texts(r.Messages) != "u:one a:two" {
		t.Errorf("restored %+v", r)
	}
	check(t, s.AppendCheckpoint(1))
	check(t, s.AppendMessages(user("again")))
	check(t, s.RevertTo(0))
	if r := s.Restored(); r.System != "be good" || len(r.Messages) > 0 || r.Checkpoints != 0 {
		t.Errorf("restored %+v", r)
	}
}

// Another program that writes to an open session is noticed before anything is
// written behind it.
func TestChangedByAnother(t *testing.T) {
	changes := map[string]func(t *testing.T, path string){
		"appended":  func(t *testing.T, path string) { appendTo(t, path, "{\"role\":\"user\",\"content\":\"hi\"}\n") },
		"shortened": func(t *testing.T, path string) { check(t, os.Truncate(path, 0)) },
		"touched": func(t *testing.T, path string) {
			info, err := os.Stat(path)
			check(t, err)
			later := info.ModTime().Add(1000)
			check(t, os.Chtimes(path, later, later))
		},
		"renamed": func(t *testing.T, path string) {
			check(t, os.Rename(path, filepath.Join(filepath.Dir(path), "context_1.jsonl")))
		},
		"replaced": func(t *testing.T, path string) {
			text := read(t, path)
			check(t, os.Rename(path, filepath.Join(filepath.Dir(path), "context_1.jsonl")))
			write(t, path, text)
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			st := newStore(t)
			s := create(t, st, "x")
			check(t, s.AppendMessages(user("one")))
			path := place(st, "x", contextName)
			change(t, path)
			after, gone := os.ReadFile(path)
			if err := s.RevertTo(0); !errors.Is(err, ErrChanged) {
				t.Errorf("going back gave %v", err)
			}
			for range 2 {
				if err := s.AppendMessages(user("two")); !errors.Is(err, ErrChanged) {
					t.Errorf("the append gave %v", err)
				}
			}
			if got, err := os.ReadFile(path); string(got) != string(after) || (err == nil) != (gone == nil) {
				t.Errorf("the file holds %q, %v", got, err)
			}
			check(t, s.Close())
			check(t, open(t, st, "x").AppendMessages(user("two")))
		})
	}
}

func TestBadMessagesAreNotFinal(t *testing.T) {
	s := create(t, newStore(t), "x")
	s.maxLine = 1000
	bad := llm.Message{Role: "narrator"}
	for _, err := range []error{
		s.AppendMessages(user("one"), bad),
		s.AppendStep(bad, 3),
		s.AppendStep(assistant("x"), 3, bad),
		s.AppendMessages(user(strings.Repeat("x", 1000))),
		s.AppendCheckpoint(-1),
		s.AppendUsage(-1),
		s.AppendStep(assistant("x"), maxNumber+1),
		s.AppendSystem(strings.Repeat("x", 1000)),
	} {
		if err == nil {
			t.Error("it was taken")
		}
	}
	check(t, s.Err())
	check(t, s.AppendMessages())
	check(t, s.AppendMessages(user("two")))
}

func TestClosed(t *testing.T) {
	s := create(t, newStore(t), "x")
	check(t, s.Close())
	check(t, s.Close())
	for name, err := range map[string]error{
		"append":  s.AppendMessages(user("x")),
		"rotate":  s.Rotate(),
		"revert":  s.RevertTo(0),
		"state":   s.UpdateState(func(*State) {}),
		"options": s.SetOptions([]byte("1")),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAppendsAtOnce(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if err := s.AppendMessages(user("x")); err != nil {
					t.Error(err)
				}
				s.Restored()
			}
		})
	}
	wg.Wait()
	check(t, s.Close())
	if s = open(t, st, "x"); len(s.Restored().Messages) != 160 || skipped(s) != "" {
		t.Errorf("%d messages, reported %q", len(s.Restored().Messages), skipped(s))
	}
}

func TestTitle(t *testing.T) {
	st := kimiShare(t, "x")
	s := open(t, st, "x")
	if got := s.Title(); got != "a b<>&\x01\"\\/" {
		t.Errorf("the title is %q", got)
	}
	check(t, s.SetTitle(""))
	if got := s.Title(); got != "a b<>&\x01\"\\/" { // of the first prompt
		t.Errorf("the title is %q", got)
	}
	check(t, s.SetTitle(" my\n title "))
	if got, state := s.Title(), s.State(); got != "my title" || state.CustomTitle != got {
		t.Errorf("the title is %q, in the state %q", got, state.CustomTitle)
	}
	if got := create(t, st, "y").Title(); got != untitled {
		t.Errorf("the title of an empty session is %q", got)
	}
}

func TestShortTitle(t *testing.T) {
	tests := []struct{ prompt, want string }{
		{"", ""},
		{"  a \n\t b ", "a b"},
		{strings.Repeat("é", 50), strings.Repeat("é", 50)},
		{strings.Repeat("é", 51), strings.Repeat("é", 49) + "…"},
		{strings.Repeat("a", 49) + " b", strings.Repeat("a", 49) + "…"},
		{strings.Repeat("a", 40) + " " + strings.Repeat("b", 20), strings.Repeat("a", 40) + "…"},
		{"e\u0301 " + strings.Repeat("a", 60), "e\u0301…"},
		{strings.Repeat("ab ", 30), strings.Repeat("ab ", 15) + "ab…"},
	}
	for _, tt := range tests {
		if got := ShortTitle(tt.prompt); got != tt.want {
			t.Errorf("of %q: %q, want %q", tt.prompt, got, tt.want)
		}
	}
}

// The title and the archive belong to other programs too; the rest is this one's.
func TestStateIsShared(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	check(t, s.UpdateState(func(st *State) { st.PlanMode = true }))
	path := place(st, "x", stateName)
	changed := strings.NewReplacer(`"custom_title": null`, `"custom_title": "theirs"`, `"archived": false`, `"archived": true`, `"plan_mode": true`, `"plan_mode": false`, `"version": 1`, `"version": 1, "later": 7`).Replace(read(t, path))
	write(t, path, changed)
	check(t, s.UpdateState(func(st *State) { st.Approval.Yolo = true }))
	got := s.State()
	if got.CustomTitle != "theirs" || !got.Archived || !got.PlanMode || !got.Approval.Yolo {
		t.Errorf("state %+v", got)
	}
	if text := read(t, path); strings.Contains(text, "later") || !strings.Contains(text, `"plan_mode": true`) {
		t.Errorf("the file holds %s", text)
	}
	got.Todos = append(got.Todos, TodoState{Title: "x"})
	if len(s.State().Todos) > 0 {
		t.Error("the state was changed from outside")
	}
}

func TestDamagedState(t *testing.T) {
	for _, text := range []string{"{", "[]", `{"plan_mode":"yes"}`} {
		st := newStore(t)
		check(t, create(t, st, "x").Close())
		write(t, place(st, "x", stateName), text)
		s := open(t, st, "x")
		if !strings.Contains(skipped(s), "settings of the session cannot be read") || s.State().Version != 1 {
			t.Errorf("%s: reported %q, state %+v", text, skipped(s), s.State())
		}
		check(t, s.SetTitle("t"))
		if got := read(t, filepath.Join(s.OwnDir(), "torn-1")); got != text {
			t.Errorf("%s: kept %q", text, got)
		}
		if got, err := loadState(s.dir); err != nil || got.CustomTitle != "t" {
			t.Errorf("%s: state %+v, %v", text, got, err)
		}
	}
}

// What older versions of kimi-cli wrote is taken over once.
func TestOldState(t *testing.T) {
	st := newStore(t)
	check(t, create(t, st, "x").Close())
	write(t, place(st, "x", legacyName), `{"title":"old","title_generated":true,"title_generate_attempts":2,"archived":true,"archived_at":1.5,"auto_archive_exempt":true,"wire_mtime":2.5}`)
	s := open(t, st, "x")
	got := s.State()
	if got.CustomTitle != "old" || !got.TitleGenerated || got.TitleGenerateAttempts != 2 || !got.Archived || *got.ArchivedAt != 1.5 || !got.AutoArchiveExempt || *got.WireMtime != 2.5 {
		t.Errorf("state %+v", got)
	}
	check(t, s.UpdateState(func(st *State) { st.Archived = false }))
	check(t, s.Close())
	if s = open(t, st, "x"); s.State().Archived || s.State().CustomTitle != "old" {
		t.Errorf("state %+v", s.State())
	}
}

func TestOptions(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	if s.Options() != nil {
		t.Error("there are options already")
	}
	check(t, s.SetOptions(json.RawMessage(`{"model":"m"}`)))
	for _, bad := range []string{"", "{", `"` + strings.Repeat("x", maxOptions) + `"`} {
		if s.SetOptions(json.RawMessage(bad)) == nil {
			t.Errorf("options of %d bytes were taken", len(bad))
		}
	}
	check(t, s.Close())
	s = open(t, st, "x")
	if got := string(s.Options()); got != `{"model":"m"}` {
		t.Errorf("options %s", got)
	}
	write(t, filepath.Join(s.OwnDir(), optionsName), "{")
	if got := s.Options(); got != nil {
		t.Errorf("damaged options are %s", got)
	}
}

// The options of a session that nobody has open can be kept without opening it.
func TestOptionsOfAClosedSession(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	if err := st.SetOptions("x", json.RawMessage(`{}`)); !errors.Is(err, ErrInUse) {
		t.Errorf("of one that is open: %v", err)
	}
	check(t, s.Close())
	check(t, st.SetOptions("x", json.RawMessage(`{"model":"m"}`)))
	if st.SetOptions("x", json.RawMessage(`{`)) == nil {
		t.Error("what is no JSON was kept")
	}
	for id, want := range map[string]error{"y": ErrNotFound, "../x": ErrID} {
		if err := st.SetOptions(id, json.RawMessage(`{}`)); !errors.Is(err, want) {
			t.Errorf("of %s: %v", id, err)
		}
	}
	s = open(t, st, "x")
	if got := string(s.Options()); got != `{"model":"m"}` {
		t.Errorf("kept is %s", got)
	}
	check(t, s.Close())
}
