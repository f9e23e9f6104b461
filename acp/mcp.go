package acp

import (
	"encoding/json"

	"kimi-acp/soul"
)

// maxMCP bounds the MCP servers of a session.
const maxMCP = 100

// mcpServers reads the MCP servers that an editor passes for a session. Those that are
// malformed or too many count as absent.
func (a *Agent) mcpServers(p members) (servers []soul.MCPServer) {
	listed, _ := p.list("mcpServers")
	for _, raw := range listed {
		m, ok := object(raw)
		s := soul.MCPServer{
			Name: m.optionalText("name"), Command: m.optionalText("command"), URL: m.optionalText("url"),
			SSE: m.optionalText("type") == "sse", Env: pairs(m, "env"), Headers: pairs(m, "headers"),
		}
		if json.Unmarshal(m["args"], &s.Args) != nil {
			s.Args = nil
		}
		if !ok || s.Name == "" || (s.Command == "") == (s.URL == "") || len(servers) >= maxMCP {
			a.log.Warn("an MCP server of the editor cannot be used", "name", clip(s.Name))
			continue
		}
		servers = append(servers, s)
	}
	return servers
}

// pairs reads a list of names and values.
func pairs(p members, name string) map[string]string {
	listed, _ := p.list(name)
	out := make(map[string]string, len(listed))
	for _, raw := range listed {
		if m, ok := object(raw); ok && m.optionalText("name") != "" {
			out[m.optionalText("name")] = m.optionalText("value")
		}
	}
	return out
}
