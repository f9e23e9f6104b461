package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// candidate is an agent to measure: how it is started, and which of its tools
// the model calls.
type candidate struct {
	title   string
	program string // absolute
	args    []string
	dialect dialect
	// settings gives the environment, and files beneath the home folder, that make
	// the agent use the model at a base URL. It is asked once for each set-up.
	settings func(baseURL, home string) settings

	write func(path string) toolCall // a tool that writes a file; nil: it has none like it
	sleep toolCall                   // a tool that runs `sleep 60`; its name is empty if it has none
}

type settings struct {
	env   []string          // NAME=value
	files map[string]string // content by path beneath the home folder
}

// toolCall is one call of a tool, as the model makes it.
type toolCall struct {
	name, arguments string // the arguments are a JSON object
}

// kimi is our own agent.
func kimi(program string) candidate {
	if absolute, err := filepath.Abs(program); err == nil {
		program = absolute
	}
	return candidate{
		title: "kimi-acp", program: program, args: []string{"acp"}, dialect: chat,
		settings: func(baseURL, _ string) settings {
			return settings{env: []string{"KIMI_API_KEY=key", "KIMI_BASE_URL=" + baseURL, "KIMI_MODEL_NAME=model"}}
		},
		write: func(path string) toolCall {
			return toolCall{"WriteFile", object(map[string]any{"path": path, "content": "one\ntwo\n"})}
		},
		sleep: toolCall{"Shell", object(map[string]any{"command": "sleep 60"})},
	}
}

// sidecar is our own agent with itself as the kernel in another process.
func sidecar(program string) candidate {
	c := kimi(program)
	c.title = "in another process"
	c.args = append(c.args, "--kernel", `"`+c.program+`" wire --session {session} --agent-file {agent-file}`)
	return c
}

// The peer: the fastest ACP agent that we know of.
const (
	codexPackage = "@zed-industries/codex-acp"
	codexVersion = "0.16.0"
)

// codexConfig makes codex-acp use a model of our own, with a base URL.
const codexConfig = `model = "model"
model_provider = "bench"

[model_providers.bench]
name = "bench"
base_url = %q
env_key = "BENCH_KEY"
wire_api = "responses"
requires_openai_auth = false
`

// codexAt is the peer, once it is installed.
func codexAt(program string) candidate {
	return candidate{
		title: "codex-acp " + codexVersion, program: program, dialect: responses,
		settings: func(baseURL, home string) settings {
			return settings{
				env:   []string{"CODEX_HOME=" + filepath.Join(home, ".codex"), "BENCH_KEY=key"},
				files: map[string]string{filepath.Join(".codex", "config.toml"): fmt.Sprintf(codexConfig, baseURL)},
			}
		},
		// It changes files by itself, so there is nothing to compare a write of the
		// editor's with.
		sleep: toolCall{"exec_command", object(map[string]any{
			"cmd": "sleep 60", "sandbox_permissions": "require_escalated", "justification": "to wait",
		})},
	}
}

// object encodes a JSON object.
func object(members map[string]any) string {
	data, err := json.Marshal(members)
	if err != nil {
		panic(err) // the members are words of this file, and paths
	}
	return string(data)
}
