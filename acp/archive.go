package acp

import (
	"context"
	"errors"

	"kimi-acp/internal/jsonrpc"
)

// archive serves session/archive, which closes a session and puts it out of the way, and
// session/unarchive. The methods are of the draft, and no schema that is published holds
// them yet; so they are served where the editor asked for them, and offered among our own.
func (a *Agent) archive(call *jsonrpc.Call, archived bool) {
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
		call.Reply(struct{}{}, a.setArchived(id, archived)) // before what waits is served
		return nil, nil
	})
}

// setArchived notes that a session is in the archive, or is not. One that goes into it
// is closed.
func (a *Agent) setArchived(id string, archived bool) error {
	a.mu.Lock()
	open := a.sessions[id]
	a.mu.Unlock()
	if open != nil && !archived {
		var failed error
		set := func() { failed = open.file().SetArchived(false) }
		if open.file() != nil {
			set() // also while a turn runs
		} else if err := open.awake(set); err != nil {
			return err
		}
		if failed != nil {
			return storeError(id, failed)
		}
		return nil
	}
	if open != nil {
		a.end(open)
	}
	kept, err := a.opts.Sessions.Open("", id)
	if err != nil {
		return storeError(id, err)
	}
	if err := errors.Join(kept.SetArchived(archived), kept.Close()); err != nil {
		return storeError(id, err)
	}
	return nil
}
