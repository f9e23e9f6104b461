package playback

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"kimi-acp/internal/screen"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// maxOutputLines bounds what is shown of a result.
const maxOutputLines = 5

// Show shows recorded messages on a Screen, in the order in which they come. It is
// used by one goroutine at a time.
type Show struct {
	screen *screen.Screen
	dir    string // the session's work dir
	calls  map[string]llm.ToolCall
	news   soul.PlanNews // how far one is that agents do
}

// maxCalls bounds how many calls wait for their results.
const maxCalls = 1000

// New makes a Show. Paths beneath dir, the session's work dir, are shown relative to
// it.
func New(s *screen.Screen, dir string) *Show {
	return &Show{screen: s, dir: dir, calls: map[string]llm.ToolCall{}}
}

// Receive shows a message, or says that a line cannot be shown.
func (v *Show) Receive(r session.Recorded) {
	if r.Err != nil {
		v.screen.Section("Not shown", fmt.Sprintf("line %d: %v", r.Line, r.Err))
		return
	}
	v.message(r.Message, clock(r.At))
}

// Close ends the last paragraph.
func (v *Show) Close() { v.screen.End() }

// clock gives a time of a recording as people read it.
func clock(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format("2006-01-02 15:04:05")
}

func (v *Show) message(m wire.Message, at string) {
	switch m := m.(type) {
	case wire.TurnBegin:
		v.input("You", at, m.UserInput)
	case wire.SteerInput:
		v.input("You, meanwhile", at, m.UserInput)
	case wire.StepBegin:
		v.screen.End() // what this step says is a paragraph of its own
	case wire.ContentPart:
		v.part(m.Part)
	case wire.ToolCall:
		v.call(m.Call)
	case wire.ToolResult:
		v.result(m)
	case wire.ApprovalRequest:
		v.screen.Section("Asked", m.Sender)
		v.screen.Wrapped(screen.Plain, v.short(m.Description))
	case wire.ApprovalResponse:
		v.note("answered: " + strings.TrimSpace(string(m.Response)+" "+m.Feedback))
	case wire.StepRetry:
		v.note(fmt.Sprintf("the model did not answer (%s); attempt %d of %d", m.ErrorType, m.NextAttempt, m.MaxAttempts))
	case wire.StepInterrupted:
		v.note("the step was interrupted")
	case wire.CompactionBegin:
		v.note("the history is being summed up")
	case wire.CompactionEnd:
		v.note("the history was summed up")
	case wire.Notification:
		v.screen.Section("Notice", m.Title)
		v.screen.Wrapped(screen.Plain, m.Body)
	case wire.PlanDisplay:
		v.screen.Section("Plan", m.FilePath)
		v.screen.Wrapped(screen.Plain, m.Content)
	case wire.SubagentEvent:
		v.subagent(m)
	case wire.TurnEnd:
		v.screen.Gap()
		v.screen.Line(screen.Faint, strings.TrimSpace("— the turn ended "+at))
	}
}

func (v *Show) note(text string) {
	v.screen.End()
	v.screen.Line(screen.Yellow, v.short(text))
}

func (v *Show) input(who, at string, in wire.UserInput) {
	v.screen.Section(who, at)
	if in.Parts == nil {
		v.screen.Wrapped(screen.Bold, in.Text)
		return
	}
	for _, p := range in.Parts {
		if p.Type == llm.PartText {
			v.screen.Wrapped(screen.Bold, p.Text)
		} else {
			v.screen.Line(screen.Faint, "["+partName(p)+"]")
		}
	}
}

func (v *Show) part(p llm.Part) {
	switch p.Type {
	case llm.PartText:
		v.screen.Stream("Agent", screen.Plain, p.Text)
	case llm.PartThink:
		v.screen.Stream("Thinking", screen.Faint, p.Think)
	default:
		v.screen.Line(screen.Faint, "["+partName(p)+"]")
	}
}

// partName is what stands for a picture or a sound.
func partName(p llm.Part) string { return strings.TrimSuffix(string(p.Type), "_url") }

func (v *Show) title(c llm.ToolCall) string {
	if c.Arguments == nil {
		return c.Name
	}
	return tool.CardOf(c.Name, json.RawMessage(*c.Arguments), v.dir).Title
}

func (v *Show) call(c llm.ToolCall) {
	v.screen.Section("Tool", v.title(c))
	if len(v.calls) < maxCalls {
		v.calls[c.ID] = c
	}
}

// result shows what a call came to, in a few lines.
func (v *Show) result(r wire.ToolResult) {
	c, known := v.calls[r.ToolCallID]
	delete(v.calls, r.ToolCallID)
	if known && len(v.calls) > 0 { // several ran side by side
		v.screen.Section("Result", v.title(c))
	}
	value := r.ReturnValue
	style, message := screen.Green, "✓ "+value.Message
	if value.IsError {
		style, message = screen.Red, "✗ "+value.Message
	}
	v.screen.Line(style, strings.TrimSpace(v.short(message)))
	for _, b := range value.Display {
		if b.Type == wire.BlockDiff && b.Diff != nil {
			v.screen.Line(screen.Bold, v.short(b.Diff.Path))
		}
	}
	if text := strings.TrimRight(value.Output.Text, "\n"); strings.TrimSpace(text) != "" {
		v.output(text)
	}
}

// output shows the beginning of an output.
func (v *Show) output(text string) {
	lines := strings.Split(text, "\n")
	for _, line := range lines[:min(len(lines), maxOutputLines)] {
		v.screen.Line(screen.Faint, strings.TrimRight(line, "\r"))
	}
	if more := len(lines) - maxOutputLines; more > 0 {
		v.screen.Line(screen.Faint, fmt.Sprintf("… %d more lines", more))
	}
}

// subagent shows of an agent beneath only which tools it uses.
func (v *Show) subagent(m wire.SubagentEvent) {
	if tool.IsPlanMove(m) {
		if line := v.news.Of(m); line != "" {
			v.screen.End()
			v.screen.Line(screen.Faint, "the plan: "+line)
		}
		return
	}
	if c, ok := m.Event.(wire.ToolCall); ok {
		v.screen.End()
		v.screen.Line(screen.Faint, "its agent: "+v.title(c.Call))
	}
}

// short makes the paths in a text relative to the session's folder.
func (v *Show) short(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if v.dir == "" {
		return text
	}
	return strings.ReplaceAll(text, strings.TrimRight(v.dir, "/")+"/", "")
}
