package lsp

import (
	"context"
	"os"
	"slices"
	"time"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/contextprovider"
	"kimi-acp/internal/fileuri"
)

// problemsProvider tells the problems of the files that a prompt is about and of those
// that were edited.
type problemsProvider struct {
	servers *Servers
	times   map[string]time.Time // when the files that git names were changed last
}

// Name is "diagnostics".
func (*problemsProvider) Name() string { return "diagnostics" }

// Bounds on the problems that are told.
const (
	maxToldFiles = 8
	maxToldEach  = 20
)

// Gather gives errors and warnings, as far as servers know them soon.
func (p *problemsProvider) Gather(ctx context.Context, q contextprovider.Query) (contextprovider.Facts, error) {
	s := p.servers
	ctx, cancel := context.WithTimeout(ctx, s.o.pace.gather)
	defer cancel()
	p.notice(q.Changed)
	var facts contextprovider.Facts
	for _, path := range p.files(q) {
		c := s.client(ctx, path, q.Prompt != "")
		if c == nil {
			continue
		}
		all, ok, err := s.diagnose(ctx, c, path)
		if err != nil {
			continue // it was deleted, or is too large
		}
		if !ok {
			known, _ := c.findings.get(path)
			all = known.all
		}
		n := 0
		for _, d := range all {
			if d.Severity <= contextprovider.SeverityWarning && n < maxToldEach {
				facts.Diagnostics = append(facts.Diagnostics, d)
				n++
			}
		}
	}
	return facts, nil
}

// files are the active one, those that are mentioned and those that were edited.
func (p *problemsProvider) files(q contextprovider.Query) []string {
	q.Changed = nil
	if q.Editor != nil {
		active := *q.Editor
		active.Open = nil
		q.Editor = &active
	}
	var all []string
	for _, path := range append(focus(q), p.servers.lately()...) {
		if len(all) < maxToldFiles && !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	return all
}

// notice tells the servers of files that were changed on disk by others, which they
// cannot see: nobody watches the disk for them.
func (p *problemsProvider) notice(changed []string) {
	next := make(map[string]time.Time, len(changed))
	var events []string
	for _, path := range changed {
		info, err := os.Lstat(path)
		at := time.Time{}
		if err == nil {
			at = info.ModTime()
		}
		next[path] = at
		if was, known := p.times[path]; p.times != nil && (!known || !was.Equal(at)) {
			events = append(events, path)
		}
	}
	p.times = next
	for _, c := range p.servers.running() {
		var tell protocol.DidChangeWatchedFilesParams
		for _, path := range events {
			if !c.server.serves(path) {
				continue
			}
			kind := protocol.FileChangeTypeChanged
			if next[path].IsZero() {
				kind = protocol.FileChangeTypeDeleted
			}
			tell.Changes = append(tell.Changes, protocol.FileEvent{URI: fileuri.Of(path), Type: protocol.UInteger(kind)})
		}
		if len(tell.Changes) > 0 {
			_ = c.conn.Notify(protocol.MethodWorkspaceDidChangeWatchedFiles, tell) // a server that is gone needs no news
		}
	}
}
