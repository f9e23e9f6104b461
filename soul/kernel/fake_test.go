package kernel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// What makes the test binary a kernel of ours, and how that behaves.
const (
	fakeEnv = "KIMI_ACP_FAKE_KERNEL" // the dialect: 1.10, 1.2, 1.0; or how its start fails
	dieEnv  = "KIMI_ACP_FAKE_DIES"   // a file with microseconds after which the process kills itself; read once
	pidsEnv = "KIMI_ACP_FAKE_PIDS"   // a file to which each process appends its id
)

func TestMain(m *testing.M) {
	if dialect := os.Getenv(fakeEnv); dialect != "" {
		fakeMain(dialect)
		return
	}
	goleak.VerifyTestMain(m)
}

// fakeEnviron is the environment of a process that is a kernel of ours. One that looks for
// races would wait a second at its end for others that might show, and most of this
// package's tests start and end several.
func fakeEnviron(dialect string, more ...string) []string {
	environ := append(os.Environ(), "GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0", fakeEnv+"="+dialect)
	return append(environ, more...)
}

// fake is a kernel that does what the words of a prompt say. It shows what real ones do
// that nobody would guess.
type fake struct {
	conn    *jsonrpc.Conn
	dialect string
	out     io.Writer

	mu     sync.Mutex
	cancel context.CancelFunc // of the turn that runs
	steers []string
	tools  []string
}

func fakeMain(dialect string) {
	if path := os.Getenv(pidsEnv); path != "" {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			fmt.Fprintln(f, os.Getpid())
			f.Close()
		}
	}
	if path := os.Getenv(dieEnv); path != "" {
		if raw, err := os.ReadFile(path); err == nil && os.Remove(path) == nil {
			after, _ := strconv.Atoi(string(raw))
			time.AfterFunc(time.Duration(after)*time.Microsecond, func() {
				p, _ := os.FindProcess(os.Getpid())
				_ = p.Kill()
			})
		}
	}
	switch dialect {
	case "exits":
		fmt.Fprintln(os.Stderr, "the settings are broken")
		os.Exit(1)
	case "silent":
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	fmt.Fprintln(os.Stdout, "A banner that is no message")
	fmt.Fprintln(os.Stderr, "a word for the log")
	k := &fake{dialect: dialect, out: os.Stdout}
	k.conn = jsonrpc.NewConn(os.Stdin, os.Stdout, k, jsonrpc.Options{Dialect: jsonrpc.Wire, Framing: jsonrpc.Newline})
	_ = k.conn.Run(context.Background())
}

func (k *fake) Handle(c *jsonrpc.Call) {
	switch m := c.Method(); {
	case m == "initialize" && k.dialect != "1.0":
		k.initialize(c)
	case m == "prompt":
		ctx, cancel := context.WithCancel(context.Background())
		k.mu.Lock()
		k.cancel = cancel
		k.mu.Unlock()
		c.Go(func(context.Context) (any, error) {
			defer cancel()
			return k.turn(ctx, c.Params())
		})
	case m == "cancel":
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.cancel == nil {
			c.Reply(nil, &jsonrpc.Error{Code: -32000, Message: "No agent turn is in progress"})
			return
		}
		c.Reply(struct{}{}, nil)
		k.cancel()
	case m == "steer" && k.dialect == "1.10":
		k.mu.Lock()
		defer k.mu.Unlock()
		k.steers = append(k.steers, text(c.Params()))
		c.Reply(map[string]string{"status": "steered"}, nil)
	default:
		c.Reply(nil, jsonrpc.Wire.MethodNotFound(m))
	}
}

func (k *fake) initialize(c *jsonrpc.Call) {
	var p struct {
		ExternalTools []struct{ Name string } `json:"external_tools"`
	}
	if json.Unmarshal(c.Params(), &p) != nil {
		c.Reply(nil, jsonrpc.Wire.InvalidParams("initialize"))
		return
	}
	for _, t := range p.ExternalTools {
		k.tools = append(k.tools, t.Name)
	}
	c.Reply(map[string]any{
		"protocol_version": k.dialect, "server": map[string]string{"name": "fake", "version": "1"},
		"slash_commands": []map[string]any{{"name": "init", "description": "Begin.", "aliases": []string{}}},
		"external_tools": map[string]any{"accepted": k.tools, "rejected": []any{}},
	}, nil)
}

func text(params json.RawMessage) string {
	var p struct {
		UserInput wire.UserInput `json:"user_input"`
	}
	if json.Unmarshal(params, &p) != nil {
		return ""
	}
	said := p.UserInput.Text
	for _, part := range p.UserInput.Parts {
		said += part.Text
	}
	return said
}

func (k *fake) say(events ...wire.Event) {
	for _, e := range events {
		raw, err := wire.Encode(e)
		if err == nil {
			_ = k.conn.Notify("event", json.RawMessage(raw))
		}
	}
}

func (k *fake) raw(payload string) { _ = k.conn.Notify("event", json.RawMessage(payload)) }

// turn does what the prompt's words say, one after the other.
func (k *fake) turn(ctx context.Context, params json.RawMessage) (any, error) {
	prompt := text(params)
	words := strings.Fields(prompt)
	if len(words) > 0 && words[0] == "early" {
		os.Exit(7) // before anything was told
	}
	k.say(wire.TurnBegin{UserInput: wire.UserInput{Text: prompt}}, wire.StepBegin{N: 1})
	for _, w := range words {
		switch result, err := k.do(ctx, w); {
		case err != nil:
			k.say(wire.StepInterrupted{}, wire.TurnEnd{})
			return nil, err
		case ctx.Err() != nil:
			if k.dialect != "1.2" { // the Rust kernel drops its turn
				k.say(wire.TurnEnd{})
			}
			return map[string]string{"status": "cancelled"}, nil
		case result != nil:
			k.say(wire.TurnEnd{})
			return result, nil
		}
	}
	if k.dialect == "1.2" {
		k.raw(`{"type":"StatusUpdate","payload":{"context_usage":0.5,"token_usage":null,"message_id":"m"}}`)
	} else {
		used, size := 50, 100
		k.say(wire.StatusUpdate{ContextTokens: &used, MaxContextTokens: &size})
	}
	if k.dialect != "1.1" { // TurnEnd came with 1.2
		k.say(wire.TurnEnd{})
	}
	return map[string]string{"status": "finished"}, nil
}

func (k *fake) part(s string) { k.say(wire.ContentPart{Part: llm.Text(s)}) }

func (k *fake) do(ctx context.Context, word string) (result any, err error) {
	switch word {
	case "say":
		k.part("Hello.")
	case "much":
		for range 200 {
			k.part("word ")
			time.Sleep(100 * time.Microsecond)
		}
	case "die":
		k.part("going")
		// What was said is written before it ends.
		if err := k.conn.Call(ctx, "request", request(wire.HookRequest{ID: "h", Event: "Stop", InputData: json.RawMessage(`{}`)}), nil); err != nil {
			return nil, err
		}
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(7)
	case "wait":
		<-ctx.Done()
	case "stuck":
		select {}
	case "unknown":
		k.raw(`{"type":"FromTheFuture","payload":{"a":1}}`)
		k.raw(`{"type":"ToolResult","payload":{}}`)
		fmt.Fprintln(k.out, "\ntrace: not a message")
		err := k.conn.Call(ctx, "request", json.RawMessage(`{"type":"FutureRequest","payload":{"id":"x"}}`), nil)
		k.part(fmt.Sprint(err))
	case "tool", "other", "edit":
		k.tool(ctx, map[string]string{"tool": "Echo", "other": "Nobody", "edit": "Edit"}[word])
	case "pieces": // the request overtakes the last of the call's arguments
		first, last := `{"te`, `xt":"x"}`
		k.say(wire.ToolCall{Call: llm.ToolCall{ID: "call", Name: "Echo", Arguments: &first}})
		k.ask(ctx, "Echo", first+last, wire.ToolCallPart{ArgumentsPart: &last})
	case "sub": // a sub-agent of the kernel's calls
		k.say(wire.SubagentEvent{Event: wire.ToolCall{Call: llm.ToolCall{ID: "call", Name: "Echo"}}})
		k.ask(ctx, "Echo", `{}`)
	case "approve":
		var r wire.ApprovalResponse
		err := k.conn.Call(ctx, "request", request(wire.ApprovalRequest{ID: "a1", ToolCallID: "c", Sender: "Fetch", Action: "fetch", Description: "Fetch a page"}), &r)
		k.say(wire.ApprovalResponse{RequestID: "a1", Response: r.Response})
		k.part(fmt.Sprintf("%s %v", r.Response, err))
	case "decide": // by itself, while it asks
		pending, err := k.conn.Start("request", request(wire.ApprovalRequest{ID: "a2", ToolCallID: "c", Sender: "Fetch", Action: "fetch", Description: "Fetch a page"}))
		if err != nil {
			return nil, err
		}
		k.say(wire.ApprovalResponse{RequestID: "a2", Response: wire.ApprovalApprove})
		_, _ = pending.Wait(ctx)
	case "ask":
		var r struct{ Answers map[string]string }
		err := k.conn.Call(ctx, "request", request(wire.QuestionRequest{ID: "q1", ToolCallID: "c", Questions: []wire.Question{{Question: "Tabs?", Options: []wire.QuestionOption{{Label: "Yes"}, {Label: "No"}}}}}), &r)
		k.part(fmt.Sprint(r.Answers, err))
	case "steered":
		for {
			k.mu.Lock()
			steers := k.steers
			k.steers = nil
			k.mu.Unlock()
			if len(steers) > 0 {
				k.say(wire.SteerInput{UserInput: wire.UserInput{Text: strings.Join(steers, ",")}})
				return nil, nil
			}
			if ctx.Err() != nil {
				return nil, nil
			}
			time.Sleep(time.Millisecond)
		}
	case "steps":
		return map[string]any{"status": "max_steps_reached", "steps": 1}, nil
	case "nomodel":
		return nil, &jsonrpc.Error{Code: -32001, Message: "LLM is not set"}
	case "provider":
		return nil, &jsonrpc.Error{Code: -32003, Message: "nope"}
	case "bug":
		return nil, &jsonrpc.Error{Code: -32603, Message: "AssertionError: x"}
	}
	return nil, nil
}

// tool has the host run a tool. A kernel of Wire 1.2 tells of it when it has the answer.
func (k *fake) tool(ctx context.Context, name string) {
	args := `{"text":"x"}`
	event := wire.ToolCall{Call: llm.ToolCall{ID: "call", Name: name, Arguments: &args}}
	if k.dialect == "1.2" {
		k.ask(ctx, name, args, event)
		return
	}
	k.say(event)
	k.ask(ctx, name, args)
}

// ask asks the host for a call; what it says late it says with the answer.
func (k *fake) ask(ctx context.Context, name, args string, late ...wire.Event) {
	pending, err := k.conn.StartAs(`"call"`, "request", request(wire.ToolCallRequest{ID: "call", Name: name, Arguments: &args}))
	if err != nil {
		return
	}
	raw, err := pending.Wait(ctx)
	k.say(late...)
	var r wire.ToolResult
	if err != nil || json.Unmarshal(raw, &r) != nil {
		k.part("no result")
		return
	}
	k.say(r)
}

// request is the params of a request.
func request(r wire.Request) json.RawMessage {
	raw, err := wire.Encode(r)
	if err != nil {
		panic(err)
	}
	return raw
}
