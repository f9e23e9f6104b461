package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"kimi-acp/internal/jsonrpc"
)

// actAs is the environment variable that makes the test program an agent; its
// value says in which manner.
const actAs = "AGENTBENCH_ACT_AS"

// The manners of the agent.
const (
	decent    = "decent"
	forgetful = "forgetful" // swaps two deltas of a stream
	stubborn  = "stubborn"  // does not end with its input
	broken    = "broken"    // says why it cannot work, and ends
)

// fake is an agent over chat completions with a tool that writes and one that
// runs a command.
type fake struct {
	conn   *jsonrpc.Conn
	manner string
	base   string
}

func act(manner string) int {
	if manner == broken {
		fmt.Fprintln(os.Stderr, "out of order")
		return 3
	}
	f := &fake{manner: manner, base: os.Getenv("FAKE_BASE_URL")}
	f.conn = jsonrpc.NewConn(os.Stdin, os.Stdout, f, jsonrpc.Options{Dialect: jsonrpc.ACP})
	if err := f.conn.Run(context.Background()); err != nil {
		return 1
	}
	if manner == stubborn {
		select {}
	}
	return 0
}

// Handle serves the editor.
func (f *fake) Handle(call *jsonrpc.Call) {
	switch call.Method() {
	case "initialize":
		call.Reply(map[string]any{"protocolVersion": 1}, nil)
	case "session/new":
		call.Reply(map[string]any{"sessionId": "one"}, nil)
	case "session/prompt":
		call.Go(func(ctx context.Context) (any, error) { return map[string]any{"stopReason": "end_turn"}, f.turn(ctx) })
	}
}

// turn runs model calls until one asks for no tool.
func (f *fake) turn(ctx context.Context) error {
	for {
		name, arguments, err := f.ask(ctx)
		if err != nil || name == "" {
			return err
		}
		if err := f.tool(ctx, name, arguments); err != nil {
			return err
		}
	}
}

// ask makes one model call, shows its text and gives the tool call in it.
func (f *fake) ask(ctx context.Context) (name, arguments string, err error) {
	const body = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.base+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return "", "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close()
	held := ""
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		data, _ := strings.CutPrefix(lines.Text(), "data: ")
		var chunk struct {
			Choices []struct {
				Delta struct {
					Content string
					Calls   []struct {
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
			}
		}
		if json.Unmarshal([]byte(data), &chunk) != nil || len(chunk.Choices) == 0 {
			continue
		}
		d := chunk.Choices[0].Delta
		if len(d.Calls) > 0 {
			name, arguments = d.Calls[0].Function.Name, d.Calls[0].Function.Arguments
		}
		if f.manner == forgetful && held == "" {
			held = d.Content // comes behind the next one
			continue
		}
		for _, text := range []string{d.Content, held} {
			if text != "" {
				f.show(text)
			}
		}
		held = ""
	}
	return name, arguments, nil
}

func (f *fake) show(text string) {
	_ = f.conn.Notify("session/update", map[string]any{"sessionId": "one", "update": map[string]any{
		"sessionUpdate": "agent_message_chunk", "content": map[string]any{"type": "text", "text": text},
	}})
}

func (f *fake) tool(ctx context.Context, name, arguments string) error {
	if name == "run" {
		return exec.CommandContext(ctx, "sleep", "60").Run()
	}
	err := f.conn.Call(ctx, "session/request_permission", map[string]any{"options": []any{
		map[string]any{"optionId": "no", "kind": "reject_once"}, map[string]any{"optionId": "yes", "kind": "allow_once"},
	}}, nil)
	if err != nil {
		return err
	}
	return f.conn.Call(ctx, "fs/write_text_file", map[string]any{"path": arguments, "content": "written"}, nil)
}

// pretender is the fake agent as a candidate.
func pretender(t *testing.T, manner string) candidate {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return candidate{
		title: "fake", program: self,
		settings: func(baseURL, _ string) settings {
			return settings{
				env:   []string{actAs + "=" + manner, "FAKE_BASE_URL=" + baseURL},
				files: map[string]string{"deep/settings": "content"},
			}
		},
		write: func(path string) toolCall { return toolCall{"write", path} },
		sleep: toolCall{"run", "{}"},
	}
}
