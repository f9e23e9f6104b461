package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// greeting is what a kernel tells of itself in the handshake.
type greeting struct {
	version  version // zero: it does not know the handshake
	server   string
	commands []soul.Command
}

type externalTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

type initializeParams struct {
	ProtocolVersion string `json:"protocol_version"`
	Client          struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"client"`
	ExternalTools []externalTool `json:"external_tools"`
	Capabilities  struct {
		SupportsQuestion bool `json:"supports_question"`
		SupportsPlanMode bool `json:"supports_plan_mode"`
	} `json:"capabilities"`
}

type initializeResult struct {
	ProtocolVersion string `json:"protocol_version"`
	Server          struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"server"`
	SlashCommands []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"slash_commands"`
	ExternalTools struct {
		Rejected []struct {
			Name   string `json:"name"`
			Reason string `json:"reason"`
		} `json:"rejected"`
	} `json:"external_tools"`
}

// maxCommands bounds the slash commands that a kernel tells.
const maxCommands = 500

// shakeHands tells the kernel of our tools. A kernel that does not know the handshake
// is one of Wire 1.0, and does without our tools.
func shakeHands(ctx context.Context, conn *jsonrpc.Conn, clientVersion string, tools []llm.ToolSpec, log *slog.Logger) (greeting, error) {
	p := initializeParams{ProtocolVersion: wire.Version, ExternalTools: []externalTool{}}
	p.Client.Name, p.Client.Version = "kimi-acp", clientVersion
	p.Capabilities.SupportsQuestion = true
	for _, t := range tools {
		p.ExternalTools = append(p.ExternalTools, externalTool(t))
	}
	var r initializeResult
	if err := conn.Call(ctx, "initialize", p, &r); err != nil {
		if e, ok := errors.AsType[*jsonrpc.Error](err); ok && e.Code == jsonrpc.CodeMethodNotFound {
			log.Warn("the kernel knows no handshake, and does without the tools of this program")
			return greeting{}, nil
		}
		return greeting{}, fmt.Errorf("shake hands: %w", err)
	}
	g := greeting{version: parseVersion(r.ProtocolVersion), server: r.Server.Name + " " + r.Server.Version}
	if !g.version.atLeast(1, 1) {
		return greeting{}, fmt.Errorf("shake hands: the kernel speaks version %q of the Wire", r.ProtocolVersion)
	}
	for _, c := range r.SlashCommands[:min(len(r.SlashCommands), maxCommands)] {
		g.commands = append(g.commands, soul.Command{Name: c.Name, Description: c.Description, Hint: "input"})
	}
	for _, t := range r.ExternalTools.Rejected {
		log.Warn("the kernel does not take a tool of this program, and may use one of its own", "tool", t.Name, "reason", t.Reason)
	}
	return g, nil
}
