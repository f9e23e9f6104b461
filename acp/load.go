package acp

import (
	"context"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
)

// reopen serves session/load, which shows the conversation before the answer, and
// session/resume, which does not.
func (a *Agent) reopen(call *jsonrpc.Call, show bool) {
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
	release := a.claim(id)
	call.GoLocal(func(context.Context) (any, error) {
		defer release()
		s, err := a.bringBack(id, roots, a.mcpServers(p))
		if err != nil {
			call.Reply(nil, err) // before what waits is served
			return nil, nil
		}
		if err := s.begin(show); err != nil {
			close(s.told)
			a.end(s)
			call.Reply(nil, err)
			return nil, nil
		}
		defer close(s.told)
		// Many sessions are only looked at. The first prompt takes this one.
		s.park()
		call.Reply(s.stateOf(), nil)
		s.announceCommands()
		s.tellFallback()
		s.tellBegin("resume")
		return nil, nil
	})
}

// begin shows what was said in a session, or notes that it is not known yet.
func (s *session) begin(show bool) error {
	s.working.Lock()
	defer s.working.Unlock()
	if !show {
		s.unread = true
		return nil
	}
	if s.file() == nil { // parked already, as one of too many
		if err := s.unpark(); err != nil {
			return err
		}
	}
	if err := s.replay(s.file(), false); err != nil {
		s.agent.log.Error("a session was not shown whole", "session", s.id, "error", err)
	}
	return nil
}

// opens reads what the methods that open a session have in common.
func (a *Agent) opens(call *jsonrpc.Call) (members, []string, error) {
	p, err := parseParams(call.Params())
	if err != nil {
		return nil, nil, err
	}
	roots, err := sessionRoots(p)
	if err != nil {
		return nil, nil, err
	}
	return p, roots, a.admits()
}

// bringBack opens a session that is kept. One that is open here is closed first,
// unless a turn of it runs.
func (a *Agent) bringBack(id string, roots []string, mcp []soul.MCPServer) (*session, error) {
	open := a.opened(id)
	if open != nil {
		if open.busy() {
			return nil, invalidRequest("A prompt of this session runs; wait for its end, or cancel it, and load the session then")
		}
		if err := open.wouldOpen(roots); err != nil { // then it stays as it is
			return nil, err
		}
		a.end(open)
	}
	kept, err := a.opts.Sessions.Open("", id)
	if err != nil {
		return nil, storeError(id, err)
	}
	if dir := kept.WorkDir(); dir != "" && dir != roots[0] {
		_ = kept.Close() // nothing was written to it
		return nil, elsewhere(dir)
	}
	for _, note := range kept.Restored().Skipped {
		a.log.Warn("a session was mended", "session", id, "what", note)
	}
	return a.open(opening{id: id, roots: roots, mcp: mcp, kept: kept})
}

// elsewhere is the error for a session that is opened in another folder than its own.
func elsewhere(dir string) error {
	return invalid("cwd must be %s, where the session was made", clip(dir))
}

// wouldOpen tells why the session could not be opened anew with these roots, nil if it
// seems that it can.
func (s *session) wouldOpen(roots []string) error {
	if s.roots[0] != roots[0] {
		return elsewhere(s.roots[0])
	}
	disk, err := openRoots(roots)
	if err != nil {
		return err
	}
	_ = disk.Close() // only looked at
	return nil
}

// fellBack notes a sentence about what is not as it was, "" for nothing.
func (s *session) fellBack(what string) {
	if s.fallback != "" && what != "" {
		s.fallback += ". "
	}
	s.fallback += what
}

// tellFallback tells an editor that takes notices what is not as it was.
func (s *session) tellFallback() {
	if s.fallback != "" && s.client.notices {
		s.update(noticeUpdate{SessionUpdate: "notice", Severity: "warning", Title: s.fallback})
	}
}

// busy tells whether a prompt runs or waits. One that was answered does not.
func (s *session) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue) > 0
}

// end cancels all turns of a session, waits for their answers, and closes it. It is
// unknown from then on.
func (a *Agent) end(s *session) {
	<-s.told // what is still sent of it must not come behind the answer to its end
	s.mu.Lock()
	s.closing = true
	for _, t := range s.queue {
		t.cancel()
	}
	idle := s.idle
	s.stopParking()
	s.mu.Unlock()
	if idle != nil {
		<-idle
	}
	s.working.Lock()
	defer s.working.Unlock()
	a.mu.Lock()
	delete(a.sessions, s.id)
	a.mu.Unlock()
	s.saveOptions() // of a change whose saving is still to come
	s.close()
	s.silence()
}
