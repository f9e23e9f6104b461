package kernel

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/soul"
)

func TestArguments(t *testing.T) {
	launch := Launch{
		WorkDir: "/w", More: []string{"/more"}, SessionID: "kernel-1", Config: "/c.toml", Model: "k2",
		Skills: []string{"/s1", "/s2"}, MCP: []string{"/share/mcp.json"},
	}
	files := papers{agent: "/t/agent.yaml", mcp: "/t/mcp.json"}
	tests := []struct {
		name    string
		program Program
		want    string
	}{
		{"python", Program{Kind: Python, Args: []string{"kimi"}}, "kimi --wire --work-dir /w --agent-file /t/agent.yaml --session kernel-1 --config-file /c.toml --model k2 --mcp-config-file /t/mcp.json --mcp-config-file /share/mcp.json --skills-dir /s1 --skills-dir /s2 --add-dir /more"},
		{"rust, which takes one folder of skills", Program{Kind: Rust, Args: []string{"kagent"}}, "kagent --wire --work-dir /w --agent-file /t/agent.yaml --session kernel-1 --config-file /c.toml --model k2 --mcp-config-file /t/mcp.json --mcp-config-file /share/mcp.json"},
		{"as it is", Program{Kind: Custom, Args: []string{"ssh", "box", "kimi-acp wire"}}, "ssh box kimi-acp wire"},
		{"with places", Program{Kind: Custom, Args: []string{"{session}", "--session={session}", "--agent-file", "{agent-file}", "-w", "{work-dir}"}}, "{session} --session=kernel-1 --agent-file /t/agent.yaml -w /w"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(tt.program.arguments(launch, files), " "); got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
	launch.Skills = launch.Skills[:1]
	if got := strings.Join(tests[1].program.arguments(launch, files), " "); !strings.HasSuffix(got, " --skills-dir /s1") {
		t.Errorf("with one folder of skills: %s", got)
	}
}

func TestPapers(t *testing.T) {
	p, err := writePapers([]soul.MCPServer{
		{Name: "a", Command: "npx", Args: []string{"x"}, Env: map[string]string{"K": "V"}},
		{Name: "b", URL: "https://b", Headers: map[string]string{"H": "V"}},
		{Name: "c", URL: "https://c", SSE: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(p.mcp)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"mcpServers":{"a":{"transport":"stdio","command":"npx","args":["x"],"env":{"K":"V"}},"b":{"transport":"http","url":"https://b","headers":{"H":"V"}},"c":{"transport":"sse","url":"https://c"}}}`
	if string(raw) != want {
		t.Errorf("the servers are told as %s", raw)
	}
	agent, err := os.ReadFile(p.agent)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(agent)) {
		if name, ok := strings.CutPrefix(line, "    - "); ok && !json.Valid([]byte(name)) {
			t.Errorf("the agent file has %q", name)
		}
	}
	if !strings.Contains(string(agent), `"kimi_cli.tools.shell:Shell"`) {
		t.Errorf("the agent file is %s", agent)
	}
	p.remove()
	if _, err := os.Stat(filepath.Dir(p.agent)); !os.IsNotExist(err) {
		t.Errorf("the files stay: %v", err)
	}
	if p, err = writePapers(nil); err != nil || p.mcp != "" {
		t.Errorf("without servers there is %q, %v", p.mcp, err)
	}
	p.remove()
}
