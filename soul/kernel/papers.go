package kernel

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kimi-acp/soul"
)

// papers are the files that a kernel reads at its start and that are ours; "": there is
// none.
type papers struct{ dir, agent, mcp string }

// writePapers writes them into a folder of their own. They may hold secrets, and are for
// their owner alone.
func writePapers(servers []soul.MCPServer) (p papers, err error) {
	if p.dir, err = os.MkdirTemp("", "kimi-acp-kernel-"); err != nil { //nolint:forbidigo // files of ours, for the kernel alone
		return papers{}, fmt.Errorf("make a folder for the kernel's files: %w", err)
	}
	p.agent = filepath.Join(p.dir, "agent.yaml")
	err = os.WriteFile(p.agent, []byte(agentFile()), 0o600) //nolint:forbidigo // files of ours, for the kernel alone
	if len(servers) > 0 && err == nil {
		p.mcp = filepath.Join(p.dir, "mcp.json")
		err = os.WriteFile(p.mcp, mcpFile(servers), 0o600) //nolint:forbidigo // files of ours, for the kernel alone
	}
	if err != nil {
		p.remove()
		return papers{}, fmt.Errorf("write the kernel's files: %w", err)
	}
	return p, nil
}

func (p papers) remove() {
	if p.dir != "" {
		_ = os.RemoveAll(p.dir) //nolint:forbidigo // files of ours, for the kernel alone
	}
}

// hostTools are the tools that a kernel must not run by itself: their work is done, and
// judged, here.
func hostTools() []string {
	return []string{
		"agent:Agent", "agent:RunPlan", "multiagent:Task", "multiagent:CreateSubagent", "ask_user:AskUserQuestion", "todo:SetTodoList",
		"think:Think", "dmail:SendDMail", "shell:Shell", "background:TaskList", "background:TaskOutput",
		"background:TaskStop", "file:ReadFile", "file:ReadMediaFile", "file:Glob", "file:Grep", "file:WriteFile",
		"file:StrReplaceFile", "plan:ExitPlanMode", "plan.enter:EnterPlanMode",
	}
}

// agentFile words the agent that a kernel is to be: its own, without the host's tools.
func agentFile() string {
	var b strings.Builder
	b.WriteString("version: 1\nagent:\n  extend: default\n  name: \"kimi-acp\"\n  exclude_tools:\n")
	for _, t := range hostTools() {
		// A JSON string is one of YAML.
		name, err := json.Marshal("kimi_cli.tools." + t)
		if err == nil { // strings always can be encoded
			fmt.Fprintf(&b, "    - %s\n", name)
		}
	}
	return b.String()
}

// mcpFile words MCP servers as kimi-cli's settings do.
func mcpFile(servers []soul.MCPServer) []byte {
	type server struct {
		Transport string            `json:"transport"`
		Command   string            `json:"command,omitempty"`
		Args      []string          `json:"args,omitempty"`
		Env       map[string]string `json:"env,omitempty"`
		URL       string            `json:"url,omitempty"`
		Headers   map[string]string `json:"headers,omitempty"`
	}
	all := map[string]server{}
	for _, s := range servers {
		transport := "stdio"
		switch {
		case s.URL != "" && s.SSE:
			transport = "sse"
		case s.URL != "":
			transport = "http"
		}
		all[s.Name] = server{transport, s.Command, s.Args, s.Env, s.URL, s.Headers}
	}
	raw, err := json.Marshal(map[string]any{"mcpServers": all})
	if err != nil {
		panic(err) // texts can always be encoded
	}
	return raw
}
