package acp_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
	"kimi-acp/soul/kernel"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// The kernel: the least program that is a soul behind the Wire. It speaks of one
// edit, lets the host carry it out, and reads the result.
type fakeKernel struct{ conn *jsonrpc.Conn }

func kernelMain(in io.Reader, out io.Writer) {
	k := &fakeKernel{}
	k.conn = jsonrpc.NewConn(in, out, k, jsonrpc.Options{Dialect: jsonrpc.Wire, Framing: jsonrpc.Newline})
	if err := k.conn.Run(context.Background()); err != nil {
		os.Exit(1)
	}
}

func (k *fakeKernel) Handle(c *jsonrpc.Call) {
	if c.Method() == "initialize" {
		c.Reply(map[string]any{"protocol_version": "1.2", "slash_commands": []any{}}, nil)
		return
	}
	if c.Method() == "prompt" {
		c.Go(func(ctx context.Context) (any, error) { return k.turn(ctx, c.Params()) })
		return
	}
	c.Reply(nil, jsonrpc.Wire.MethodNotFound(c.Method()))
}

func (k *fakeKernel) say(e wire.Event) {
	raw, err := wire.Encode(e)
	if err == nil {
		_ = k.conn.Notify("event", json.RawMessage(raw))
	}
}

func (k *fakeKernel) turn(ctx context.Context, params json.RawMessage) (any, error) {
	var p struct {
		UserInput wire.UserInput `json:"user_input"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, jsonrpc.Wire.InvalidParams("prompt")
	}
	k.say(wire.TurnBegin{UserInput: p.UserInput})
	k.say(wire.StepBegin{N: 1})
	k.say(wire.ContentPart{Part: llm.Text("I will write it.")})
	args := editArguments
	k.say(wire.ToolCall{Call: llm.ToolCall{ID: "edit", Name: "WriteFile", Arguments: &args}})
	k.say(status(100))
	request, err := wire.Encode(wire.ToolCallRequest{ID: "edit", Name: "WriteFile", Arguments: &args})
	if err != nil {
		return nil, err
	}
	pending, err := k.conn.StartAs(`"edit"`, "request", json.RawMessage(request))
	if err != nil {
		return nil, err
	}
	raw, err := pending.Wait(ctx)
	if err != nil {
		return nil, err
	}
	var result wire.ToolResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, err
	}
	k.say(result)
	k.say(wire.StepBegin{N: 2})
	k.say(wire.ContentPart{Part: llm.Text("Written.")})
	k.say(status(200))
	k.say(wire.TurnEnd{})
	return map[string]string{"status": "finished"}, nil
}

const editArguments = `{"path":"hello.txt","content":"hello\n"}`

func status(tokens int) wire.StatusUpdate {
	size := 100_000
	return wire.StatusUpdate{ContextTokens: &tokens, MaxContextTokens: &size}
}

// startKernel makes a soul of a session that runs in a process of its own.
func startKernel(spec acp.SoulSpec, _ llm.Provider) (soul.Soul, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return kernel.New(kernel.Config{
		Wire: spec.Wire, Tools: spec.Executor.Specs(),
		Program: kernel.Program{Kind: kernel.Custom, Args: []string{exe}},
		Launch:  kernel.Launch{WorkDir: spec.Roots[0], Environ: append(os.Environ(), kernelEnv+"=1")},
		Logger:  slog.New(slog.DiscardHandler),
	}), nil
}

// A soul in another process edits through the editor as the built-in one does:
// the editor cannot tell them apart.
func TestKernelBehindTheWireMakesTheSameEdit(t *testing.T) {
	run := func(s stage) string {
		c := s.serve(t)
		c.Initialize(both)
		dir := t.TempDir()
		turn := c.NewSession(dir).Prompt(acptest.Text("Write hello.txt"))
		if got := turn.Wait(); got != "end_turn" {
			t.Errorf("the turn ended with %s", got)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "hello.txt")); err != nil || string(got) != "hello\n" {
			t.Errorf("the file holds %q, %v", got, err)
		}
		if w := c.Writes(); len(w) != 1 {
			t.Errorf("%d writes went through the editor, want 1", len(w))
		}
		// When the editor's lines come between the agent's is the editor's affair.
		var said []string
		for line := range strings.Lines(c.Transcript()) {
			// A kernel's commands are its own.
			if strings.HasPrefix(line, string(acptest.FromAgent)) && !strings.Contains(line, "available_commands_update") {
				said = append(said, line)
			}
		}
		return strings.Join(said, "")
	}
	args, _ := json.Marshal(editArguments)
	here := run(stage{scripts: []string{
		"text: I will write it.\ntool_call: {\"id\":\"edit\",\"name\":\"WriteFile\",\"arguments\":" + string(args) + "}\nusage: {\"input_other\":90,\"output\":10}",
		"text: Written.\nusage: {\"input_other\":190,\"output\":10}",
	}})
	there := run(stage{newSoul: startKernel})
	if here != there {
		t.Errorf("the transcripts differ.\nbuilt in:\n%s\nkernel:\n%s", here, there)
	}
}
