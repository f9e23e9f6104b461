package kerneltest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/scripted"
	"kimi-acp/soul/wire"
)

// fakeEnv makes the test binary a kernel that follows a script.
const fakeEnv = "KIMI_ACP_FAKE_KERNEL"

// program is ours, whichever kernel thinks in it.
var program acptest.Program

func TestMain(m *testing.M) {
	if os.Getenv(fakeEnv) != "" && len(os.Args) == 2 {
		if err := fakeMain(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(program.Run(m))
}

// fake is the least kernel that can play a scene. It has the manners of kimi-cli (Wire
// 1.10) or of the Rust kernel (1.2) which a host has to know: lines that are no messages,
// a turn that is over with the answer and not with TurnEnd, no TurnEnd of a turn that the
// Rust kernel dropped, its calls told behind the requests for them, and statuses with few
// members.
type fake struct {
	conn     *jsonrpc.Conn
	dialect  string
	provider *scripted.Provider

	mu     sync.Mutex
	cancel context.CancelFunc // of the turn that runs
}

func fakeMain(dialect string) error {
	scripts, err := scripted.Load(os.Getenv("KIMI_SCRIPTED_ECHO_SCRIPTS"))
	if err != nil {
		return err
	}
	fmt.Println("A banner that is no message")
	k := &fake{dialect: dialect, provider: scripted.New(scripts, llm.Model{Name: "scripted", ContextSize: 100_000}), cancel: func() {}}
	k.conn = jsonrpc.NewConn(os.Stdin, os.Stdout, k, jsonrpc.Options{Dialect: jsonrpc.Wire, Framing: jsonrpc.Newline})
	return k.conn.Run(context.Background())
}

func (k *fake) Handle(c *jsonrpc.Call) {
	switch c.Method() {
	case "initialize":
		c.Reply(map[string]any{"protocol_version": k.dialect, "server": map[string]string{"name": "fake", "version": "1"}, "slash_commands": []any{}}, nil)
	case "prompt":
		ctx, cancel := context.WithCancel(context.Background())
		k.mu.Lock()
		k.cancel = cancel
		k.mu.Unlock()
		c.Go(func(context.Context) (any, error) {
			defer cancel()
			return k.turn(ctx, c.Params())
		})
	case "cancel":
		k.mu.Lock()
		defer k.mu.Unlock()
		c.Reply(struct{}{}, nil)
		k.cancel()
	default:
		c.Reply(nil, jsonrpc.Wire.MethodNotFound(c.Method()))
	}
}

func (k *fake) say(e wire.Event) {
	if raw, err := wire.Encode(e); err == nil {
		_ = k.conn.Notify("event", json.RawMessage(raw)) // the host is gone, and so is the turn
	}
}

func (k *fake) turn(ctx context.Context, params json.RawMessage) (any, error) {
	var p struct {
		UserInput wire.UserInput `json:"user_input"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, jsonrpc.Wire.InvalidParams("prompt")
	}
	k.say(wire.TurnBegin{UserInput: p.UserInput})
	for n := 1; ; n++ {
		calls, err := k.step(ctx, n)
		switch {
		case err != nil:
			return nil, &jsonrpc.Error{Code: -32003, Message: err.Error()}
		case ctx.Err() != nil:
			if k.dialect != "1.2" {
				k.say(wire.TurnEnd{})
			}
			return map[string]string{"status": "cancelled"}, nil
		case calls == 0:
			k.say(wire.TurnEnd{})
			return map[string]string{"status": "finished"}, nil
		}
	}
}

// step makes one model call and has the host run the tools that it calls.
func (k *fake) step(ctx context.Context, n int) (called int, err error) {
	k.say(wire.StepBegin{N: n})
	var calls []llm.ToolCall
	for d, err := range k.provider.Stream(ctx, &llm.Request{}) {
		if err != nil {
			return 0, err
		}
		switch d.Kind {
		case llm.DeltaText:
			k.say(wire.ContentPart{Part: llm.Text(d.Text)})
		case llm.DeltaThink:
			k.say(wire.ContentPart{Part: llm.Think(d.Text)})
		case llm.DeltaCall:
			calls = append(calls, d.Call)
			if k.dialect != "1.2" {
				k.say(wire.ToolCall{Call: d.Call})
			}
		}
	}
	used, size := 100, 100_000
	k.say(wire.StatusUpdate{ContextTokens: &used, MaxContextTokens: &size})
	for _, call := range calls {
		request, err := wire.Encode(wire.ToolCallRequest{ID: call.ID, Name: call.Name, Arguments: call.Arguments})
		if err != nil {
			return 0, err
		}
		id, err := json.Marshal(call.ID)
		if err != nil {
			return 0, err
		}
		pending, err := k.conn.StartAs(jsonrpc.ID(id), "request", json.RawMessage(request))
		if err != nil {
			return 0, err
		}
		raw, err := pending.Wait(ctx)
		if k.dialect == "1.2" {
			k.say(wire.ToolCall{Call: call})
		}
		if err != nil {
			return 0, nil // cancelled
		}
		var result wire.ToolResult
		if err := json.Unmarshal(raw, &result); err != nil {
			return 0, err
		}
		k.say(result)
	}
	return len(calls), nil
}
