package acp_test

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"strings"
	"sync"

	"kimi-acp/acp"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
)

// model is a function as a model: it says what no script can.
type model func(ctx context.Context, req *llm.Request, yield func(llm.Delta, error) bool)

func (m model) Model() llm.Model {
	return llm.Model{Name: "function", ContextSize: 100_000, ImageInput: true}
}

func (m model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) { m(ctx, req, yield) }
}

// soul makes the built-in soul with this model.
func (m model) soul(spec acp.SoulSpec, _ llm.Provider) (soul.Soul, error) { return builtin(spec, m) }

// says is a model that always gives one text in pieces.
func says(pieces ...string) model {
	return func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		for _, p := range pieces {
			if !yield(llm.Delta{Kind: llm.DeltaText, Text: p}, nil) {
				return
			}
		}
		yield(llm.Delta{Kind: llm.DeltaFinish, Finish: llm.FinishStop}, nil)
	}
}

// listener keeps what the model of a stage is asked.
type listener struct {
	mu    sync.Mutex
	asked [][]llm.Message
}

// soul makes the built-in soul with a model that the listener hears.
func (l *listener) soul(spec acp.SoulSpec, p llm.Provider) (soul.Soul, error) {
	return builtin(spec, heard{p, l})
}

// last is the latest conversation that the model was sent: a line for each
// message, with its role, its parts in brackets and the ids of its calls.
func (l *listener) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.asked) == 0 {
		return ""
	}
	var b strings.Builder
	for _, m := range l.asked[len(l.asked)-1] {
		b.WriteString(string(m.Role))
		for _, p := range m.Content {
			b.WriteString(" [" + p.Text + p.Think + p.Media.URL + "]")
		}
		for _, c := range m.ToolCalls {
			b.WriteString(" +" + c.ID)
		}
		if m.ToolCallID != "" {
			b.WriteString(" for " + m.ToolCallID)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (l *listener) calls() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.asked)
}

type heard struct {
	llm.Provider
	by *listener
}

func (h heard) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	h.by.mu.Lock()
	h.by.asked = append(h.by.asked, req.Messages)
	h.by.mu.Unlock()
	return h.Provider.Stream(ctx, req)
}

// behaving is a soul made of a function.
type behaving struct {
	soul.Soul // nil: what is not given below is not called
	run       func(ctx context.Context, in soul.Input) (soul.Outcome, error)
	commands  func() []soul.Command
	status    func() soul.Status
}

func (b behaving) Run(ctx context.Context, in soul.Input) (soul.Outcome, error) {
	if b.run == nil {
		return soul.Outcome{}, nil
	}
	return b.run(ctx, in)
}

func (b behaving) Commands() []soul.Command {
	if b.commands == nil {
		return nil
	}
	return b.commands()
}

func (b behaving) Status() soul.Status {
	if b.status == nil {
		return soul.Status{Model: "none"}
	}
	return b.status()
}

// configured makes the built-in soul with a change to its configuration.
func configured(change func(*soul.Config)) func(acp.SoulSpec, llm.Provider) (soul.Soul, error) {
	return func(spec acp.SoulSpec, p llm.Provider) (soul.Soul, error) {
		c := soul.Config{
			SessionID: spec.SessionID, Provider: p, Wire: spec.Wire, Tools: spec.Executor.Specs(), Moment: spec.Moment, Tasks: spec.Tasks,
			System: "test", Logger: slog.New(slog.DiscardHandler),
		}
		change(&c)
		return soul.New(c), nil
	}
}

// hangs is a script that says something and then nothing until it is stopped.
const hangs = "text: I think\nsleep: 1h\ntext: never said"

// toolCall is the line of a script that calls a tool.
func toolCall(id, name string, args map[string]any) string {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err) // the test's own words
	}
	line, err := json.Marshal(map[string]string{"id": id, "name": name, "arguments": string(raw)})
	if err != nil {
		panic(err)
	}
	return "tool_call: " + string(line) + "\n"
}

// writeFile, editFile, readFile and shell are lines that call the tools of those
// names.
func writeFile(id, path, text string) string {
	return toolCall(id, "WriteFile", map[string]any{"path": path, "content": text})
}

func editFile(id, path, old, text string) string {
	return toolCall(id, "StrReplaceFile", map[string]any{"path": path, "edit": map[string]any{"old": old, "new": text}})
}

func readFile(id, path string) string {
	return toolCall(id, "ReadFile", map[string]any{"path": path})
}

func shell(id, command string) string {
	return toolCall(id, "Shell", map[string]any{"command": command})
}
