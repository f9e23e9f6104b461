package acp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"kimi-acp/internal/policy"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// calls keeps the tool calls that an editor shows. Models may use an id again in
// another turn; editors must not see it twice, so each call gets an id of ours.
type calls struct {
	session *session
	silent  bool // nothing is sent: what was shown before is only counted

	mu     sync.Mutex
	open   map[string]*shownCall // by the model's id, the latest with that id
	used   map[string]bool       // ids that the editor has seen; at most maxUsed, then all further ones are numbered
	count  int                   // numbers given to ids so far
	latest *shownCall            // the call whose arguments still stream
}

// shownCall is a tool call as the editor last saw it.
type shownCall struct {
	id     string // as the editor knows it
	name   string
	args   strings.Builder
	card   tool.Card
	input  bool            // rawInput was sent
	mended json.RawMessage // the arguments, where those of the model are no JSON
	status string
	output string
	files  []wire.FileChange // the changes asked for, or made

	lines []string // what the agent that it started did last

	terminal string // the terminal that shows the command, "" for none
	drawn    int    // bytes of args when the growing change was last shown
}

// update sends a session/update about a call.
func (c *calls) update(u any) {
	if !c.silent {
		c.session.update(u)
	}
}

// Statuses of a tool call in ACP v1.
const (
	statusPending    = "pending"
	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusFailed     = "failed"
)

// begin announces a call.
func (c *calls) begin(call llm.ToolCall) { c.beginFor(call, nil) }

// argumentsOf gives the arguments of a call as far as they are JSON.
func argumentsOf(call llm.ToolCall) json.RawMessage {
	if call.Arguments == nil || !json.Valid([]byte(*call.Arguments)) {
		return nil
	}
	return json.RawMessage(*call.Arguments)
}

// beginFor announces a call of which more is said in its _meta.
func (c *calls) beginFor(call llm.ToolCall, meta map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &shownCall{id: c.unique(call.ID), name: call.Name, status: statusPending}
	args := argumentsOf(call)
	if call.Arguments != nil {
		s.args.WriteString(*call.Arguments)
	}
	s.card = c.session.card(call.Name, args)
	s.input = args != nil
	c.open[call.ID] = s
	if meta == nil { // pieces come of the calls of the session's own model only
		c.latest = s
	}
	c.update(toolCallUpdate{
		SessionUpdate: "tool_call", ToolCallID: s.id, Title: s.card.Title, Name: call.Name, Kind: s.card.Kind,
		Status: statusPending, Locations: locations(s.card), RawInput: rawInput(args), Meta: meta,
	})
}

// maxUsed is how many ids of a session are kept to be compared with.
const maxUsed = 10_000

// unique is an id that the editor has not seen yet.
func (c *calls) unique(id string) string {
	if id == "" {
		id = "call"
	}
	unique := id
	for c.used[unique] || unique == id && len(c.used) >= maxUsed {
		c.count++
		unique = fmt.Sprintf("%s~%d", id, c.count+1)
	}
	if len(c.used) < maxUsed {
		c.used[unique] = true
	}
	return unique
}

// more takes a piece of the latest call's arguments.
func (c *calls) more(piece *string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.latest != nil && piece != nil {
		c.latest.args.WriteString(*piece)
		c.draw(c.latest)
	}
}

// draw shows the change that a call is growing into, each time its arguments have
// grown by a tenth, so that a long text costs no more than a few updates.
func (c *calls) draw(s *shownCall) {
	const step = 256 // bytes
	if s.card.Kind != "edit" || s.args.Len() < s.drawn+max(step, s.drawn/10) {
		return
	}
	s.drawn = s.args.Len()
	change, line, ok := tool.DraftOf(s.name, []byte(s.args.String()), c.session.roots[0])
	if !ok {
		return
	}
	content := diffs([]wire.FileChange{change}, maxCardDiff)
	c.update(toolCallUpdate{
		SessionUpdate: "tool_call_update", ToolCallID: s.id, Content: &content,
		Locations: []toolCallLocation{{Path: change.Path, Line: line}},
	})
}

// progress shows a call that was accepted, runs, or printed something.
func (c *calls) progress(p wire.ToolProgress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.open[p.ToolCallID]
	if s == nil {
		return
	}
	u := toolCallUpdate{SessionUpdate: "tool_call_update", ToolCallID: s.id}
	changed := c.describe(s, p.Input, &u)
	if p.Running && s.status == statusPending {
		s.status, u.Status, changed = statusInProgress, statusInProgress, true
	}
	switch {
	case len(p.Files) > 0 && !slices.Equal(p.Files, s.files):
		s.files = p.Files
		content := diffs(p.Files, maxCardDiff)
		u.Content, changed = &content, true
	case p.Output != "" && p.Output != s.output && s.terminal == "":
		s.output = p.Output
		content := []toolContent{textContent(fenced(p.Output))}
		u.Content, changed = &content, true
	}
	if changed {
		c.update(u)
	}
}

// describe fills in title, kind, places and input once the arguments are whole.
func (c *calls) describe(s *shownCall, input json.RawMessage, u *toolCallUpdate) (changed bool) {
	if s.input || !json.Valid(input) {
		return false
	}
	s.input, u.RawInput = true, rawInput(input)
	if !json.Valid([]byte(s.args.String())) {
		s.mended = input
	}
	card := c.session.card(s.name, input)
	if card.Title != s.card.Title {
		u.Title = card.Title
	}
	if card.Kind != s.card.Kind {
		u.Kind = card.Kind
	}
	if !slices.Equal(card.Locations, s.card.Locations) {
		u.Locations = locations(card)
	}
	s.card = card
	return true
}

// result closes a call.
func (c *calls) result(r wire.ToolResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.open[r.ToolCallID]
	if s == nil {
		return
	}
	delete(c.open, r.ToolCallID)
	if c.latest == s {
		c.latest = nil
	}
	u := toolCallUpdate{SessionUpdate: "tool_call_update", ToolCallID: s.id, Status: statusCompleted}
	c.describe(s, json.RawMessage(s.args.String()), &u)
	value := r.ReturnValue
	if value.IsError {
		u.Status = statusFailed
	} else if value.Files == nil {
		// A result that came over the Wire has lost what stays in this process.
		value.Files = s.files
	}
	content := resultContent(s.card.Kind, value)
	if s.terminal != "" {
		content = []toolContent{{Type: "terminal", TerminalID: s.terminal}}
	}
	if answer := answerOf(value); answer != "" && s.name == "Agent" && !value.IsError {
		content = []toolContent{textContent(answer)}
	}
	u.Content = &content
	if m := value.Message; m != "" {
		u.RawOutput = map[string]string{"message": m}
	}
	for _, f := range value.Files {
		if f.Line > 0 {
			u.Locations = append(u.Locations, toolCallLocation{Path: f.Path, Line: f.Line})
		}
	}
	c.update(u)
	if kept := c.session.file(); kept != nil && !c.silent {
		keepResult(kept, s, value)
	}
}

// idOf is the id by which the editor knows an open call; "" for none.
func (c *calls) idOf(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.open[id]; s != nil {
		return s.id
	}
	return ""
}

// asked gives a call its own title and kind back, after a question was shown in its
// place.
func (c *calls) asked(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.open[id]; s != nil {
		c.session.update(toolCallUpdate{SessionUpdate: "tool_call_update", ToolCallID: s.id, Title: s.card.Title, Kind: s.card.Kind})
	}
}

// abandon fails the calls that a turn left open.
func (c *calls) abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, s := range c.open {
		delete(c.open, id)
		content := []toolContent{textContent("The turn ended before this call was done.")}
		c.update(toolCallUpdate{SessionUpdate: "tool_call_update", ToolCallID: s.id, Status: statusFailed, Content: &content})
	}
	c.latest = nil
}

// shown gives the tool call of a permission request: what the user is asked about.
func (c *calls) shown(r wire.ApprovalRequest) toolCallUpdate {
	c.mu.Lock()
	s := c.open[r.ToolCallID]
	c.mu.Unlock()
	if s == nil {
		c.begin(llm.ToolCall{ID: r.ToolCallID, Name: r.Sender})
		c.mu.Lock()
		s = c.open[r.ToolCallID]
		c.mu.Unlock()
	}
	u := toolCallUpdate{ToolCallID: s.id, Title: s.card.Title, Kind: s.card.Kind, Status: s.status, Locations: locations(s.card)}
	if who := asker(r); who != "" {
		u.Title = who + ": " + u.Title
	}
	content := []toolContent{textContent(r.Description)}
	if len(r.Files) > 0 {
		// What it is about is in the title and the change itself; why it is asked for
		// stands behind the first paragraph.
		content = diffs(r.Files, maxAskedDiff)
		if _, why, ok := strings.Cut(r.Description, "\n\n"); ok {
			content = append(content, textContent(why))
		}
	}
	u.Content = &content
	return u
}

// maxAsker bounds the name of who asks, in bytes.
const maxAsker = 60

// asker names the agent that asks, "" for the one that the user talks to.
func asker(r wire.ApprovalRequest) string {
	for _, name := range []*string{r.SourceDescription, r.SubagentType, r.AgentID} {
		if name != nil && *name != "" {
			who := policy.Visible(*name)
			if len(who) > maxAsker {
				who = strings.ToValidUTF8(who[:maxAsker], "") + "…"
			}
			return "Agent " + who
		}
	}
	return ""
}
