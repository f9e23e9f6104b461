package acp

import (
	"errors"

	"kimi-acp/internal/jsonrpc"
	store "kimi-acp/soul/session"
)

// archive serves session/archive, which closes a session and puts it out of the way, and
// session/unarchive. The methods are of the draft, and no schema that is published holds
// them yet; so they are served where the editor asked for them, and offered among our own.
func (a *Agent) archive(call *jsonrpc.Call, archived bool) {
	a.withID(call, func(id string) error { return a.setArchived(id, archived) })
}

// setArchived notes that a session is in the archive, or is not. One that goes into it
// is closed.
func (a *Agent) setArchived(id string, archived bool) error {
	open := a.opened(id)
	if open != nil && !archived {
		return open.withFile(func(kept *store.Session) error { return kept.SetArchived(false) })
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
