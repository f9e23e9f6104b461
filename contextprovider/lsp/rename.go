package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/contextprovider"
	"kimi-acp/internal/fileuri"
)

// maxRewrites bounds the files that a rename may change.
const maxRewrites = 200

// Rename asks a server; nothing else knows what else is called so.
func (s *Servers) Rename(ctx context.Context, place contextprovider.Place, to string) ([]contextprovider.Rewrite, error) {
	if strings.TrimSpace(to) != to || to == "" {
		return nil, fmt.Errorf("%q is no name", to)
	}
	c, at, err := s.at(ctx, place)
	if err != nil {
		return nil, err
	}
	raw, err := c.ask(ctx, protocol.MethodTextDocumentRename, protocol.RenameParams{TextDocumentPositionParams: at, NewName: to})
	if err != nil {
		return nil, err
	}
	edits, err := textEdits(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.server.Name, err)
	}
	if len(edits) == 0 {
		return nil, fmt.Errorf("%s finds nothing to rename there", c.server.Name)
	}
	return s.rewrites(ctx, c, edits)
}

// rewrites makes texts out of edits.
func (s *Servers) rewrites(ctx context.Context, c *client, edits map[string][]protocol.TextEdit) ([]contextprovider.Rewrite, error) {
	if len(edits) > maxRewrites {
		return nil, fmt.Errorf("the name stands in %d files, and no more than %d are changed at once", len(edits), maxRewrites)
	}
	var all []contextprovider.Rewrite
	for path, list := range edits {
		if s.rootOf(path) == "" {
			return nil, fmt.Errorf("%s would have to be changed, which lies outside of the workspace", path)
		}
		before, err := s.o.Read(ctx, path)
		if err != nil {
			return nil, err
		}
		// The edits count in the text that the server has: ours, or else the disk's.
		if c.documents.version(path) > 0 && !c.documents.holds(path, before) {
			return nil, fmt.Errorf("%s has changed meanwhile; try again", path)
		}
		after, err := applied(before, list)
		if err != nil {
			return nil, fmt.Errorf("%s gave edits of %s that cannot be made: %w", c.server.Name, path, err)
		}
		if after != before {
			all = append(all, contextprovider.Rewrite{Path: path, Before: before, After: after})
		}
	}
	slices.SortStableFunc(all, func(a, b contextprovider.Rewrite) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// textEdits reads a workspace edit. Files that are to be made, moved or deleted are an
// error: a rename that does so is more than was asked for.
func textEdits(raw json.RawMessage) (map[string][]protocol.TextEdit, error) {
	var w struct {
		Changes         map[protocol.DocumentUri][]protocol.TextEdit `json:"changes"`
		DocumentChanges []struct {
			Kind         string                          `json:"kind"`
			TextDocument protocol.TextDocumentIdentifier `json:"textDocument"`
			Edits        []protocol.TextEdit             `json:"edits"`
		} `json:"documentChanges"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, errors.New("the edits cannot be read")
	}
	out := map[string][]protocol.TextEdit{}
	add := func(uri protocol.DocumentUri, edits []protocol.TextEdit) error {
		path := fileuri.Path(uri)
		if path == "" {
			return errors.New("an edit is for something that is no file")
		}
		out[path] = append(out[path], edits...)
		return nil
	}
	if len(w.DocumentChanges) > 0 { // where both are there, these count
		w.Changes = nil
	}
	for _, d := range w.DocumentChanges {
		if d.Kind != "" {
			return nil, fmt.Errorf("the rename would also %s files, which is not done", clip(d.Kind, 20))
		}
		if err := add(d.TextDocument.URI, d.Edits); err != nil {
			return nil, err
		}
	}
	for uri, edits := range w.Changes {
		if err := add(uri, edits); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// applied makes edits of a text, which all count in the text as it was.
func applied(text string, edits []protocol.TextEdit) (string, error) {
	type piece struct {
		start, end int
		text       string
	}
	pieces := make([]piece, 0, len(edits))
	for _, e := range edits {
		p := piece{offsetOf(text, e.Range.Start), offsetOf(text, e.Range.End), e.NewText}
		if p.end < p.start {
			return "", errors.New("one ends before it begins")
		}
		pieces = append(pieces, p)
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Or(a.start-b.start, a.end-b.end) })
	var out strings.Builder
	at := 0
	for _, p := range pieces {
		if p.start < at {
			return "", errors.New("two overlap")
		}
		out.WriteString(text[at:p.start])
		out.WriteString(p.text)
		at = p.end
	}
	out.WriteString(text[at:])
	return out.String(), nil
}
