package companion

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tliron/glsp"
	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/editors/state"
	"kimi-acp/internal/fileuri"
)

// The code actions, by the commands behind them.
const (
	commandAsk = "kimi.ask"
	commandFix = "kimi.fix"
	kindAsk    = "kimi.ask"
)

// place is the argument of the commands: what the action was offered for.
type place struct {
	URI      string         `json:"uri"`
	Range    protocol.Range `json:"range"`
	Findings []finding      `json:"diagnostics,omitempty"`
}

// actions offers to queue a prompt about a range. Where the user did not ask for
// actions, none are offered: a mark on every line would tell nothing.
func (s *server) actions(c *glsp.Context, p *protocol.CodeActionParams) (any, error) {
	var whole actionParams
	if err := json.Unmarshal(c.Params, &whole); err != nil {
		return nil, err
	}
	offer := []any{}
	if whole.Context.TriggerKind == triggeredAutomatically || !s.desk.tells(p.TextDocument.URI) {
		return offer, nil
	}
	where := place{URI: p.TextDocument.URI, Range: p.Range, Findings: whole.Context.Diagnostics}
	if len(where.Findings) > 0 && wanted(p.Context.Only, protocol.CodeActionKindQuickFix) {
		offer = append(offer, s.offer("Fix with Kimi", commandFix, protocol.CodeActionKindQuickFix, where))
	}
	if wanted(p.Context.Only, kindAsk) {
		offer = append(offer, s.offer("Ask Kimi about this", commandAsk, kindAsk, where))
	}
	return offer, nil
}

// wanted tells whether an action of a kind is among those that were asked for.
func wanted(only []string, kind string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(o string) bool {
		return o == "" || o == kind || strings.HasPrefix(kind, o+".")
	})
}

// offer makes an action, or for older editors the bare command.
func (s *server) offer(title, command, kind string, where place) any {
	c := protocol.Command{Title: title, Command: command, Arguments: []any{where}}
	if !s.literals {
		return c
	}
	return protocol.CodeAction{Title: title, Kind: &kind, Command: &c}
}

// execute queues the prompt of an action that the user chose.
func (s *server) execute(c *glsp.Context, p *protocol.ExecuteCommandParams) (any, error) {
	var args struct {
		Arguments []place `json:"arguments"`
	}
	if err := json.Unmarshal(c.Params, &args); err != nil || len(args.Arguments) != 1 {
		return nil, refused("the command takes one place, as its code action gives it")
	}
	kind := state.Ask
	switch p.Command {
	case commandAsk:
	case commandFix:
		kind = state.Fix
	default:
		return nil, refused("there is no command " + p.Command)
	}
	prompt, ok := s.desk.prompt(kind, args.Arguments[0])
	if !ok {
		return nil, refused("the file is not in the workspace, or is one whose text is not told")
	}
	if s.writer == nil {
		return nil, refused("prompts cannot be kept here; see the log")
	}
	if err := s.writer.Queue(prompt); err != nil {
		return nil, err
	}
	c.Notify(string(protocol.ServerWindowShowMessage), protocol.ShowMessageParams{
		Type:    protocol.MessageTypeInfo,
		Message: "Kimi gets " + told(prompt) + " with your next prompt.",
	})
	return nil, nil
}

// told names the place of a prompt for the user.
func told(p state.Prompt) string {
	name := filepath.Base(p.Path)
	if p.Range.Start.Line == p.Range.End.Line {
		return fmt.Sprintf("line %d of %s", p.Range.Start.Line, name)
	}
	return fmt.Sprintf("lines %d to %d of %s", p.Range.Start.Line, p.Range.End.Line, name)
}

// tells tells whether the text of a document may be told.
func (d *desk) tells(uri string) bool {
	path := fileuri.Path(uri)
	d.mu.Lock()
	defer d.mu.Unlock()
	return path != "" && d.inside(path) && !d.withholds(path)
}

// prompt makes the prompt about a place; not ok: its text may not be told.
func (d *desk) prompt(kind state.PromptKind, where place) (state.Prompt, bool) {
	if !d.tells(where.URI) {
		return state.Prompt{}, false
	}
	path := fileuri.Path(where.URI)
	d.mu.Lock()
	defer d.mu.Unlock()
	doc := d.documents[path]
	p := state.Prompt{Kind: kind, Path: path, Range: doc.span(d.units, where.Range)}
	p.Text, p.Cut = doc.excerpt(d.units, where.Range)
	for _, f := range where.Findings[:min(len(where.Findings), maxItems)] {
		p.Diagnostics = append(p.Diagnostics, f.diagnostic(doc, d.units))
	}
	return p, true
}
