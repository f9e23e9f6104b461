package acp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/jsonrpc"
)

// Section D of the checklist: session setup.

func newSession(cwd any) map[string]any { return map[string]any{"cwd": cwd, "mcpServers": []any{}} }

// put makes a file in a folder and gives its path.
func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func Test044SessionsAreSeparate(t *testing.T) {
	var heard listener
	c := stage{scripts: []string{"text: a", "text: b", "text: c"}, newSoul: heard.soul}.serve(t)
	c.Initialize(both)
	one, two := c.NewSession(t.TempDir()), c.NewSession(t.TempDir())
	if one.ID == "" || one.ID == two.ID {
		t.Fatalf("the ids are %q and %q", one.ID, two.ID)
	}
	one.Prompt(acptest.Text("first")).Wait()
	two.Prompt(acptest.Text("second")).Wait()
	if got, want := heard.last(), "user [second]\n"; got != want {
		t.Errorf("the second session's model was asked %q, want %q", got, want)
	}
	one.Prompt(acptest.Text("third")).Wait()
	if got, want := heard.last(), "user [first]\nassistant [a]\nuser [third]\n"; got != want {
		t.Errorf("the first session's model was asked %q, want %q", got, want)
	}
}

func Test045WorkingDirectory(t *testing.T) {
	c := stage{}.serve(t)
	c.Initialize(both)
	dir := t.TempDir()
	file := put(t, dir, "a.txt", "x")
	for _, w := range []struct {
		name   string
		params map[string]any
		say    string
	}{
		{"relative", newSession("src"), "absolute"},
		{"empty", newSession(""), "empty"},
		{"missing", map[string]any{"mcpServers": []any{}}, "cwd is missing"},
		{"null", newSession(nil), "string"},
		{"a number", newSession(7), "string"},
		{"a NUL byte", newSession("/a\x00b"), "NUL"},
		{"not there", newSession(filepath.Join(dir, "none")), "none"},
		{"a file", newSession(file), "a.txt"},
	} {
		t.Run(w.name, func(t *testing.T) {
			if e := c.Misuse("session/new", w.params).Fails(jsonrpc.CodeInvalidParams); !strings.Contains(e.Message, w.say) {
				t.Errorf("said %q, want something of %q", e.Message, w.say)
			}
		})
	}
	if n := len(asked(t, c, "session/update")); n != 0 {
		t.Errorf("%d updates of sessions that were not made", n)
	}
}

func Test046ToolsRunInTheWorkingDirectory(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := stage{scripts: []string{shell("s", "pwd") + writeFile("w", "made.txt", "x"), "text: done"}}.serve(t)
	c.Initialize(acptest.Capabilities{})
	turn := c.NewSession(dir).Prompt(acptest.Text("go"))
	turn.Wait()
	if got := turn.Calls()[0].Text(); !strings.Contains(got, dir) {
		t.Errorf("the command ran in %q, want %s", got, dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "made.txt")); err != nil {
		t.Error(err)
	}
}

// The schema calls mcpServers required and lets a bad one count as its default;
// we take anything for none.
func Test050MCPServersMayBeMissing(t *testing.T) {
	c := stage{}.serve(t)
	c.Initialize(both)
	dir := t.TempDir()
	for _, params := range []map[string]any{
		{"cwd": dir},
		{"cwd": dir, "mcpServers": nil},
		{"cwd": dir, "mcpServers": "none"},
		{"cwd": dir, "mcpServers": []any{nil, 5, map[string]any{"type": "ws"}}},
	} {
		c.Misuse("session/new", params).Result(nil)
	}
}

func Test051To052FirstUpdates(t *testing.T) {
	for _, w := range []struct {
		editor string
		want   int // lists of commands in all
	}{
		{"zed", 2}, {"", 2}, {"unheard-of", 2}, {"QtCreator", 1},
	} {
		c := stage{scripts: []string{"text: a", "text: b"}}.serve(t)
		c.Name = w.editor
		c.Initialize(both)
		s := c.NewSession(t.TempDir())
		s.Prompt(acptest.Text("one")).Wait()
		s.Prompt(acptest.Text("two")).Wait()
		commands, made := 0, false
		for _, m := range fromAgent(t, c) {
			if strings.Contains(string(m.Result), s.ID) {
				made = true
			}
			if m.Method == "session/update" && !made {
				t.Errorf("%q: an update before the answer to session/new: %s", w.editor, m.Params)
			}
			if strings.Contains(string(m.Params), "available_commands_update") {
				commands++
			}
		}
		if commands != w.want {
			t.Errorf("%q: the commands were sent %d times, want %d", w.editor, commands, w.want)
		}
	}
}

func Test053AdditionalDirectories(t *testing.T) {
	root, more, alien := t.TempDir(), t.TempDir(), t.TempDir()
	inside, outside := put(t, more, "in.txt", "from the second root\n"), put(t, alien, "out.txt", "secret\n")
	c := stage{scripts: []string{readFile("in", inside) + readFile("out", outside), "text: done", readFile("in", inside), "text: done"}}.serve(t)
	c.OnPermission = acptest.Choose("reject_once") // what lies outside is asked for
	c.Initialize(both)
	open := func(params map[string]any) []acptest.ToolCall {
		t.Helper()
		var made struct {
			SessionID string `json:"sessionId"`
		}
		c.Misuse("session/new", params).Result(&made)
		c.Misuse("session/prompt", map[string]any{"sessionId": made.SessionID, "prompt": []any{acptest.Text("go")}}).Result(nil)
		var updates []acptest.Update
		for _, raw := range asked(t, c, "session/update") {
			var n struct {
				SessionID string          `json:"sessionId"`
				Update    json.RawMessage `json:"update"`
			}
			var call struct {
				ID string `json:"toolCallId"`
			}
			if json.Unmarshal([]byte(raw), &n) != nil || json.Unmarshal(n.Update, &call) != nil {
				t.Fatal(raw)
			}
			if n.SessionID == made.SessionID && call.ID != "" {
				updates = append(updates, acptest.Update{CallID: call.ID, Raw: n.Update})
			}
		}
		return acptest.Fold(updates)
	}
	for _, bad := range []any{[]any{"src"}, []any{more, ""}} {
		c.Misuse("session/new", map[string]any{"cwd": root, "additionalDirectories": bad}).Fails(jsonrpc.CodeInvalidParams)
	}
	// Items of another kind are dropped, as the schema says.
	calls := open(map[string]any{"cwd": root, "additionalDirectories": []any{7, more, nil}})
	if calls[0].Status != "completed" || calls[1].Status != "failed" {
		t.Errorf("with the second root: inside %s, outside %s", calls[0].Status, calls[1].Status)
	}
	if calls := open(map[string]any{"cwd": root}); calls[0].Status != "failed" {
		t.Errorf("without it: %s", calls[0].Status)
	}
}

func Test054To055UnknownSession(t *testing.T) {
	c := stage{}.serve(t)
	agent := c.Initialize(both)
	for method, offered := range offers(t, agent, c.NewSession(t.TempDir()).Opened) {
		switch method {
		case "session/list", "session/delete", "logout": // know no session, or none is success
			continue
		}
		code := -32002
		if !offered {
			code = jsonrpc.CodeMethodNotFound
		}
		c.Misuse(method, map[string]any{
			"sessionId": "no-such", "cwd": t.TempDir(), "mcpServers": []any{}, "modeId": "x", "configId": "x", "value": "x",
		}).Fails(code)
	}
	long := strings.Repeat("s", 10_000)
	for id, want := range map[string]string{"no-such": "no-such", "": "", long: long[:200] + "…"} {
		e := c.Misuse("session/prompt", map[string]any{"sessionId": id, "prompt": []any{acptest.Text("x")}}).Fails(-32002)
		var data struct {
			SessionID *string `json:"sessionId"`
		}
		if err := json.Unmarshal(e.Data, &data); err != nil || data.SessionID == nil || *data.SessionID != want {
			t.Errorf("data is %s, want the session id", e.Data)
		}
	}
	for _, id := range []any{nil, 5, []any{}} {
		c.Misuse("session/prompt", map[string]any{"sessionId": id, "prompt": []any{acptest.Text("x")}}).Fails(jsonrpc.CodeInvalidParams)
	}
	if got := replies(t, c, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"no-such"}}`+"\n"); got != "" {
		t.Errorf("a cancel was answered: %s", got)
	}
}

// A session that was made and never prompted is one like any other, or none: it
// can be loaded, or is unknown, as the offer says.
func Test056SessionsWithoutAPrompt(t *testing.T) {
	c := stage{}.serve(t)
	agent := c.Initialize(both)
	s := c.NewSession(t.TempDir())
	load := c.Misuse("session/load", map[string]any{"sessionId": s.ID, "cwd": s.Cwd, "mcpServers": []any{}})
	if !offers(t, agent, s.Opened)["session/load"] {
		load.Fails(jsonrpc.CodeMethodNotFound)
	} else if _, err := load.Wait(); err != nil && err.Code != -32002 {
		t.Errorf("answered %v", err)
	}
}
