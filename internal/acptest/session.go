package acptest

import (
	"encoding/json"
	"slices"
)

// Capabilities is what the editor offers at Initialize.
type Capabilities struct {
	ReadTextFile, WriteTextFile     bool
	Terminal                        bool // serve the terminal methods with Handle
	AuthTerminal                    bool
	BooleanOptions                  bool
	Compaction, Notices             bool
	ElicitationForm, ElicitationURL bool // serve elicitation/create with Handle
	Meta                            map[string]any
}

func (k Capabilities) encode() map[string]any {
	session, elicitation := map[string]any{}, map[string]any{}
	present := func(in map[string]any, name string, on bool, value any) {
		if on {
			in[name] = value
		}
	}
	present(session, "configOptions", k.BooleanOptions, map[string]any{"boolean": map[string]any{}})
	present(session, "compaction", k.Compaction, map[string]any{})
	present(session, "notices", k.Notices, map[string]any{})
	present(elicitation, "form", k.ElicitationForm, map[string]any{})
	present(elicitation, "url", k.ElicitationURL, map[string]any{})
	all := map[string]any{
		"fs":       map[string]any{"readTextFile": k.ReadTextFile, "writeTextFile": k.WriteTextFile},
		"terminal": k.Terminal,
	}
	present(all, "auth", k.AuthTerminal, map[string]any{"terminal": true})
	present(all, "session", len(session) > 0, session)
	present(all, "elicitation", len(elicitation) > 0, elicitation)
	present(all, "_meta", k.Meta != nil, k.Meta)
	return all
}

// Agent is what an agent says of itself.
type Agent struct {
	ProtocolVersion   int             `json:"protocolVersion"`
	AgentCapabilities json.RawMessage `json:"agentCapabilities"`
	AuthMethods       json.RawMessage `json:"authMethods"`
	AgentInfo         struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"agentInfo"`
}

// Initialize opens the connection and gives what the agent says of itself.
func (c *Client) Initialize(k Capabilities) Agent {
	c.t.Helper()
	params := map[string]any{"protocolVersion": 1, "clientCapabilities": k.encode()}
	if c.Name != "" {
		params["clientInfo"] = map[string]any{"name": c.Name, "version": c.Version}
	}
	var agent Agent
	c.Request("initialize", params).Result(&agent)
	return agent
}

// Session is a session of the agent, as the editor holds it.
type Session struct {
	ID  string
	Cwd string
	// Opened is the result of the request that opened the session: modes,
	// configOptions.
	Opened json.RawMessage

	c *Client
}

// sessionLog is what came for a session id, from before anyone holds the Session.
type sessionLog struct {
	updates []Update
	turns   []*Turn // prompts without an answer, the oldest first
}

// log gives the log of a session. The lock is held.
func (c *Client) log(id string) *sessionLog {
	l := c.sessions[id]
	if l == nil {
		l = &sessionLog{}
		c.sessions[id] = l
	}
	return l
}

// NewSession opens a session in the folder cwd, with MCP servers as the protocol has them.
func (c *Client) NewSession(cwd string, mcpServers ...any) *Session {
	c.t.Helper()
	var opened json.RawMessage
	c.Request("session/new", map[string]any{"cwd": cwd, "mcpServers": append([]any{}, mcpServers...)}).Result(&opened)
	var result struct {
		SessionID string `json:"sessionId"`
	}
	if err := json.Unmarshal(opened, &result); err != nil {
		c.t.Fatalf("session/new: %v", err)
	}
	return &Session{result.SessionID, cwd, opened, c}
}

// LoadSession opens an earlier session with session/load. What it replayed stands
// in the session's Updates.
func (c *Client) LoadSession(id, cwd string) *Session {
	c.t.Helper()
	return c.reopen("session/load", id, cwd)
}

// ResumeSession opens an earlier session with session/resume.
func (c *Client) ResumeSession(id, cwd string) *Session {
	c.t.Helper()
	return c.reopen("session/resume", id, cwd)
}

func (c *Client) reopen(method, id, cwd string) *Session {
	c.t.Helper()
	var opened json.RawMessage
	c.Request(method, map[string]any{"sessionId": id, "cwd": cwd, "mcpServers": []any{}}).Result(&opened)
	return &Session{id, cwd, opened, c}
}

// Cancel stops the turn that runs, and answers the permission requests that are
// open, as the protocol wants it.
func (s *Session) Cancel() {
	s.c.t.Helper()
	s.c.Notify("session/cancel", map[string]any{"sessionId": s.ID})
	s.c.cancelPermissions(s.ID)
}

// Updates gives what came for the session so far, in and outside of turns.
func (s *Session) Updates() []Update {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return slices.Clone(s.c.log(s.ID).updates)
}

// Until waits for an update of the session that matches, also one that came
// before; what names it in the failure.
func (s *Session) Until(what string, match func(Update) bool) Update {
	s.c.t.Helper()
	return s.c.until(what, func() []Update { return s.c.log(s.ID).updates }, match)
}

// until waits for a match in a list that grows.
func (c *Client) until(what string, updates func() []Update, match func(Update) bool) Update {
	c.t.Helper()
	var found Update
	seen := 0
	c.await(what, func() bool {
		for _, u := range updates()[seen:] {
			seen++
			if match(u) {
				found = u
				return true
			}
		}
		return false
	})
	return found
}
