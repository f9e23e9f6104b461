package run

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"kimi-acp/fileop"
	"kimi-acp/internal/screen"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// The bounds of what is shown of one tool call, in lines.
const (
	maxDiffLines   = 60
	maxOutputLines = 20
)

// Show is a View, for the Raw stream, that shows a turn to a person: the answer goes
// to one writer and all else, readable and wrapped, to a Screen. It keeps the two
// apart also where both are the same terminal.
type Show struct {
	answer *Answer
	screen *screen.Screen
	dir    string
	text   bool // text has been the last thing shown
	calls  map[string]*call
	latest *call
	news   soul.PlanNews // how far one is that agents do
	under  *call         // the running command whose heading is the last thing shown; nil: something else is
}

// call is a tool call whose result has not come yet.
type call struct {
	name  string
	args  strings.Builder
	asked bool // the user was shown what it does
	runs  bool // shown to be running
}

// NewShow makes a Show of a turn in a folder.
func NewShow(a *Answer, s *screen.Screen, dir string) *Show {
	return &Show{answer: a, screen: s, dir: dir, calls: map[string]*call{}}
}

// Receive shows one message.
func (v *Show) Receive(m wire.Message) {
	if part, ok := m.(wire.ContentPart); ok && part.Part.Type == llm.PartText {
		v.say(m)
		return
	}
	v.answer.Receive(m)
	if _, retry := m.(wire.StepRetry); retry {
		v.answer.end() // what is said of it stands on lines of its own
	}
	r, isResult := m.(wire.ToolResult)
	if shows(m) && (!isResult || v.calls[r.ToolCallID] != v.under) {
		v.under = nil
	}
	if shows(m) && v.text {
		v.text = false
		v.screen.Print("") // the screen's last line is not what it thinks
	}
	switch m := m.(type) {
	case wire.ContentPart:
		if m.Part.Type == llm.PartThink {
			v.screen.Stream("Thinking", screen.Faint, m.Part.Think)
		}
	case wire.ToolCall:
		v.begin(m.Call)
	case wire.ToolCallPart:
		if v.latest != nil && m.ArgumentsPart != nil {
			v.latest.args.WriteString(*m.ArgumentsPart)
		}
	case wire.SubagentEvent:
		v.nested(m)
	case wire.ToolProgress:
		v.running(m)
	case wire.ApprovalRequest:
		v.asks(m)
	case wire.ToolResult:
		v.result(m)
	case wire.Notification:
		v.screen.Section("Notice", m.Title)
		if m.Body != "" {
			v.screen.Wrapped(screen.Yellow, m.Body)
		}
	case wire.StepRetry:
		v.screen.Section("Retry", "")
		v.screen.Wrapped(screen.Yellow, fmt.Sprintf("The model did not answer (%s); attempt %d of %d follows in %.1fs.", m.ErrorType, m.NextAttempt, m.MaxAttempts, m.WaitS))
	}
}

func (v *Show) say(m wire.Message) {
	if !v.text {
		v.screen.Gap()
		v.text, v.under = true, nil
	}
	v.answer.Receive(m)
}

func (v *Show) begin(c llm.ToolCall) {
	v.latest = &call{name: c.Name}
	if c.Arguments != nil {
		v.latest.args.WriteString(*c.Arguments)
	}
	v.calls[c.ID] = v.latest
}

// running tells of a command when it begins, since it may take a while.
func (v *Show) running(p wire.ToolProgress) {
	c := v.calls[p.ToolCallID]
	if c == nil || !p.Running || c.runs {
		return
	}
	c.runs = true
	if card := v.card(c); card.Kind == "execute" && !c.asked {
		v.screen.Section("Tool", card.Title)
		v.under = c
	}
}

func (v *Show) card(c *call) tool.Card {
	return tool.CardOf(c.name, json.RawMessage(c.args.String()), v.dir)
}

// asks shows what the user is asked for.
func (v *Show) asks(r wire.ApprovalRequest) {
	if c := v.calls[r.ToolCallID]; c != nil {
		c.asked = true
	}
	ShowRequest(v.screen, r, v.dir)
}

// ShowRequest shows what an approval is asked for: the changes where there are
// such, the command, else the description. Paths beneath dir are shown relative to
// it. Nothing is cut off that a person should see before the answer.
func ShowRequest(s *screen.Screen, r wire.ApprovalRequest, dir string) {
	s.Section("Permission", r.Sender)
	if commands := commandsIn(r.Display); commands != nil {
		for _, c := range commands {
			s.Verbatim(screen.Plain, c)
		}
		return
	}
	s.Wrapped(screen.Plain, strings.ReplaceAll(r.Description, dir+string(filepath.Separator), ""))
	showFiles(s, r.Files, dir, 0)
}

func commandsIn(blocks []wire.Block) []string {
	var out []string
	for _, b := range blocks {
		if b.Type == wire.BlockShell && b.Shell != nil {
			out = append(out, b.Shell.Command)
		}
	}
	return out
}

// showFiles shows changes; lines bounds each, 0: nothing of it is left out.
func showFiles(s *screen.Screen, files []wire.FileChange, dir string, lines int) {
	for _, f := range files {
		name := f.Path
		if rel, err := filepath.Rel(dir, f.Path); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
		kind := ""
		if f.Old == nil {
			kind = " (new)"
		}
		s.Line(screen.Bold, name+kind)
		s.Diff(fileop.Unified(name, f.Old, f.New), lines)
	}
}

// result shows what a call came to.
func (v *Show) result(r wire.ToolResult) {
	c := v.calls[r.ToolCallID]
	if c == nil {
		c = &call{}
	}
	delete(v.calls, r.ToolCallID)
	value := r.ReturnValue
	if v.plan(value) {
		return
	}
	card := v.card(c)
	if v.under != c {
		v.screen.Section("Tool", card.Title)
	}
	v.under = nil
	switch {
	case value.IsError:
		v.screen.Wrapped(screen.Red, v.short(brief(value)))
		if card.Kind == "execute" {
			v.output(value)
		}
	case len(value.Files) > 0 && c.asked:
		v.screen.Line(screen.Green, "done, as shown above")
	case len(value.Files) > 0:
		showFiles(v.screen, value.Files, v.dir, maxDiffLines)
	case card.Kind == "execute":
		v.output(value)
	default:
		v.screen.Wrapped(screen.Faint, v.short(value.Message))
	}
}

// short makes the paths in a text relative to the folder.
func (v *Show) short(text string) string {
	return strings.ReplaceAll(text, v.dir+string(filepath.Separator), "")
}

// brief is the first short sentence of a result.
func brief(v wire.ToolReturnValue) string {
	for _, b := range v.Display {
		if b.Type == wire.BlockBrief && b.Brief != nil {
			return b.Brief.Text
		}
	}
	return v.Message
}

func (v *Show) output(value wire.ToolReturnValue) {
	if text := strings.TrimRight(value.Output.Text, "\n"); text != "" {
		v.screen.Tail(text, maxOutputLines)
	} else if !value.IsError {
		v.screen.Line(screen.Faint, "(no output)")
	}
}

// plan shows the plan in a result, and reports whether there was one.
func (v *Show) plan(value wire.ToolReturnValue) bool {
	plan, ok := soul.PlanOf(value)
	if !ok {
		return false
	}
	v.screen.Section("Plan", "")
	for _, step := range plan.Steps {
		switch step.State {
		case soul.TaskCompleted, soul.TaskReviewed:
			v.screen.Line(screen.Green, "✓ "+step.Title)
		case soul.TaskRunning:
			v.screen.Line(screen.Bold, "▸ "+step.Title)
		default:
			v.screen.Line(screen.Faint, "· "+step.Title)
		}
	}
	return true
}

// End shows how the turn ended.
func (v *Show) End(r Result) {
	detail := fmt.Sprintf("%s · %s · %d tokens in, %d out", StopName(r), steps(r.Steps), r.Usage.Input(), r.Usage.Output)
	v.screen.Section("Done", detail)
	if r.Unanswered > 0 {
		v.screen.Wrapped(screen.Yellow, fmt.Sprintf("%d of the things that it asked for were rejected, since nobody was there to answer. Run it at a terminal, or with --mode accept-edits or --yes.", r.Unanswered))
	}
}

func steps(n int) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}

// nested shows which tools an agent uses that the model has started.
func (v *Show) nested(e wire.SubagentEvent) {
	if tool.IsPlanMove(e) {
		if line := v.news.Of(e); line != "" {
			v.screen.End()
			v.screen.Line(screen.Faint, "the plan: "+line)
		}
		return
	}
	c, ok := e.Event.(wire.ToolCall)
	if !ok {
		return
	}
	var args json.RawMessage
	if c.Call.Arguments != nil {
		args = json.RawMessage(*c.Call.Arguments)
	}
	v.screen.End()
	v.screen.Line(screen.Faint, "its agent: "+tool.CardOf(c.Call.Name, args, v.dir).Title)
}
