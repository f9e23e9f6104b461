package wireserver

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// The kimi profile of the handshake: who we say we are. Clients tell by the name that
// this is kimi-cli's Wire, and by the version which one.
const (
	serverName    = "Kimi Code CLI"
	serverVersion = "1.49.0"
)

// questionTool is hidden from the model when the client can show no questions.
const questionTool = "AskUserQuestion"

type initializeParams struct {
	ProtocolVersion *string `json:"protocol_version"`
	Client          *struct {
		Name    *string `json:"name"`
		Version *string `json:"version"`
	} `json:"client"`
	ExternalTools []struct {
		Name        *string         `json:"name"`
		Description *string         `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"external_tools"`
	Hooks        []subscription `json:"hooks"`
	Capabilities *struct {
		Questions laxBool `json:"supports_question"`
		PlanMode  laxBool `json:"supports_plan_mode"`
	} `json:"capabilities"`
}

// complete tells whether what is required is there.
func (p *initializeParams) complete() bool {
	if p.ProtocolVersion == nil || p.Client != nil && p.Client.Name == nil {
		return false
	}
	for _, t := range p.ExternalTools {
		raw := bytes.TrimSpace(t.Parameters)
		if t.Name == nil || t.Description == nil || len(raw) == 0 || raw[0] != '{' {
			return false
		}
	}
	return !slices.ContainsFunc(p.Hooks, func(h subscription) bool { return h.ID == nil || h.Event == nil })
}

type initializeResult struct {
	ProtocolVersion string         `json:"protocol_version"`
	Server          serverInfo     `json:"server"`
	Commands        []commandInfo  `json:"slash_commands"`
	ExternalTools   *externalTools `json:"external_tools,omitempty"`
	Hooks           hookInfo       `json:"hooks"`
	Capabilities    capabilityInfo `json:"capabilities"`
}

type serverInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type commandInfo struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Aliases     []string `json:"aliases"`
}

type externalTools struct {
	Accepted []string       `json:"accepted"`
	Rejected []rejectedTool `json:"rejected"`
}

type rejectedTool struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

type capabilityInfo struct {
	Questions bool `json:"supports_question"`
}

// initialize is the handshake, which may come again between turns.
func (s *server) initialize(call *jsonrpc.Call) {
	var p initializeParams
	if json.Unmarshal(call.Params(), &p) != nil || !p.complete() {
		call.Reply(nil, jsonrpc.Wire.InvalidParams(call.Method()))
		return
	}
	if s.busy() {
		call.Reply(nil, errRunning())
		return
	}
	tools := s.register(&p)
	s.hooks.subscribe(p.Hooks)
	if p.Capabilities != nil {
		asks := bool(p.Capabilities.Questions)
		s.mu.Lock()
		s.asks = &asks
		s.mu.Unlock()
	} else {
		s.mu.Lock()
		if s.asks == nil {
			s.asks = new(bool)
		}
		s.mu.Unlock()
	}
	s.soul.UseTools(s.tools())
	r := initializeResult{
		ProtocolVersion: wire.Version,
		Server:          serverInfo{serverName, serverVersion},
		Commands:        []commandInfo{},
		Hooks:           s.hooks.info(),
		Capabilities:    capabilityInfo{Questions: true},
	}
	for _, c := range s.soul.Commands() {
		r.Commands = append(r.Commands, commandInfo{c.Name, c.Description, append([]string{}, c.Aliases...)})
	}
	if len(tools.Accepted)+len(tools.Rejected) > 0 {
		r.ExternalTools = &tools
	}
	call.Reply(r, nil)
}

// register takes over the tools that the client runs. Of two of a name the later counts.
func (s *server) register(p *initializeParams) externalTools {
	out := externalTools{Accepted: []string{}, Rejected: []rejectedTool{}}
	for _, t := range p.ExternalTools {
		if s.executor.Has(*t.Name) {
			out.Rejected = append(out.Rejected, rejectedTool{*t.Name, "conflicts with builtin tool"})
			continue
		}
		if err := checkSchema(t.Parameters); err != nil {
			out.Rejected = append(out.Rejected, rejectedTool{*t.Name, err.Error()})
			continue
		}
		spec := llm.ToolSpec{Name: *t.Name, Description: *t.Description, Parameters: t.Parameters}
		if spec.Description == "" {
			spec.Description = "No description provided."
		}
		s.mu.Lock()
		if _, again := s.external[spec.Name]; !again {
			s.order = append(s.order, spec.Name)
		}
		s.external[spec.Name] = spec
		s.mu.Unlock()
		out.Accepted = append(out.Accepted, spec.Name)
	}
	return out
}

// checkSchema is an error for parameters that are no JSON Schema.
func checkSchema(raw json.RawMessage) error {
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return err
	}
	_, err := schema.Resolve(nil)
	return err
}

// tools are what the model may call: ours, then the client's.
func (s *server) tools() []llm.ToolSpec {
	s.mu.Lock()
	defer s.mu.Unlock()
	var specs []llm.ToolSpec
	for _, t := range s.executor.Specs() {
		if t.Name != questionTool || s.asks == nil || *s.asks {
			specs = append(specs, t)
		}
	}
	for _, name := range s.order {
		specs = append(specs, s.external[name])
	}
	return specs
}

// canAsk tells whether questions may be put to the client.
func (s *server) canAsk() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asks == nil || *s.asks
}
