package acp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/internal/jsonrpc"
)

// Section B of the checklist: initialize.

func initializeWith(params string) json.RawMessage { return json.RawMessage(params) }

// withVersion is the least handshake for a version, given as JSON.
func withVersion(v string) json.RawMessage { return initializeWith(`{"protocolVersion":` + v + `}`) }

func Test025To027Versions(t *testing.T) {
	// Ours is 1, and a client of any other version is told so. The draft's error
	// for a version below all of ours comes with version 2 only, so 0 gets 1 too.
	for _, v := range []string{"1", "2", "99", "65535", "0"} {
		t.Run(v, func(t *testing.T) {
			c := stage{}.serve(t)
			var result acptest.Agent
			c.Misuse("initialize", withVersion(v)).Result(&result)
			if result.ProtocolVersion != 1 {
				t.Errorf("answered %d", result.ProtocolVersion)
			}
		})
	}
	for _, v := range []string{`"2024-11-05"`, `"1"`, "1.5", "1.0", "1e0", "-1", "65536", "99999999999", "null", "[]", "{}", "true"} {
		t.Run(v, func(t *testing.T) {
			c := stage{}.serve(t)
			c.Misuse("initialize", withVersion(v)).Fails(jsonrpc.CodeInvalidParams)
			c.Misuse("initialize", map[string]any{}).Fails(jsonrpc.CodeInvalidParams)
			// A handshake that failed may be tried again.
			c.Initialize(acptest.Capabilities{})
			c.NewSession(t.TempDir())
		})
	}
}

// offers gives the methods that an agent need not serve, and whether this one says
// that it does.
func offers(t *testing.T, agent acptest.Agent, opened json.RawMessage) map[string]bool {
	t.Helper()
	var k struct {
		LoadSession bool                       `json:"loadSession"`
		Sessions    map[string]json.RawMessage `json:"sessionCapabilities"`
		Auth        map[string]json.RawMessage `json:"auth"`
	}
	var s map[string]json.RawMessage
	if err := json.Unmarshal(agent.AgentCapabilities, &k); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(opened, &s); err != nil {
		t.Fatal(err)
	}
	return map[string]bool{
		"session/load":              k.LoadSession,
		"session/resume":            k.Sessions["resume"] != nil,
		"session/list":              k.Sessions["list"] != nil,
		"session/delete":            k.Sessions["delete"] != nil,
		"session/close":             k.Sessions["close"] != nil,
		"session/fork":              k.Sessions["fork"] != nil,
		"session/set_mode":          s["modes"] != nil,
		"session/set_config_option": s["configOptions"] != nil,
		"logout":                    k.Auth["logout"] != nil,
		// session/set_model is gone from the protocol and served for old clients.
	}
}

func Test028CapabilitiesMatchWhatIsServed(t *testing.T) {
	c := stage{}.serve(t)
	agent := c.Initialize(both)
	s := c.NewSession(t.TempDir())
	for method, offered := range offers(t, agent, s.Opened) {
		_, err := c.Misuse(method, map[string]any{"sessionId": "no-such"}).Wait()
		if served := err == nil || err.Code != jsonrpc.CodeMethodNotFound; served != offered {
			t.Errorf("%s: offered %v, answered %v", method, offered, err)
		}
	}
	var prompts struct {
		Blocks struct {
			Image, Audio, EmbeddedContext bool
		} `json:"promptCapabilities"`
	}
	if err := json.Unmarshal(agent.AgentCapabilities, &prompts); err != nil {
		t.Fatal(err)
	}
	if b := prompts.Blocks; !b.Image || b.Audio || !b.EmbeddedContext {
		t.Errorf("the blocks offered are %+v", b)
	}
}

func Test029AgentInfo(t *testing.T) {
	c := stage{}.serve(t)
	c.Name = "" // sends no clientInfo
	agent := c.Initialize(both)
	if agent.AgentInfo.Name != "kimi-acp" || agent.AgentInfo.Version != "1.2.3" {
		t.Errorf("agentInfo is %+v", agent.AgentInfo)
	}
}

// Whatever an editor says wrongly of what it can do counts as not said. (P8)
func Test030And031ClientCapabilities(t *testing.T) {
	for _, params := range []string{
		`{"protocolVersion":1}`,
		`{"protocolVersion":1,"clientCapabilities":null}`,
		`{"protocolVersion":1,"clientCapabilities":{}}`,
		`{"protocolVersion":1,"clientCapabilities":{"fs":null,"terminal":null,"auth":null,"session":null,"_meta":null}}`,
		`{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":null,"writeTextFile":null}}}`,
		`{"protocolVersion":1,"clientCapabilities":{"holograms":{"depth":3}},"future":[1]}`,
		`{"protocolVersion":1,"clientCapabilities":{"terminal":"yes","fs":{"readTextFile":"yes","writeTextFile":1}}}`,
		`{"protocolVersion":1,"clientCapabilities":{"fs":[true],"session":"notices"}}`,
		`{"protocolVersion":1,"clientCapabilities":"all of them"}`,
		`{"protocolVersion":1,"clientInfo":{"name":7,"version":null}}`,
		`{"protocolVersion":1,"clientInfo":"me"}`,
	} {
		t.Run(params, func(t *testing.T) {
			c := stage{scripts: []string{writeFile("w", "a.txt", "x\n") + readFile("r", "b.txt"), "text: done"}}.serve(t)
			c.Misuse("initialize", initializeWith(params)).Result(nil)
			if got := c.NewSession(t.TempDir()).Prompt(acptest.Text("go")).Wait(); got != "end_turn" {
				t.Errorf("the turn ended with %s", got)
			}
			if n := len(asked(t, c, "fs/read_text_file")) + len(asked(t, c, "fs/write_text_file")); n != 0 {
				t.Errorf("%d file requests to an editor that serves none", n)
			}
		})
	}
}

func Test032BeforeInitialize(t *testing.T) {
	c := stage{}.serve(t)
	for _, method := range []string{"session/new", "session/prompt", "authenticate", "session/dance", "_x"} {
		c.Misuse(method, map[string]any{}).Fails(jsonrpc.CodeInvalidRequest)
	}
	if got := replies(t, c, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"x"}}`+"\n"); got != "" {
		t.Errorf("a notification was answered: %s", got)
	}
	c.Initialize(both)
	c.NewSession(t.TempDir())
}

// Open in version 1; here it is answered like the first, sessions stay, and what
// the editor says of itself then holds for sessions made from there on.
func Test033SecondInitialize(t *testing.T) {
	c := stage{scripts: []string{writeFile("1", "a.txt", "x"), "text: one", writeFile("2", "b.txt", "x"), "text: two"}}.serve(t)
	first := c.Initialize(acptest.Capabilities{})
	old := c.NewSession(t.TempDir())
	second := c.Initialize(both)
	if string(first.AgentCapabilities) != string(second.AgentCapabilities) {
		t.Errorf("first %s, then %s", first.AgentCapabilities, second.AgentCapabilities)
	}
	if got := old.Prompt(acptest.Text("one")).Wait(); got != "end_turn" || len(c.Writes()) != 0 {
		t.Errorf("the session from before: %s, %d writes through the editor", got, len(c.Writes()))
	}
	if got := c.NewSession(t.TempDir()).Prompt(acptest.Text("two")).Wait(); got != "end_turn" || len(c.Writes()) != 1 {
		t.Errorf("the session from after: %s, %d writes through the editor", got, len(c.Writes()))
	}
}

func Test034MarkersAreObjects(t *testing.T) {
	c := stage{}.serve(t)
	agent := c.Initialize(both)
	var k struct {
		Sessions struct {
			AdditionalDirectories map[string]any `json:"additionalDirectories"`
		} `json:"sessionCapabilities"`
	}
	if err := json.Unmarshal(agent.AgentCapabilities, &k); err != nil || k.Sessions.AdditionalDirectories == nil {
		t.Errorf("%s, %v", agent.AgentCapabilities, err)
	}
}

func Test035To036AuthMethods(t *testing.T) {
	for _, c := range []struct {
		editor, missing string
		capabilities    acptest.Capabilities
		want            int
	}{
		{"acptest", "", acptest.Capabilities{}, 1},
		{"acptest", "no key", acptest.Capabilities{AuthTerminal: true}, 1},
		// It asks its user to log in for as long as there is a method.
		{"JetBrains.PyCharm", "", acptest.Capabilities{}, 0},
		{"JetBrains.PyCharm", "no key", acptest.Capabilities{}, 1},
	} {
		editor := stage{options: acp.Options{Settings: func() acp.Settings { return acp.Settings{Missing: c.missing} }}}.serve(t)
		editor.Name, editor.Version = c.editor, "2026.2"
		var methods []map[string]any
		if err := json.Unmarshal(editor.Initialize(c.capabilities).AuthMethods, &methods); err != nil {
			t.Fatal(err)
		}
		if len(methods) != c.want {
			t.Errorf("%s, %q: %d methods, want %d", c.editor, c.missing, len(methods), c.want)
		}
		for _, m := range methods {
			if m["id"] != "api-key" || m["name"] == "" || m["type"] != nil && m["type"] != "agent" {
				t.Errorf("%s: %v", c.editor, m)
			}
		}
	}
}

func Test037NothingOfOursOutsideMeta(t *testing.T) {
	c := stage{}.serve(t)
	agent := c.Initialize(both)
	var members map[string]json.RawMessage
	if err := json.Unmarshal(agent.AgentCapabilities, &members); err != nil {
		t.Fatal(err)
	}
	known := "loadSession promptCapabilities mcpCapabilities sessionCapabilities auth _meta"
	for name := range members {
		if !strings.Contains(known, name) {
			t.Errorf("agentCapabilities has a member %q", name)
		}
	}
}

// A user who has no key is told what to set, by a code that means just that.
func TestMissingKey(t *testing.T) {
	c := stage{options: acp.Options{Settings: func() acp.Settings { return acp.Settings{Missing: "set KIMI_API_KEY"} }}}.serve(t)
	c.Initialize(both)
	if e := c.Request("session/new", map[string]any{"cwd": t.TempDir(), "mcpServers": []any{}}).Fails(-32000); !strings.Contains(e.Message, "set KIMI_API_KEY") {
		t.Errorf("said %q", e.Message)
	}
	c.Request("authenticate", map[string]any{"methodId": "api-key"}).Fails(-32000)
	c.Request("authenticate", map[string]any{"methodId": "fingerprint"}).Fails(jsonrpc.CodeInvalidParams)
}

func Test042LogoutAndBack(t *testing.T) {
	c := stage{}.serve(t)
	c.Initialize(both)
	dir := t.TempDir()
	s := c.NewSession(dir)
	c.Request("logout", map[string]any{}).Result(nil)
	for method, params := range map[string]map[string]any{"session/new": newSession(dir), "session/load": openIn(s.ID, dir)} {
		c.Misuse(method, params).Fails(-32000)
	}
	c.Request("authenticate", map[string]any{"methodId": "api-key"}).Result(nil)
	c.NewSession(dir)
}
