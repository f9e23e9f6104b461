package acp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/internal/jsonrpc"
	store "kimi-acp/soul/session"
)

// Section E of the checklist: sessions that are kept. A new agent on the same store
// stands for a new process.

// kept is a stage whose sessions outlive its agents.
func kept(t *testing.T, scripts ...string) stage {
	t.Helper()
	return stage{scripts: scripts, options: acp.Options{Sessions: store.NewStore(t.TempDir())}}
}

// again serves the sessions of a stage to another editor.
func (s stage) again(t *testing.T, scripts ...string) *acptest.Client {
	t.Helper()
	if len(scripts) > 0 {
		s.scripts = scripts
	}
	c := s.serve(t)
	c.Initialize(both)
	return c
}

func openIn(id, cwd string) map[string]any {
	return map[string]any{"sessionId": id, "cwd": cwd, "mcpServers": []any{}}
}

func todos(id string, items ...map[string]any) string {
	return toolCall(id, "SetTodoList", map[string]any{"todos": items})
}

const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

func Test056SessionsWithoutAPromptAreKept(t *testing.T) {
	s := kept(t)
	c := s.again(t)
	dir := t.TempDir()
	id := c.NewSession(dir).ID
	c.Close()
	c = s.again(t, "text: hello")
	if got := c.LoadSession(id, dir).Prompt(acptest.Text("hi")).Wait(); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
}

// Two turns with everything in them, a compaction, and a turn that is cancelled look the
// same to the byte when they are loaded.
func Test057To059LoadingShowsWhatWasThere(t *testing.T) {
	s := kept(t,
		"think: hm\ntext: I look.\n"+
			editFile("call_0", "a.txt", "two", "TWO")+todos("call_1", map[string]any{"title": "first", "status": "in_progress", "priority": "high"}, map[string]any{"title": "second", "status": "pending"})+
			shell("call_2", "printf 'out\\n'"),
		"text: Now "+"\ntext: a new file.\n"+writeFile("call_0", "b/new.txt", "new\n")+readFile("call_9", "none.txt"),
		"text: Done.\nusage: {\"input_other\":90,\"output\":10}",
		todos("call_0", map[string]any{"title": "first", "status": "done", "priority": "high"})+readFile("call_3", "a.txt"), "text: Read.\nusage: {\"input_other\":290,\"output\":10}",
		"text: The user reads files.",
		shell("call_0", "echo begun; sleep 100"),
	)
	again := func() *acptest.Client {
		c := s.serve(t)
		c.AllowDrafts()
		c.Initialize(acptest.Capabilities{ReadTextFile: true, WriteTextFile: true, Compaction: true})
		return c
	}
	c := again()
	c.OnPermission = acptest.Choose("allow_once")
	se := c.NewSession(t.TempDir())
	put(t, se.Cwd, "a.txt", "one\ntwo\nthree\n")
	prompt := []acptest.Block{
		acptest.Text("look at "), acptest.Link("file://"+filepath.Join(se.Cwd, "a.txt"), "a.txt"),
		acptest.Resource("file:///elsewhere/b.txt", "embedded </mention> text"), acptest.Image("image/png", onePixel), acptest.Text("please"),
	}
	if got := se.Prompt(prompt...).Wait(); got != "end_turn" {
		t.Fatalf("the first turn ended with %s", got)
	}
	se.Prompt(acptest.Text("and again")).Wait()
	compact := se.Prompt(acptest.Text("/compact"))
	compact.Wait()
	if seen, _ := compactions(compact.Updates()); seen != "compaction-1 in_progress\ncompaction-1 completed\n" {
		t.Errorf("the compaction was seen as %q", seen)
	}
	stopped := se.Prompt(acptest.Text("run it"))
	stopped.Until("the command", acptest.HasStatus("in_progress"))
	se.Cancel()
	stopped.Wait()
	live := picture(t, se.Updates())
	c.Close()

	// The world goes on; loading does not look at it.
	put(t, se.Cwd, "a.txt", "changed\n")
	c = again()
	loaded := c.LoadSession(se.ID, se.Cwd)
	replayed := picture(t, loaded.Updates())
	if got := withoutUsers(replayed); got != live {
		t.Errorf("loaded it is\n%s\nand it was\n%s", got, live)
	}
	var said [][]acptest.Block
	last := ""
	for _, u := range loaded.Updates() {
		if u.Kind != "user_message_chunk" {
			continue
		}
		var chunk struct {
			Content acptest.Block `json:"content"`
		}
		if err := json.Unmarshal(u.Raw, &chunk); err != nil {
			t.Fatal(err)
		}
		if u.MessageID != last {
			said, last = append(said, nil), u.MessageID
		}
		said[len(said)-1] = append(said[len(said)-1], chunk.Content)
	}
	want, _ := json.Marshal([][]acptest.Block{prompt, {acptest.Text("and again")}, {acptest.Text("/compact")}, {acptest.Text("run it")}})
	if got, _ := json.Marshal(said); string(got) != string(want) {
		t.Errorf("the user said\n%s\nwant\n%s", got, want)
	}
	for _, m := range fromAgent(t, c) {
		if m.Method != "" && m.Method != "session/update" {
			t.Errorf("loading asked for %s", m.Method)
		}
	}
	if got, err := os.ReadFile(filepath.Join(se.Cwd, "a.txt")); err != nil || string(got) != "changed\n" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	// Behind the answer comes no past.
	var answered bool
	for _, line := range c.Lines() {
		answered = answered || strings.Contains(string(line.Text), `"configOptions"`) && strings.Contains(string(line.Text), `"result"`)
		if answered && strings.Contains(string(line.Text), "_chunk") {
			t.Errorf("behind the answer came %s", line.Text)
		}
	}
	if !answered || !strings.Contains(string(loaded.Opened), `"currentModeId":"default"`) {
		t.Errorf("the answer is %s", loaded.Opened)
	}
}

func Test060MessageIDsAreUniqueAndStay(t *testing.T) {
	s := kept(t, "think: a\ntext: b", "text: c")
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	se.Prompt(acptest.Text("one")).Wait()
	se.Prompt(acptest.Text("two")).Wait()
	c.Close()
	ids := func(c *acptest.Client) (all []string) {
		for _, u := range c.LoadSession(se.ID, se.Cwd).Updates() {
			if u.MessageID != "" && (len(all) == 0 || all[len(all)-1] != u.MessageID) {
				all = append(all, u.MessageID)
			}
		}
		return all
	}
	// Both agents have the session open at once: nobody has said anything in it yet.
	one, two := ids(s.again(t)), ids(s.again(t))
	if !slices.Equal(one, two) || len(one) != 5 {
		t.Errorf("the ids are %q and %q", one, two)
	}
	slices.Sort(one)
	if len(slices.Compact(one)) != 5 {
		t.Errorf("of the ids %q some stand twice", two)
	}
}

func Test061LoadedSessionsGoOn(t *testing.T) {
	s := kept(t, readFile("call_0", "none"), "text: quokka, I see")
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	se.Prompt(acptest.Text("remember quokka")).Wait()
	c.Close()
	var heard listener
	s.newSoul = heard.soul
	c = s.again(t, readFile("call_0", "none"), "text: quokka", "text: again")
	se = c.LoadSession(se.ID, se.Cwd)
	turn := se.Prompt(acptest.Text("what was it?"))
	turn.Wait()
	if got := turn.Calls()[0].ID; got != "call_0~2" {
		t.Errorf("the new call has the id %q", got)
	}
	if got := heard.last(); !strings.HasPrefix(got, "user [remember quokka]\nassistant +call_0\ntool [") || !strings.Contains(got, "assistant [quokka, I see]\nuser [what was it?]\n") {
		t.Errorf("the model was asked %q", got)
	}
	c.Request("session/close", map[string]any{"sessionId": se.ID}).Result(nil)
	se = c.LoadSession(se.ID, se.Cwd)
	se.Prompt(acptest.Text("and now?")).Wait()
	if got := heard.last(); !strings.Contains(got, "what was it?") {
		t.Errorf("after a close the model was asked %q", got)
	}
}

func Test062LoadWithAnotherFolder(t *testing.T) {
	s := kept(t)
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	c.Close()
	c = s.again(t)
	for _, method := range []string{"session/load", "session/resume"} {
		if e := c.Misuse(method, openIn(se.ID, t.TempDir())).Fails(jsonrpc.CodeInvalidParams); !strings.Contains(e.Message, se.Cwd) {
			t.Errorf("%s said %q", method, e.Message)
		}
	}
	c.LoadSession(se.ID, se.Cwd)
}

func Test063LoadWhileATurnRuns(t *testing.T) {
	s := kept(t, hangs)
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	turn := se.Prompt(acptest.Text("go"))
	turn.Until("the model", acptest.IsKind("agent_message_chunk"))
	c.Misuse("session/load", openIn(se.ID, se.Cwd)).Fails(jsonrpc.CodeInvalidRequest)
	// And from another program, which does not know that.
	other := s.again(t)
	if e := other.Misuse("session/load", openIn(se.ID, se.Cwd)).Fails(jsonrpc.CodeInvalidRequest); !strings.Contains(e.Message, "another window") {
		t.Errorf("said %q", e.Message)
	}
	se.Cancel()
	if got := turn.Wait(); got != "cancelled" {
		t.Errorf("the turn ended with %s", got)
	}
}

func Test064ResumeShowsNoPast(t *testing.T) {
	s := kept(t, readFile("call_0", "none")+"text: one", "text: two")
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	se.Prompt(acptest.Text("say")).Wait()
	live := se.Updates()
	c.Close()
	var heard listener
	s.newSoul = heard.soul
	c = s.again(t, readFile("call_0", "none")+"text: three", "text: four")
	se = c.ResumeSession(se.ID, se.Cwd)
	turn := se.Prompt(acptest.Text("go on"))
	turn.Wait()
	for _, u := range se.Updates()[:len(se.Updates())-len(turn.Updates())] {
		if u.Kind != "available_commands_update" {
			t.Errorf("ahead of the prompt came %s", u.Raw)
		}
	}
	if !strings.Contains(heard.last(), "user [say]") {
		t.Errorf("the model was asked %q", heard.last())
	}
	// No id of before is given again.
	seen := map[string]bool{}
	for _, u := range live {
		seen[u.MessageID], seen[u.CallID] = true, true
	}
	for _, u := range turn.Updates() {
		if u.MessageID != "" && seen[u.MessageID] || u.CallID != "" && seen[u.CallID] {
			t.Errorf("an id of before was given again: %s", u.Raw)
		}
	}
	c.Close()
	all := picture(t, append(live, turn.Updates()...))
	c = s.again(t)
	if got := withoutUsers(picture(t, c.LoadSession(se.ID, se.Cwd).Updates())); got != all {
		t.Errorf("loaded it is\n%s\nand it was\n%s", got, all)
	}
}

type listed struct {
	Sessions []struct {
		SessionID, Cwd, Title, UpdatedAt string
	} `json:"sessions"`
	NextCursor *string `json:"nextCursor"`
}

func list(t *testing.T, c *acptest.Client, params map[string]any) listed {
	t.Helper()
	var got listed
	c.Request("session/list", params).Result(&got)
	return got
}

func Test065To067List(t *testing.T) {
	s := kept(t)
	c := s.again(t, slices.Repeat([]string{"text: hi"}, 60)...)
	var raw json.RawMessage
	c.Request("session/list", map[string]any{}).Result(&raw)
	if string(raw) != `{"sessions":[]}` {
		t.Errorf("an empty store gives %s", raw)
	}
	one, two := t.TempDir(), t.TempDir()
	want := map[string]bool{}
	for range 53 {
		se := c.NewSession(one)
		se.Prompt(acptest.Text("Say hi,  and\nnothing else")).Wait()
		want[se.ID] = true
	}
	other := c.NewSession(two)
	other.Prompt(acptest.Text("hi")).Wait()
	c.NewSession(two) // nothing was said in it
	page := list(t, c, map[string]any{"cwd": two})
	if len(page.Sessions) != 1 || page.Sessions[0].SessionID != other.ID || page.Sessions[0].Cwd != two || page.Sessions[0].Title != "hi" || page.NextCursor != nil {
		t.Errorf("in the other folder there are %+v", page)
	}
	if at, err := time.Parse(time.RFC3339, page.Sessions[0].UpdatedAt); err != nil || time.Since(at) > time.Hour {
		t.Errorf("it was updated at %q", page.Sessions[0].UpdatedAt)
	}
	lines := func() (n int) {
		for _, m := range fromAgent(t, c) {
			if !strings.Contains(string(m.Params), "available_commands_update") { // that of the last session may be late
				n++
			}
		}
		return n
	}
	before := lines()
	pages := 0
	for cursor := (*string)(nil); ; pages++ {
		params := map[string]any{"cwd": one}
		if cursor != nil {
			params["cursor"] = *cursor
		}
		page := list(t, c, params)
		for _, info := range page.Sessions {
			if !want[info.SessionID] || info.Title != "Say hi, and nothing else" {
				t.Errorf("listed is %+v", info)
			}
			delete(want, info.SessionID)
		}
		if cursor = page.NextCursor; cursor == nil {
			break
		}
	}
	if len(want) > 0 || pages != 1 {
		t.Errorf("%d sessions are missing, in %d pages", len(want), pages+1)
	}
	if after := lines(); after != before+2 {
		t.Errorf("listing brought %d lines", after-before)
	}
	if all := list(t, c, map[string]any{}); len(all.Sessions) != 50 {
		t.Errorf("the first page of all has %d sessions", len(all.Sessions))
	}
	c.Misuse("session/list", map[string]any{"cursor": "garbage"}).Fails(jsonrpc.CodeInvalidParams)
	c.Misuse("session/list", map[string]any{"cwd": "src"}).Fails(jsonrpc.CodeInvalidParams)
}

func Test068Delete(t *testing.T) {
	s := kept(t, "text: hi", "text: ho", hangs)
	c := s.again(t)
	dir := t.TempDir()
	se, keep := c.NewSession(dir), c.NewSession(dir)
	se.Prompt(acptest.Text("hi")).Wait()
	keep.Prompt(acptest.Text("ho")).Wait()
	running := c.NewSession(dir)
	turn := running.Prompt(acptest.Text("run"))
	turn.Until("the model", acptest.IsKind("agent_message_chunk"))
	for _, id := range []string{se.ID, se.ID, "no-such-session", "../../etc", running.ID} {
		c.Request("session/delete", map[string]any{"sessionId": id}).Result(nil)
	}
	if got := turn.Wait(); got != "cancelled" {
		t.Errorf("the turn of a session that was deleted ended with %s", got)
	}
	if all := list(t, c, map[string]any{}); len(all.Sessions) != 1 || all.Sessions[0].SessionID != keep.ID {
		t.Errorf("listed are %+v", all.Sessions)
	}
	c.Misuse("session/load", openIn(se.ID, dir)).Fails(-32002)
}

func Test069To070Close(t *testing.T) {
	s := kept(t, hangs)
	c := s.again(t)
	se := c.NewSession(t.TempDir())
	turn, queued := se.Prompt(acptest.Text("one")), se.Prompt(acptest.Text("two"))
	turn.Until("the model", acptest.IsKind("agent_message_chunk"))
	closing := c.Request("session/close", map[string]any{"sessionId": se.ID})
	closing.Result(nil)
	if !turn.Call().Answered() || !queued.Call().Answered() {
		t.Error("the close was answered ahead of the prompts")
	}
	if one, two := turn.Wait(), queued.Wait(); one != "cancelled" || two != "cancelled" {
		t.Errorf("the turns ended with %s and %s", one, two)
	}
	if all := list(t, c, map[string]any{}); len(all.Sessions) != 1 {
		t.Errorf("listed are %+v", all.Sessions)
	}
	for method, more := range map[string]map[string]any{
		"session/prompt": {"prompt": []any{acptest.Text("hi")}}, "session/close": {}, "session/set_mode": {"modeId": "plan"},
	} {
		more["sessionId"] = se.ID
		c.Misuse(method, more).Fails(-32002)
	}
}
