package acp

import (
	"encoding/json"
	"slices"
	"strconv"

	"kimi-acp/editors"
	"kimi-acp/internal/jsonrpc"
)

// protocolVersion is the one version of ACP that is served.
const protocolVersion = 1

// client is what an editor says of itself.
type client struct {
	profile   editors.Profile
	readFile  bool // fs/read_text_file
	writeFile bool // fs/write_text_file
	notices   bool // session updates of kind notice
	compacts  bool // session updates of kind compaction_update
	forms     bool // elicitation with forms
	terminal  bool // the terminal methods
	archives  bool // it wants the methods of the archive, which no published schema has
	// terminalOutput is the agreement by which an editor shows a terminal that is
	// not its own: output comes in the _meta of tool calls.
	terminalOutput bool
}

// initialize answers the handshake. A second one is answered the same way; the
// capabilities then hold for sessions made from there on.
func (a *Agent) initialize(raw json.RawMessage) (any, error) {
	p, err := parseParams(raw)
	if err != nil {
		return nil, err
	}
	// The newest version that both speak: always ours, since we speak but one.
	if v, err := strconv.ParseUint(string(p["protocolVersion"]), 10, 16); err != nil {
		return nil, invalid("protocolVersion must be an integer from 0 to 65535, not %s", clip(string(p["protocolVersion"])))
	} else if v != protocolVersion {
		a.log.Info("the editor speaks another version of ACP", "theirs", v, "ours", protocolVersion)
	}
	caps, info := p.sub("clientCapabilities"), p.sub("clientInfo")
	if info == nil { // some editors put it there
		info = caps.sub("clientInfo")
	}
	fs := caps.sub("fs")
	c := client{
		profile:   editors.For(info.optionalText("name"), info.optionalText("version")),
		readFile:  fs.flag("readTextFile"),
		writeFile: fs.flag("writeTextFile"),
		notices:   caps.sub("session").has("notices"),
		compacts:  caps.sub("session").has("compaction"),
		forms:     caps.sub("elicitation").has("form"),
		terminal:  caps.flag("terminal"),
		archives:  caps.sub("_meta").sub("kimi").flag("archive"),

		terminalOutput: caps.sub("_meta").flag("terminal_output"),
	}
	a.mu.Lock()
	a.client, a.ready = c, true
	a.mu.Unlock()
	a.log.Info("initialized", "editor", c.profile.Name, "version", clip(info.optionalText("version")), "fs.read", c.readFile, "fs.write", c.writeFile)
	return initializeResult{
		ProtocolVersion:   protocolVersion,
		AgentCapabilities: a.capabilities(c),
		AuthMethods:       a.authMethods(c),
		AgentInfo:         implementation{Name: "kimi-acp", Title: "Kimi", Version: a.opts.Version},
	}, nil
}

// capabilities says what is served. Sessions that are not kept can be closed, no more.
func (a *Agent) capabilities(of client) agentCapabilities {
	yes := &struct{}{}
	c := agentCapabilities{
		PromptCapabilities:  promptCapabilities{Image: true, EmbeddedContext: true},
		SessionCapabilities: sessionCapabilities{AdditionalDirectories: yes, Close: yes},
		Auth:                authCapabilities{Logout: yes},
		Meta:                agentMeta{Kimi: kimiMeta{Methods: a.extensions(of)}},
	}
	if a.opts.Sessions != nil {
		c.LoadSession = true
		s := &c.SessionCapabilities
		s.List, s.Resume, s.Delete, s.Fork, s.Title = yes, yes, yes, yes, yes
	}
	return c
}

// extensions are the methods of docs/acp-extensions.md that are served, in the order of
// their names.
func (a *Agent) extensions(of client) []string {
	all := []string{
		methodChangesAccept, methodChangesList, methodChangesReject,
		methodEditorState, methodActiveDocument, methodOpenDocuments, methodRecentDocuments,
	}
	if a.opts.Sessions != nil {
		all = append(all, methodRewind)
	}
	if a.opts.Sessions != nil && of.archives {
		all = append(all, methodArchive, methodUnarchive)
	}
	slices.Sort(all)
	return all
}

type initializeResult struct {
	ProtocolVersion   int               `json:"protocolVersion"`
	AgentCapabilities agentCapabilities `json:"agentCapabilities"`
	AuthMethods       []authMethod      `json:"authMethods"`
	AgentInfo         implementation    `json:"agentInfo"`
}

type agentCapabilities struct {
	LoadSession         bool                `json:"loadSession"`
	PromptCapabilities  promptCapabilities  `json:"promptCapabilities"`
	MCPCapabilities     mcpCapabilities     `json:"mcpCapabilities"`
	SessionCapabilities sessionCapabilities `json:"sessionCapabilities"`
	Auth                authCapabilities    `json:"auth"`
	Meta                agentMeta           `json:"_meta"`
}

// agentMeta says what of ours goes beyond ACP.
type agentMeta struct {
	Kimi kimiMeta `json:"kimi"`
}

// kimiMeta names the methods of docs/acp-extensions.md that are served.
type kimiMeta struct {
	Methods []string `json:"methods"`
}

type authCapabilities struct {
	Logout *struct{} `json:"logout,omitempty"`
}

type promptCapabilities struct {
	Image           bool `json:"image"`
	Audio           bool `json:"audio"`
	EmbeddedContext bool `json:"embeddedContext"`
}

type mcpCapabilities struct {
	HTTP bool `json:"http"`
	SSE  bool `json:"sse"`
}

type sessionCapabilities struct {
	AdditionalDirectories *struct{} `json:"additionalDirectories,omitempty"`
	List                  *struct{} `json:"list,omitempty"`
	Resume                *struct{} `json:"resume,omitempty"`
	Close                 *struct{} `json:"close,omitempty"`
	Delete                *struct{} `json:"delete,omitempty"`
	Fork                  *struct{} `json:"fork,omitempty"`  // of the draft
	Title                 *struct{} `json:"title,omitempty"` // of the draft
}

type implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version string `json:"version"`
}

// authMethod is a way to log in, of the kind that needs no help of the editor.
type authMethod struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// apiKeyMethod is the id of the one way to log in.
const apiKeyMethod = "api-key"

func (a *Agent) authMethods(c client) []authMethod {
	if c.profile.AuthMethodsOnlyWhenLoggedOut && a.settings().Missing == "" {
		return []authMethod{}
	}
	return []authMethod{{
		ID:          apiKeyMethod,
		Name:        "API key",
		Description: "Set KIMI_API_KEY and KIMI_MODEL_NAME (or OPENAI_API_KEY and OPENAI_MODEL) in the environment of the agent and start it again, or describe a model in acp.toml in its share folder (~/.kimi).",
	}}
}

// authenticate succeeds when a key is there: there is nothing else to do.
func (a *Agent) authenticate(raw json.RawMessage) (any, error) {
	p, err := parseParams(raw)
	if err != nil {
		return nil, err
	}
	id, err := p.text("methodId")
	if err != nil {
		return nil, err
	}
	if id != apiKeyMethod {
		return nil, invalid("methodId %q is not one of those offered: %s", clip(id), apiKeyMethod)
	}
	if missing := a.settings().Missing; missing != "" {
		return nil, authRequired(missing)
	}
	a.mu.Lock()
	a.loggedOut = false
	a.mu.Unlock()
	return struct{}{}, nil
}

// logout makes the connection one that has to authenticate before it opens further
// sessions. The key is the environment's or the settings', and stays there.
func (a *Agent) logout() (any, error) {
	a.mu.Lock()
	a.loggedOut = true
	a.mu.Unlock()
	return struct{}{}, nil
}

var _ jsonrpc.Handler = (*Agent)(nil)
