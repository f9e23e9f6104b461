package lsp

import (
	"context"
	"maps"
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
	next, events := make(map[string]time.Time, len(changed)), map[string]protocol.UInteger{}
	for _, path := range changed {
		at, kind := lastChange(path)
		next[path] = at
		if was, known := p.times[path]; p.times != nil && (!known || !was.Equal(at)) {
			events[path] = kind
		}
	}
	for path := range p.times {
		if _, still := next[path]; !still { // it was taken back, stashed or committed
			_, events[path] = lastChange(path)
		}
	}
	p.times = next
	p.tell(events)
}

// lastChange is when a file was changed, the zero time for one that is not there, and in
// which way.
func lastChange(path string) (time.Time, protocol.UInteger) {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}, protocol.UInteger(protocol.FileChangeTypeDeleted)
	}
	return info.ModTime(), protocol.UInteger(protocol.FileChangeTypeChanged)
}

// tell tells the servers of changes of files of theirs, by path.
func (p *problemsProvider) tell(events map[string]protocol.UInteger) {
	if len(events) == 0 {
		return
	}
	for _, c := range p.servers.running() {
		var tell protocol.DidChangeWatchedFilesParams
		for _, path := range slices.Sorted(maps.Keys(events)) {
			if !c.server.serves(path) {
				continue
			}
			tell.Changes = append(tell.Changes, protocol.FileEvent{URI: fileuri.Of(path), Type: events[path]})
		}
		if len(tell.Changes) > 0 {
			_ = c.conn.Notify(protocol.MethodWorkspaceDidChangeWatchedFiles, tell) // a server that is gone needs no news
		}
	}
}
