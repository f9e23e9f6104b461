package acp

import (
	sdk "github.com/coder/acp-go-sdk"

	"kimi-acp/internal/jsonrpc"
)

// Methods without a constant in the SDK: of the draft, and ours.
const (
	methodSetTitle  = "session/set_title"
	methodArchive   = "session/archive"
	methodUnarchive = "session/unarchive"
	methodRewind    = "_kimi/session/rewind"
)

// lifecycle gives what serves a method about sessions as a whole, nil for another one.
func (a *Agent) lifecycle(method string) func(*jsonrpc.Call) {
	if method == sdk.AgentMethodSessionClose {
		return a.closeSession
	}
	if a.opts.Sessions == nil {
		return nil
	}
	a.mu.Lock()
	archives := a.client.archives
	a.mu.Unlock()
	switch method {
	case sdk.AgentMethodSessionLoad:
		return func(call *jsonrpc.Call) { a.reopen(call, true) }
	case sdk.AgentMethodSessionResume:
		return func(call *jsonrpc.Call) { a.reopen(call, false) }
	case sdk.AgentMethodSessionFork:
		return a.forkSession
	case sdk.AgentMethodSessionList:
		return a.listSessions
	case sdk.AgentMethodSessionDelete:
		return a.deleteSession
	case methodSetTitle:
		return a.setTitle
	case methodArchive, methodUnarchive:
		if archives {
			return func(call *jsonrpc.Call) { a.archive(call, method == methodArchive) }
		}
	case methodRewind:
		return a.rewind
	}
	return nil
}
