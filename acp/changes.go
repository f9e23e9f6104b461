package acp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"kimi-acp/fileop"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul/tool"
)

// The methods by which an editor looks at the changes of a session and decides about
// them. ACP has none of its own; docs/acp-extensions.md describes them.
const (
	methodChangesList   = "_kimi/changes/list"
	methodChangesAccept = "_kimi/changes/accept"
	methodChangesReject = "_kimi/changes/reject"
)

// Bounds on one answer. Older changes, and later diffs, are left out beyond them.
const (
	maxChanges     = 2000
	maxChangeDiffs = 4 << 20 // bytes
)

// changesMethod is what serves a method once its session is found.
type changesMethod func(*session, context.Context, members) (any, error)

// changesMethods are the methods about changes by name.
func changesMethods() map[string]changesMethod {
	return map[string]changesMethod{
		methodChangesList:   (*session).listChanges,
		methodChangesAccept: (*session).acceptChanges,
		methodChangesReject: (*session).rejectChanges,
	}
}

// changes serves a method about changes. It does not keep the reader waiting: the
// editor may be asked for files.
func (a *Agent) changes(call *jsonrpc.Call, serve changesMethod) {
	p, s, err := a.addressed(call)
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	call.Go(func(ctx context.Context) (any, error) {
		if err := s.journalIsOpen(ctx); err != nil {
			return nil, err
		}
		return serve(s, ctx, p)
	})
}

// journalIsOpen sees to it that the journal holds what was done before the session was
// brought back. A turn that runs opens it, and may be about to.
func (s *session) journalIsOpen(ctx context.Context) error {
	t := s.running()
	if t == nil {
		return s.awake(func() {})
	}
	select {
	case <-t.woken:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// change is a change of a file as editors are told of it.
type change struct {
	ID         string       `json:"id"`
	Kind       string       `json:"kind"`
	Path       string       `json:"path"`
	NewPath    string       `json:"newPath,omitempty"`
	State      string       `json:"state"`
	Reason     string       `json:"reason,omitempty"`
	Turn       int          `json:"turn,omitempty"`
	Step       int          `json:"step,omitempty"`
	ToolCallID string       `json:"toolCallId,omitempty"`
	Tool       string       `json:"tool,omitempty"`
	ByCommand  bool         `json:"byCommand"`
	Confidence float64      `json:"confidence"`
	At         string       `json:"at"`
	Hunks      []changeHunk `json:"hunks"`
	Diff       string       `json:"diff,omitempty"`
}

// changeHunk is a part of a change. Lines are counted from 1.
type changeHunk struct {
	Index    int    `json:"index"`
	OldStart int    `json:"oldStart"`
	OldLines int    `json:"oldLines"`
	NewStart int    `json:"newStart"`
	NewLines int    `json:"newLines"`
	Verdict  string `json:"verdict,omitempty"`
}

// changeOutcome is what came of taking a change back.
type changeOutcome struct {
	ID      string `json:"id"`
	Path    string `json:"path"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
}

type changesResult struct {
	Outcomes  []changeOutcome `json:"outcomes,omitempty"`
	Changes   []change        `json:"changes"`
	Omitted   int             `json:"omitted,omitempty"`
	Uncovered []string        `json:"uncovered,omitempty"`
}

func (s *session) listChanges(_ context.Context, p members) (any, error) {
	actions := s.journal.List(p.flag("all"))
	result := changesResult{Omitted: max(0, len(actions)-maxChanges), Uncovered: s.journal.Uncovered()}
	result.Changes = toldChanges(actions[result.Omitted:])
	room := maxChangeDiffs
	for i := range result.Changes {
		if !p.flag("diffs") || room <= 0 {
			break
		}
		c := &result.Changes[i]
		c.Diff = s.journal.Diff(fileop.ActionID(c.ID))
		room -= len(c.Diff)
	}
	return result, nil
}

func (s *session) acceptChanges(_ context.Context, p members) (any, error) {
	r, err := reviewed(p)
	if err != nil {
		return nil, err
	}
	actions, err := s.journal.Accept(r)
	if err != nil {
		return nil, reviewError(r, err)
	}
	return changesResult{Changes: toldChanges(actions)}, nil
}

func (s *session) rejectChanges(ctx context.Context, p members) (any, error) {
	r, err := reviewed(p)
	if err != nil {
		return nil, err
	}
	undone, actions, err := s.journal.Reject(ctx, r)
	if err != nil {
		return nil, reviewError(r, err)
	}
	result := changesResult{Changes: toldChanges(actions)}
	for _, u := range undone {
		o := changeOutcome{ID: string(u.Action), Path: u.Path, Outcome: string(u.How)}
		if u.Err != nil {
			o.Reason = u.Err.Error()
		}
		result.Outcomes = append(result.Outcomes, o)
	}
	return result, nil
}

// reviewed reads what is to be accepted or rejected.
func reviewed(p members) (r tool.Reviewed, err error) {
	_, byID := p["id"]
	_, byPath := p["path"]
	switch {
	case byID == byPath:
		return r, invalid("give the id of a change, or the path of a file, and not both")
	case byPath:
		if r.Path, err = p.text("path"); err == nil && r.Path == "" {
			err = invalid("path is empty")
		}
	default:
		var id string
		if id, err = p.text("id"); err == nil && id == "" {
			err = invalid("id is empty")
		}
		r.Action = fileop.ActionID(id)
	}
	raw, given := p["hunks"]
	if !given || err != nil {
		return r, err
	}
	if json.Unmarshal(raw, &r.Hunks) != nil || len(r.Hunks) == 0 {
		return r, invalid("hunks must be a list of indexes of hunks, at least one; leave it out for all of the change")
	}
	if byPath {
		return r, invalid("hunks go with the id of a change, not with a path")
	}
	return r, nil
}

// reviewError says what is wrong with what was to be accepted or rejected.
func reviewError(r tool.Reviewed, err error) error {
	data := map[string]any{"id": clip(string(r.Action))}
	if r.Action == "" {
		data = map[string]any{"path": clip(r.Path)}
	}
	e := &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: clip(err.Error()), Data: data}
	switch {
	case errors.Is(err, fileop.ErrNoAction):
		e.Code = codeNotFound
	case errors.Is(err, fileop.ErrNoHunk):
		e.Code = jsonrpc.CodeInvalidParams
	case errors.Is(err, fileop.ErrNotApplied), errors.Is(err, tool.ErrBusy):
		e.Code = jsonrpc.CodeInvalidRequest
	case errors.Is(err, context.Canceled):
		return err
	}
	return e
}

func toldChanges(actions []fileop.TaskAction) []change {
	out := make([]change, 0, len(actions))
	for _, a := range actions {
		c := change{
			ID: string(a.ID), Kind: string(a.Kind), Path: a.Path, NewPath: a.NewPath, State: string(a.State), Reason: a.Reason,
			Turn: a.Cause.Turn, Step: a.Cause.Step, ToolCallID: a.Cause.ToolCall, Tool: a.Cause.Tool, ByCommand: a.Cause.Command,
			Confidence: a.Confidence, At: a.At.UTC().Format(time.RFC3339), Hunks: []changeHunk{},
		}
		for _, h := range a.Hunks {
			c.Hunks = append(c.Hunks, changeHunk{
				Index: h.ID, OldStart: h.OldStart, OldLines: h.OldLines, NewStart: h.NewStart, NewLines: h.NewLines, Verdict: string(h.Verdict),
			})
		}
		out = append(out, c)
	}
	return out
}
