package acp_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	store "kimi-acp/soul/session"
)

// Mode, model and level are as they were; a model that is gone falls back, and the
// user is told.
func TestOptionsAreThereAfterALoad(t *testing.T) {
	s := kept(t)
	s.options.Catalog = twoModels
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	c.Request("session/set_mode", map[string]any{"sessionId": se.ID, "modeId": "plan"}).Result(nil)
	id := twoModels[1].ID
	c.Request("session/set_config_option", map[string]any{"sessionId": se.ID, "configId": "model", "value": id}).Result(nil)
	c.Close()
	c = s.again(t)
	if got := string(c.LoadSession(se.ID, se.Cwd).Opened); !strings.Contains(got, `"currentModeId":"plan"`) || !strings.Contains(got, `"currentValue":"`+id+`"`) {
		t.Errorf("after a load the options are %s", got)
	}
	c.Close()
	s.options.Catalog = twoModels[:1]
	c = s.serve(t)
	c.Initialize(acptest.Capabilities{Notices: true})
	loaded := c.LoadSession(se.ID, se.Cwd)
	loaded.Until("the notice", func(u acptest.Update) bool {
		return u.Kind == "notice" && strings.Contains(string(u.Raw), id)
	})
	if got := string(loaded.Opened); !strings.Contains(got, `"currentValue":"`+twoModels[0].ID+`"`) {
		t.Errorf("without that model the options are %s", got)
	}
}

// What cannot be written is said once, and the talk goes on.
func TestSessionThatCannotBeWritten(t *testing.T) {
	share := t.TempDir()
	s := stage{scripts: []string{"text: one", "text: two", "text: three"}, options: acp.Options{Sessions: store.NewStore(share)}}
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	se.Prompt(acptest.Text("a")).Wait()
	files, err := filepath.Glob(filepath.Join(share, "sessions", "*", se.ID, "context.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte("another program\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	turn := se.Prompt(acptest.Text("b"))
	turn.Wait()
	if got := turn.Text(); !strings.HasPrefix(got, "two") || !strings.Contains(got, "can no longer be saved") {
		t.Errorf("the turn said %q", got)
	}
	turn = se.Prompt(acptest.Text("c"))
	turn.Wait()
	if got := turn.Text(); got != "three" {
		t.Errorf("the next turn said %q", got)
	}
	if raw, err := os.ReadFile(files[0]); err != nil || string(raw) != "another program\n" {
		t.Errorf("the file holds %q, %v", raw, err)
	}
}

// After /clear the model knows nothing of before, and what is shown stays whole.
func TestClearAndLoad(t *testing.T) {
	s := kept(t, "text: one", "text: two")
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	for _, text := range []string{"a", "/clear", "b"} {
		se.Prompt(acptest.Text(text)).Wait()
	}
	live := picture(t, se.Updates())
	c.Close()
	var heard listener
	s.newSoul = heard.soul
	c = s.again(t, "text: three")
	se = c.LoadSession(se.ID, se.Cwd)
	if got := withoutUsers(picture(t, se.Updates())); got != live {
		t.Errorf("loaded it is\n%s\nand it was\n%s", got, live)
	}
	se.Prompt(acptest.Text("c")).Wait()
	if got, want := heard.last(), "user [b]\nassistant [two]\nuser [c]\n"; got != want {
		t.Errorf("the model was asked %q, want %q", got, want)
	}
}

// Draft methods: a fork goes its own way, and a title that somebody gave stays.
func TestForkAndTitle(t *testing.T) {
	s := kept(t, "text: one", "text: two", "text: three")
	var heard listener
	s.newSoul = heard.soul
	c := s.again(t)
	dir := t.TempDir()
	se := c.NewSession(dir)
	c.Request("session/set_title", map[string]any{"sessionId": se.ID, "title": "My talk"}).Result(nil)
	se.Prompt(acptest.Text("a")).Wait()
	var made struct {
		SessionID string `json:"sessionId"`
	}
	c.Request("session/fork", openIn(se.ID, dir)).Result(&made)
	if all := list(t, c, map[string]any{}); len(all.Sessions) != 2 || all.Sessions[0].Title != "Fork: My talk" && all.Sessions[1].Title != "Fork: My talk" {
		t.Errorf("listed are %+v", all.Sessions)
	}
	c.Request("session/close", map[string]any{"sessionId": made.SessionID}).Result(nil)
	fork := c.LoadSession(made.SessionID, dir)
	fork.Prompt(acptest.Text("b")).Wait()
	if got, want := heard.last(), "user [a]\nassistant [one]\nuser [b]\n"; got != want {
		t.Errorf("the fork's model was asked %q, want %q", got, want)
	}
	se.Prompt(acptest.Text("c")).Wait()
	if got, want := heard.last(), "user [a]\nassistant [one]\nuser [c]\n"; got != want {
		t.Errorf("the session's model was asked %q, want %q", got, want)
	}
	turn := se.Prompt(acptest.Text("/title"))
	turn.Wait()
	if got := turn.Text(); !strings.Contains(got, "“My talk”") {
		t.Errorf("/title says %q", got)
	}
}

// A session that cannot be opened is let go of: it can be opened later, and a fork of it
// that nobody got is not there.
func TestSessionThatCannotBeOpened(t *testing.T) {
	s := kept(t, "text: one", "text: two")
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	se.Prompt(acptest.Text("a")).Wait()
	c.Close()
	c = s.again(t)
	without := openIn(se.ID, se.Cwd)
	without["additionalDirectories"] = []string{filepath.Join(t.TempDir(), "none")}
	for _, method := range []string{"session/load", "session/resume", "session/fork"} {
		c.Request(method, without).Fails(-32602)
	}
	if all := list(t, c, map[string]any{}); len(all.Sessions) != 1 {
		t.Errorf("listed are %+v", all.Sessions)
	}
	c.LoadSession(se.ID, se.Cwd).Prompt(acptest.Text("b")).Wait()
	c.Close()

	share := t.TempDir()
	s.options.Sessions = store.NewStore(share)
	s.newSoul = func(acp.SoulSpec, llm.Provider) (soul.Soul, error) { return nil, errors.New("no model") }
	s.again(t).Request("session/new", map[string]any{"cwd": t.TempDir(), "mcpServers": []any{}}).Fails(-32603)
	if left, err := filepath.Glob(filepath.Join(share, "sessions", "*", "*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A load that comes to nothing leaves the session alone that is open.
func TestLoadThatFailsBesideTheOpenSession(t *testing.T) {
	s := kept(t, "text: one", "text: two")
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	se.Prompt(acptest.Text("a")).Wait()
	c.Request("session/load", openIn(se.ID, t.TempDir())).Fails(-32602)
	without := openIn(se.ID, se.Cwd)
	without["additionalDirectories"] = []string{filepath.Join(t.TempDir(), "none")}
	c.Request("session/resume", without).Fails(-32602)
	turn := se.Prompt(acptest.Text("b"))
	if got := turn.Wait(); got != "end_turn" || turn.Text() != "two" {
		t.Errorf("the session ends with %s and says %q", got, turn.Text())
	}
}

func TestSessionsThatAreNotKept(t *testing.T) {
	c := stage{unkept: true, scripts: []string{"text: hi"}}.serve(t)
	if got := string(c.Initialize(both).AgentCapabilities); strings.Contains(got, "resume") || strings.Contains(got, `"loadSession":true`) {
		t.Errorf("offered are %s", got)
	}
	se := c.NewSession(t.TempDir())
	se.Prompt(acptest.Text("hi")).Wait()
	c.Misuse("session/load", openIn(se.ID, se.Cwd)).Fails(-32601)
	c.Request("session/close", map[string]any{"sessionId": se.ID}).Result(nil)
}

// Where nothing can be kept, sessions are made and used all the same.
func TestShareDirThatIsNone(t *testing.T) {
	file := put(t, t.TempDir(), "share", "a file in its place")
	s := stage{scripts: []string{"text: hi"}, options: acp.Options{Sessions: store.NewStore(file)}}
	c := s.serve(t)
	c.Initialize(acptest.Capabilities{Notices: true, Meta: map[string]any{"kimi": map[string]any{"archive": true}}})
	se := c.NewSession(t.TempDir())
	se.Until("the notice", func(u acptest.Update) bool {
		return u.Kind == "notice" && strings.Contains(string(u.Raw), "cannot be kept on disk")
	})
	if got := se.Prompt(acptest.Text("hi")).Wait(); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
	// What needs the files says that there are none.
	if e := c.Request("session/set_title", map[string]any{"sessionId": se.ID, "title": "Mine"}).Fails(-32603); !strings.Contains(e.Message, "not kept") {
		t.Errorf("a title: %s", e.Message)
	}
	if e := c.Misuse("session/unarchive", map[string]any{"sessionId": se.ID}).Fails(-32603); !strings.Contains(e.Message, "not kept") {
		t.Errorf("to take it out of the archive: %s", e.Message)
	}
	c.Request("session/close", map[string]any{"sessionId": se.ID}).Result(nil)
}

// How a session is set is kept, also when it is set while the session is parked, as it
// is after a load.
func TestOptionsOfAParkedSessionAreKept(t *testing.T) {
	s := kept(t, "text: hi")
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	se.Prompt(acptest.Text("hi")).Wait()
	c.Close()
	for _, mode := range []string{"plan", "accept-edits", "yolo"} {
		c = s.again(t)
		c.ResumeSession(se.ID, se.Cwd)
		c.Request("session/set_mode", map[string]any{"sessionId": se.ID, "modeId": mode}).Result(nil)
		c.Close()
		c = s.again(t)
		if got := string(c.LoadSession(se.ID, se.Cwd).Opened); !strings.Contains(got, `"currentModeId":"`+mode+`"`) {
			t.Errorf("after %s it is opened with %s", mode, got)
		}
		c.Request("session/set_config_option", map[string]any{"sessionId": se.ID, "configId": "mode", "value": "default"}).Result(nil)
		c.Request("session/close", map[string]any{"sessionId": se.ID}).Result(nil)
		if got := string(c.LoadSession(se.ID, se.Cwd).Opened); !strings.Contains(got, `"currentModeId":"default"`) {
			t.Errorf("after it was closed it is opened with %s", got)
		}
		c.Close()
	}
}

// A program that is killed while a tool runs has told what the others of the step did:
// the next one knows of it. The folder of the sessions is copied in that moment.
func TestKilledWhileAToolRuns(t *testing.T) {
	s := kept(t, "text: I look.\n"+readFile("r", "a.txt")+shell("sleep", "echo begun; sleep 1000"))
	share := t.TempDir()
	s.options.Sessions = store.NewStore(share)
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	put(t, se.Cwd, "a.txt", "the needle\n")
	turn := se.Prompt(acptest.Text("go"))
	turn.Until("the command", func(u acptest.Update) bool { return u.CallID == "sleep" && u.Status == "in_progress" })
	turn.Until("the file", func(u acptest.Update) bool { return u.CallID == "r" && u.Status == "completed" })
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(share)); err != nil {
		t.Fatal(err)
	}
	se.Cancel()
	turn.Wait()

	var heard listener
	s.newSoul, s.options.Sessions = heard.soul, store.NewStore(copied)
	other := s.again(t, "text: I see")
	again := other.LoadSession(se.ID, se.Cwd)
	again.Prompt(acptest.Text("and now?")).Wait()
	got := heard.last()
	if !strings.Contains(got, "assistant [I look.] +r +sleep\n") || !strings.Contains(got, "the needle") || !strings.Contains(got, "ERROR: The program stopped before the result") || !strings.HasSuffix(got, "user [and now?]\n") {
		t.Errorf("the model was asked %q", got)
	}
}

// What is kept beside a session is not written again by showing it.
func TestLoadingWritesNothingBeside(t *testing.T) {
	share := t.TempDir()
	s := kept(t, editFile("e", "a.txt", "one", "ONE")+todos("t", map[string]any{"title": "first", "status": "pending"}), "text: done")
	s.options.Sessions = store.NewStore(share)
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	put(t, se.Cwd, "a.txt", "one\n")
	se.Prompt(acptest.Text("look at "), acptest.Link("file://"+filepath.Join(se.Cwd, "a.txt"), "a.txt")).Wait()
	c.Close()
	beside := filepath.Join(share, "acp", "sessions", se.ID, "asides.jsonl")
	before, err := os.ReadFile(beside)
	if err != nil || len(before) == 0 {
		t.Fatal(err)
	}
	for range 2 {
		c := s.again(t)
		c.LoadSession(se.ID, se.Cwd)
		c.Close()
	}
	if after, err := os.ReadFile(beside); err != nil || string(after) != string(before) {
		t.Errorf("beside the session stood\n%s\nand stands\n%s, %v", before, after, err)
	}
}
