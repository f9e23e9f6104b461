package acp

import (
	"encoding/json"
	"fmt"
	"slices"

	store "kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

// What an editor was shown and the recording of the Wire has no place for is kept
// beside it, so that a session that is loaded looks as it did: the blocks of prompts
// with mentions, and whole texts of edits.

// blocksToKeep gives the blocks of a prompt when they are more than texts. Images are
// left out: the recording has them.
func blocksToKeep(prompt json.RawMessage) []json.RawMessage {
	var blocks []json.RawMessage
	if json.Unmarshal(prompt, &blocks) != nil {
		return nil
	}
	keep := false
	for i, raw := range blocks {
		b, _ := object(raw)
		switch b.optionalText("type") {
		case "resource", "resource_link":
			keep = true
		default:
			blocks[i] = nil // made of the part at its place
		}
	}
	if !keep {
		return nil
	}
	return slices.Clip(blocks)
}

func promptKey(n int) string { return fmt.Sprintf("prompt %d", n) }

// keepPrompt keeps the blocks of the n-th prompt, if there is a need.
func (s *session) keepPrompt(n int) {
	blocks, kept := s.asked, s.file()
	s.asked = nil
	if blocks == nil || kept == nil {
		return
	}
	if err := kept.SetAside(promptKey(n), blocks); err != nil {
		s.agent.log.Debug("the blocks of a prompt were not kept", "session", s.id, "error", err)
	}
}

// shownResult is what of a tool's result stays in this process; see
// wire.ToolReturnValue.
type shownResult struct {
	Files []shownFile     `json:"files,omitempty"`
	Todo  []shownTodo     `json:"todo,omitempty"`
	Input json.RawMessage `json:"input,omitempty"` // the arguments, when those of the model were no JSON
}

type shownFile struct {
	Path string  `json:"path"`
	Old  *string `json:"old"`
	New  string  `json:"new"`
	Line int     `json:"line"`

	Deleted bool `json:"deleted,omitempty"`
}

type shownTodo struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Status    string   `json:"status"`
	Priority  string   `json:"priority"`
	DependsOn []string `json:"depends_on,omitempty"`
}

// callKey is where the rest of a call's result is kept; id is the editor's.
func callKey(id string) string { return "call " + id }

// keepResult keeps what an editor was shown of a call and the recording lacks.
func keepResult(kept *store.Session, s *shownCall, v wire.ToolReturnValue) {
	if len(v.Files) == 0 && v.Todo == nil && s.mended == nil {
		return
	}
	shown := shownResult{Input: s.mended}
	for _, f := range v.Files {
		shown.Files = append(shown.Files, shownFile(f))
	}
	for _, t := range v.Todo {
		shown.Todo = append(shown.Todo, shownTodo(t))
	}
	// Without it, hunks are shown instead of whole texts.
	_ = kept.SetAside(callKey(s.id), shown)
}

// complete gives a recorded result what is kept beside it; where there is nothing, the
// hunks of its display stand for the texts.
func (s *session) complete(kept *store.Session, id string, v wire.ToolReturnValue) (wire.ToolReturnValue, json.RawMessage) {
	var shown shownResult
	if kept.Aside(callKey(id), &shown) {
		for _, f := range shown.Files {
			v.Files = append(v.Files, wire.FileChange(f))
		}
		for _, t := range shown.Todo {
			v.Todo = append(v.Todo, wire.PlanItem(t))
		}
		return v, shown.Input
	}
	for _, b := range v.Display {
		if d := b.Diff; b.Type == wire.BlockDiff && d != nil && !d.IsSummary && !v.IsError {
			old := d.OldText
			v.Files = append(v.Files, wire.FileChange{Path: s.absolute(d.Path), Old: &old, New: d.NewText, Line: max(d.NewStart, 1)})
		}
	}
	return v, nil
}
