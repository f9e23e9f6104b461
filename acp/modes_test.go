package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/scripted"
)

// shelf is a catalog of scripted models; each says its own name and level.
type shelf []acp.ModelChoice

func (s shelf) Models() []acp.ModelChoice { return s }

func (s shelf) Provider(model, level string) (llm.Provider, error) {
	if model == "broken" {
		return nil, errors.New("its key is missing")
	}
	script := "text: " + model + " " + level
	return scripted.New([]string{script, script, script}, llm.Model{Name: model, ContextSize: 1000}), nil
}

var twoModels = shelf{
	{ID: "fast", Name: "Fast"},
	{ID: "deep", Name: "Deep", Description: "thinks", Levels: []acp.ThoughtLevel{{ID: "on", Name: "On"}, {ID: "off", Name: "Off"}}},
	{ID: "broken", Name: "Broken"},
}

type openedSession struct {
	Modes struct {
		CurrentModeID  string `json:"currentModeId"`
		AvailableModes []struct {
			ID string `json:"id"`
		} `json:"availableModes"`
	} `json:"modes"`
	ConfigOptions []option `json:"configOptions"`
}

type option struct {
	ID           string `json:"id"`
	Category     string `json:"category"`
	CurrentValue string `json:"currentValue"`
	Options      []struct {
		Value string `json:"value"`
	} `json:"options"`
}

// brief renders options as id=current(values).
func brief(options []option) string {
	var out []string
	for _, o := range options {
		var values []string
		for _, v := range o.Options {
			values = append(values, v.Value)
		}
		out = append(out, o.ID+"="+o.CurrentValue+"("+strings.Join(values, ",")+")")
	}
	return strings.Join(out, " ")
}

func open(t *testing.T, s stage) (*acptest.Session, *acptest.Client, openedSession) {
	t.Helper()
	c := s.serve(t)
	c.Initialize(both)
	session := c.NewSession(t.TempDir())
	var o openedSession
	if err := json.Unmarshal(session.Opened, &o); err != nil {
		t.Fatal(err)
	}
	return session, c, o
}

const modeOption = "mode=default(default,accept-edits,plan,yolo)"

func TestSessionTellsModesAndOptions(t *testing.T) {
	_, _, o := open(t, stage{options: acp.Options{Catalog: twoModels}})
	if o.Modes.CurrentModeID != "default" || len(o.Modes.AvailableModes) != 4 {
		t.Errorf("modes %+v", o.Modes)
	}
	if got, want := brief(o.ConfigOptions), modeOption+" model=fast(fast,deep,broken)"; got != want {
		t.Errorf("options %s, want %s", got, want)
	}
}

func TestModeAndOptionStayInSync(t *testing.T) {
	s, c, _ := open(t, stage{})
	c.Request("session/set_mode", map[string]any{"sessionId": s.ID, "modeId": "plan"}).Result(nil)
	u := s.Until("the options", acptest.IsKind("config_option_update"))
	if !strings.Contains(string(u.Raw), `"currentValue":"plan"`) {
		t.Errorf("after set_mode the options are %s", u.Raw)
	}
	var r openedSession
	c.Request("session/set_config_option", map[string]any{"sessionId": s.ID, "configId": "mode", "value": "yolo"}).Result(&r)
	if got := brief(r.ConfigOptions); got != strings.Replace(modeOption, "=default", "=yolo", 1) {
		t.Errorf("the answer lists %s", got)
	}
	u = s.Until("the mode", acptest.IsKind("current_mode_update"))
	if !strings.Contains(string(u.Raw), `"currentModeId":"yolo"`) {
		t.Errorf("after the option the mode is %s", u.Raw)
	}
}

func TestUnknownModesAndOptionsAreRefused(t *testing.T) {
	s, c, _ := open(t, stage{options: acp.Options{Catalog: twoModels}})
	for _, r := range []struct {
		method string
		params map[string]any
	}{
		{"session/set_mode", map[string]any{"modeId": "auto"}},
		{"session/set_mode", map[string]any{"modeId": ""}},
		{"session/set_mode", map[string]any{}},
		{"session/set_mode", map[string]any{"modeId": 5}},
		{"session/set_config_option", map[string]any{"configId": "colour", "value": "red"}},
		{"session/set_config_option", map[string]any{"configId": "mode", "value": "auto"}},
		{"session/set_config_option", map[string]any{"configId": "mode"}},
		{"session/set_config_option", map[string]any{"configId": "mode", "value": true, "type": "boolean"}},
		{"session/set_config_option", map[string]any{"configId": "thought_level", "value": "on"}}, // the model has none
		{"session/set_config_option", map[string]any{"configId": "model", "value": "gone"}},
	} {
		r.params["sessionId"] = s.ID
		c.Misuse(r.method, r.params).Fails(-32602)
	}
	if e := c.Misuse("session/set_config_option", map[string]any{"sessionId": s.ID, "configId": "model", "value": "broken"}).Fails(-32602); !strings.Contains(e.Message, "its key is missing") {
		t.Errorf("a model that cannot be used is refused with %q", e.Message)
	}
	c.Misuse("session/set_mode", map[string]any{"sessionId": "nope", "modeId": "plan"}).Fails(-32002)
	// Whatever type is named, a string is the id of a value.
	c.Misuse("session/set_config_option", map[string]any{"sessionId": s.ID, "configId": "mode", "value": "plan", "type": "toggle"}).Result(nil)
}

func TestModelOptionTakesEffectWithTheNextRequest(t *testing.T) {
	s, c, _ := open(t, stage{options: acp.Options{Catalog: twoModels}, scripts: []string{"text: the first"}})
	say := func() string {
		turn := s.Prompt(acptest.Text("who are you?"))
		turn.Wait()
		return turn.Text()
	}
	set := func(id, value string) string {
		var r openedSession
		c.Request("session/set_config_option", map[string]any{"sessionId": s.ID, "configId": id, "value": value}).Result(&r)
		return brief(r.ConfigOptions)
	}
	if got := set("model", "deep"); got != modeOption+" model=deep(fast,deep,broken) thought_level=on(on,off)" {
		t.Errorf("with the model come the options %s", got)
	}
	if got := say(); got != "deep on" {
		t.Errorf("the model that answers is %q", got)
	}
	set("thought_level", "off")
	if got := say(); got != "deep off" {
		t.Errorf("with another level %q answers", got)
	}
	if got := set("model", "fast"); got != modeOption+" model=fast(fast,deep,broken)" {
		t.Errorf("back again the options are %s", got)
	}
	if got := say(); got != "fast" {
		t.Errorf("back again %q answers", got)
	}
}

// Logging in does not mend settings, so an editor must not be told to ask for it.
func TestDefaultModelCannotBeUsed(t *testing.T) {
	c := stage{options: acp.Options{Catalog: twoModels[2:]}}.serve(t)
	c.Initialize(both)
	e := c.Request("session/new", map[string]any{"cwd": t.TempDir(), "mcpServers": []any{}}).Fails(-32603)
	if !strings.Contains(e.Message, "its key is missing") {
		t.Errorf("refused with %q", e.Message)
	}
}

func TestOldClientsSetTheModel(t *testing.T) {
	s, c, _ := open(t, stage{options: acp.Options{Catalog: twoModels}})
	c.Misuse("session/set_model", map[string]any{"sessionId": s.ID, "modelId": "deep"}).Result(nil)
	s.Until("the options", acptest.IsKind("config_option_update"))
	c.Misuse("session/set_model", map[string]any{"sessionId": s.ID, "modelId": "gone"}).Fails(-32602)
}

func TestOptionsAreHiddenFromEditorsThatFailOnThem(t *testing.T) {
	c := stage{options: acp.Options{Catalog: twoModels}}.serve(t)
	c.Name, c.Version = "JetBrains.PyCharm", "2026.1.2"
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	if strings.Contains(string(s.Opened), "configOptions") || !strings.Contains(string(s.Opened), "availableModes") {
		t.Errorf("the session openedSession with %s", s.Opened)
	}
	c.Request("session/set_mode", map[string]any{"sessionId": s.ID, "modeId": "plan"}).Result(nil)
	for _, u := range s.Updates() {
		if u.Kind == "config_option_update" {
			t.Errorf("%s", u.Raw)
		}
	}
}

func TestModes(t *testing.T) {
	write := func(name string) string {
		return `tool_call: {"id":"w","name":"WriteFile","arguments":"{\"path\":\"` + name + `\",\"content\":\"x\"}"}`
	}
	const command = `tool_call: {"id":"r","name":"Shell","arguments":"{\"command\":\"touch ran\"}"}`
	for _, c := range []struct {
		mode           string
		asked          int
		written, ran   bool
		mentionsInTool string
	}{
		{"default", 2, true, true, ""},
		{"accept-edits", 1, true, true, ""},
		{"plan", 0, false, false, "lan mode"},
		{"yolo", 0, true, true, ""},
	} {
		t.Run(c.mode, func(t *testing.T) {
			s, e, _ := open(t, stage{scripts: []string{write("made") + "\n" + command, "text: done"}})
			var asked atomic.Int32
			e.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
				asked.Add(1)
				return acptest.Choose("allow_once")(ctx, p)
			}
			e.Request("session/set_mode", map[string]any{"sessionId": s.ID, "modeId": c.mode}).Result(nil)
			turn := s.Prompt(acptest.Text("go"))
			turn.Wait()
			there := func(name string) bool {
				_, err := os.Stat(filepath.Join(s.Cwd, name))
				return err == nil
			}
			if int(asked.Load()) != c.asked || there("made") != c.written || there("ran") != c.ran {
				t.Errorf("asked %d times, written %v, ran %v; want %d, %v, %v", asked.Load(), there("made"), there("ran"), c.asked, c.written, c.ran)
			}
			for _, call := range turn.Calls() {
				if !strings.Contains(call.Text()+string(call.RawOutput), c.mentionsInTool) {
					t.Errorf("the refused call says %s", call.Text())
				}
			}
		})
	}
}

// A mode set while a permission is open holds for it too.
func TestModeChangesWhileAPermissionIsOpen(t *testing.T) {
	s, e, _ := open(t, stage{scripts: []string{`tool_call: {"id":"w","name":"WriteFile","arguments":"{\"path\":\"made\",\"content\":\"x\"}"}`, "text: done"}})
	asked := make(chan struct{})
	e.OnPermission = func(context.Context, acptest.Permission) acptest.Answer {
		close(asked)
		return acptest.Answer{Silent: true}
	}
	turn := s.Prompt(acptest.Text("go"))
	<-asked
	e.Request("session/set_mode", map[string]any{"sessionId": s.ID, "modeId": "yolo"}).Result(nil)
	if got := turn.Wait(); got != "end_turn" {
		t.Errorf("ended with %s", got)
	}
	if _, err := os.Stat(filepath.Join(s.Cwd, "made")); err != nil {
		t.Error(err)
	}
}
