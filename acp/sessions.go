package acp

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"kimi-acp/internal/jsonrpc"
	store "kimi-acp/soul/session"
)

// closeSession serves session/close.
func (a *Agent) closeSession(call *jsonrpc.Call) {
	_, s, err := a.addressed(call)
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	release := a.claim(s.id)
	call.Go(func(context.Context) (any, error) {
		defer release()
		a.end(s)
		call.Reply(struct{}{}, nil) // before what waits is served
		return nil, nil
	})
}

// deleteSession serves session/delete. A session that is open is closed first; one
// that is not there is fine.
func (a *Agent) deleteSession(call *jsonrpc.Call) {
	a.withID(call, func(id string) error {
		if open := a.opened(id); open != nil {
			a.end(open)
		}
		if err := a.opts.Sessions.Delete(id); err != nil && !errors.Is(err, store.ErrID) {
			return storeError(id, err)
		}
		return nil
	})
}

// withID serves a request about a kept session that may be open or not: what else comes
// for the session waits until it is answered.
func (a *Agent) withID(call *jsonrpc.Call, serve func(id string) error) {
	p, err := parseParams(call.Params())
	var id string
	if err == nil {
		id, err = p.text("sessionId")
	}
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	release := a.claim(id)
	call.GoLocal(func(context.Context) (any, error) {
		defer release()
		call.Reply(struct{}{}, serve(id)) // before what waits is served
		return nil, nil
	})
}

// opened is the session of that id, nil when it is not open.
func (a *Agent) opened(id string) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sessions[id]
}

// forkSession serves session/fork, a method of the draft.
func (a *Agent) forkSession(call *jsonrpc.Call) {
	p, roots, err := a.opens(call)
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	id, err := p.text("sessionId")
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	call.GoLocal(func(context.Context) (any, error) {
		open := a.opened(id)
		if open != nil && open.busy() {
			return nil, invalidRequest("A prompt of this session runs; wait for its end, or cancel it, and fork the session then")
		}
		kept, err := a.opts.Sessions.Fork(id, roots[0])
		if err != nil {
			return nil, storeError(id, err)
		}
		s, err := a.open(opening{id: kept.ID(), roots: roots, mcp: a.mcpServers(p), kept: kept, fork: true})
		if err != nil {
			return nil, err
		}
		defer close(s.told)
		s.unread = true
		call.Reply(newSessionResult{SessionID: s.id, sessionState: s.stateOf()}, nil)
		s.announceCommands()
		return nil, nil
	})
}

type listResult struct {
	Sessions   []sessionInfo `json:"sessions"`
	NextCursor string        `json:"nextCursor,omitempty"`
}

type sessionInfo struct {
	SessionID string       `json:"sessionId"`
	Cwd       string       `json:"cwd"`
	Title     string       `json:"title,omitempty"`
	UpdatedAt string       `json:"updatedAt,omitempty"`
	Meta      *sessionMeta `json:"_meta,omitempty"`
}

type sessionMeta struct {
	Kimi struct {
		Archived bool `json:"archived"`
	} `json:"kimi"`
}

// listSessions serves session/list.
func (a *Agent) listSessions(call *jsonrpc.Call) {
	p, ok := object(call.Params())
	if !ok && kindOf(call.Params()) != "null" && kindOf(call.Params()) != "nothing" {
		call.ReplyNow(nil, invalid("params must be an object, not %s", kindOf(call.Params())))
		return
	}
	o := store.ListOptions{WorkDir: p.optionalText("cwd"), Cursor: p.optionalText("cursor")}
	if o.WorkDir != "" && !filepath.IsAbs(o.WorkDir) {
		call.ReplyNow(nil, invalid("cwd must be an absolute path, not %q", clip(o.WorkDir)))
		return
	}
	asked := p.optionalText("archived")
	switch asked {
	case "", "exclude":
		o.Archived = store.ArchivedLeftOut
	case "include":
	case "only":
		o.Archived = store.ArchivedAlone
	default:
		call.ReplyNow(nil, invalid("archived must be exclude, include or only, not %q", clip(asked)))
		return
	}
	call.GoLocal(func(context.Context) (any, error) {
		page, err := a.opts.Sessions.List(o)
		if err != nil {
			return nil, storeError("", err)
		}
		result := listResult{Sessions: []sessionInfo{}, NextCursor: page.Next}
		for _, s := range page.Sessions {
			info := sessionInfo{s.ID, s.WorkDir, s.Title, s.UpdatedAt.UTC().Format(time.RFC3339), nil}
			if s.Archived { // the published schema has no member for it
				info.Meta = &sessionMeta{}
				info.Meta.Kimi.Archived = true
			}
			result.Sessions = append(result.Sessions, info)
		}
		call.ReplyNow(result, nil)
		return nil, nil
	})
}

// setTitle serves session/set_title, a method of the draft.
func (a *Agent) setTitle(call *jsonrpc.Call) {
	p, s, err := a.addressed(call)
	var title string
	if err == nil {
		title, err = p.text("title")
	}
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	call.GoLocal(func(context.Context) (any, error) {
		err := s.withFile(func(kept *store.Session) error {
			err := kept.SetTitle(title)
			title = kept.Title()
			return err
		})
		if err != nil {
			return nil, err
		}
		s.isTitled(title)
		call.ReplyNow(map[string]string{"title": title}, nil)
		return nil, nil
	})
}
