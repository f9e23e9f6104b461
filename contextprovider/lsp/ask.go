package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"time"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/contextprovider"
)

// Bounds on answers.
const (
	maxFound      = 300
	maxReferences = 300
	maxDepth      = 20 // of symbols within symbols
)

// longestDiagnosis is how long the problems of a file are waited for when somebody asks.
const longestDiagnosis = 10 * time.Second

// maxReads bounds how often a file is read again because an edit told the server its text
// while it was read.
const maxReads = 3

// show tells a server the text of a file as the user sees it.
func (s *Servers) show(ctx context.Context, c *client, path string) (text string, version int, told bool, err error) {
	for range maxReads {
		had := c.documents.version(path)
		if text, err = s.o.Read(ctx, path); err != nil {
			return "", 0, false, err
		}
		if version, told, err = c.documents.syncSince(had, path, text); !errors.Is(err, errOvertaken) {
			break
		}
	}
	return text, version, told, c.explain("open", err)
}

// showOthers tells a server the texts of the files besides one that it holds open, or
// that are not saved. Each may be a question to the editor, so it is not for what
// happens with every prompt.
func (s *Servers) showOthers(ctx context.Context, c *client, path string) {
	others := c.documents.paths()
	for _, p := range s.o.Unsaved() {
		if c.server.serves(p) && s.rootOf(p) != "" && len(others) < maxOpen-1 && !slices.Contains(others, p) {
			others = append(others, p)
		}
	}
	for _, p := range others {
		if p == path {
			continue
		}
		// One that is too large is for the server as it is on disk.
		if _, _, _, err := s.show(ctx, c, p); errors.Is(err, fs.ErrNotExist) {
			c.documents.close(p)
		}
	}
}

// at gives a server that has the file of a place, and the position in it.
func (s *Servers) at(ctx context.Context, place contextprovider.Place) (*client, protocol.TextDocumentPositionParams, error) {
	c, err := s.forFile(ctx, place.Path, true)
	if err != nil {
		return nil, protocol.TextDocumentPositionParams{}, err
	}
	s.showOthers(ctx, c, place.Path)
	text, _, _, err := s.show(ctx, c, place.Path)
	if err != nil {
		return nil, protocol.TextDocumentPositionParams{}, err
	}
	pos, err := positionOf(text, place)
	return c, protocol.TextDocumentPositionParams{TextDocument: identifier(place.Path), Position: pos}, err
}

// Diagnostics waits for what a server says about a file, at most 10 seconds.
func (s *Servers) Diagnostics(ctx context.Context, path string) ([]contextprovider.Diagnostic, error) {
	c, err := s.forFile(ctx, path, true)
	if err != nil {
		return nil, err
	}
	s.showOthers(ctx, c, path)
	bounded, cancel := context.WithTimeout(ctx, longestDiagnosis)
	defer cancel()
	all, ok, err := s.diagnose(bounded, c, path)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errors.New(c.server.Name + " has not said anything about this file yet; ask again later")
	}
	return all, nil
}

// diagnose gives the problems of a file as it is now. It is false when they did not come
// before ctx ended.
func (s *Servers) diagnose(ctx context.Context, c *client, path string) ([]contextprovider.Diagnostic, bool, error) {
	_, version, told, err := s.show(ctx, c, path)
	if err != nil {
		return nil, false, err
	}
	mark := c.documents.told(path)
	known, ok := c.findings.get(path)
	if ok && !told && known.about(version, mark) {
		return known.all, true, nil
	}
	if p, found := c.findings.await(ctx, path, version, mark); found {
		return p.all, true, nil
	}
	// Some servers do not say again what has not changed. One that was told the text before,
	// and has said nothing until now, may be such a one.
	return known.all, ok && !told, nil
}

// Definition asks a server, or looks for something of that name in the texts.
func (s *Servers) Definition(ctx context.Context, place contextprovider.Place) (contextprovider.Found, error) {
	c, at, err := s.at(ctx, place)
	if errors.Is(err, contextprovider.ErrNoServer) {
		return s.guessDefinition(ctx, place, err)
	}
	if err != nil {
		return contextprovider.Found{}, err
	}
	return s.definition(ctx, c, at, place.Symbol)
}

func (s *Servers) definition(ctx context.Context, c *client, at protocol.TextDocumentPositionParams, name string) (contextprovider.Found, error) {
	raw, err := c.ask(ctx, protocol.MethodTextDocumentDefinition, protocol.DefinitionParams{TextDocumentPositionParams: at})
	if err != nil {
		return contextprovider.Found{}, err
	}
	c.warm.Store(true)
	found := contextprovider.Found{By: c.server.Name}
	signature, doc := c.hover(ctx, at)
	for _, place := range spots(raw) {
		path, pos := place.where()
		if path == "" {
			continue
		}
		if len(found.Symbols) >= maxFound {
			found.More = true
			break
		}
		found.Symbols = append(found.Symbols, contextprovider.Symbol{Name: name, Path: path, Line: int(pos.Line) + 1, Signature: signature, Doc: doc, References: -1})
	}
	return found, nil
}

// hover gives signature and text of what stands at a position, empty where the server
// does not tell.
func (c *client) hover(ctx context.Context, at protocol.TextDocumentPositionParams) (signature, doc string) {
	var h card
	if c.call(ctx, protocol.MethodTextDocumentHover, protocol.HoverParams{TextDocumentPositionParams: at}, &h) != nil {
		return "", ""
	}
	signature, doc = h.parts()
	return clip(signature, maxMessage), clip(doc, maxMessage)
}

// References asks a server; nothing else knows them.
func (s *Servers) References(ctx context.Context, place contextprovider.Place) ([]contextprovider.Reference, error) {
	c, at, err := s.at(ctx, place)
	if err != nil {
		return nil, err
	}
	return c.references(ctx, at)
}

func (c *client) references(ctx context.Context, at protocol.TextDocumentPositionParams) ([]contextprovider.Reference, error) {
	raw, err := c.ask(ctx, protocol.MethodTextDocumentReferences, protocol.ReferenceParams{TextDocumentPositionParams: at})
	if err != nil {
		return nil, err
	}
	c.warm.Store(true)
	var all []contextprovider.Reference
	for _, place := range spots(raw) {
		if path, pos := place.where(); path != "" && len(all) < maxReferences {
			all = append(all, contextprovider.Reference{Path: path, Line: int(pos.Line) + 1, Column: int(pos.Character) + 1})
		}
	}
	return all, nil
}

// Symbols asks the server of the file, or those that run, and reads the texts where
// there is none.
func (s *Servers) Symbols(ctx context.Context, path, name string) (contextprovider.Found, error) {
	if path == "" {
		return s.named(ctx, name)
	}
	c, err := s.forFile(ctx, path, true)
	if errors.Is(err, contextprovider.ErrNoServer) {
		return s.outlineOf(ctx, path, name)
	}
	if err != nil {
		return contextprovider.Found{}, err
	}
	if _, _, _, err := s.show(ctx, c, path); err != nil {
		return contextprovider.Found{}, err
	}
	raw, err := c.ask(ctx, protocol.MethodTextDocumentDocumentSymbol, protocol.DocumentSymbolParams{TextDocument: identifier(path)})
	if err != nil {
		return contextprovider.Found{}, err
	}
	c.warm.Store(true)
	found := contextprovider.Found{By: c.server.Name}
	var entries []entry
	if json.Unmarshal(raw, &entries) != nil {
		return found, errors.New(c.server.Name + " gave no list of symbols")
	}
	flatten(&found, entries, path, name, "", 0)
	return found, nil
}

// flatten lists symbols with those that are in them.
func flatten(to *contextprovider.Found, entries []entry, path, name, of string, depth int) {
	if depth > maxDepth {
		to.More = true
		return
	}
	for _, e := range entries {
		if len(to.Symbols) >= maxFound {
			to.More = true
			return
		}
		in := e.ContainerName
		if in == "" {
			in = of
		}
		full := qualified(in, e.Name)
		file, at := path, protocol.Position{}
		if e.SelectionRange != nil {
			at = e.SelectionRange.Start
		} else if f, p := e.Location.where(); f != "" {
			file, at = f, p
		}
		if name == "" || isNamed(full, name) {
			to.Symbols = append(to.Symbols, contextprovider.Symbol{
				Name: clip(full, 200), Kind: kindOf(e.Kind), Path: file, Line: int(at.Line) + 1,
				Signature: clip(firstLine(e.Detail), 200), References: -1,
			})
		}
		flatten(to, e.Children, path, name, full, depth+1)
	}
}

// named looks for what is called name in the whole workspace.
func (s *Servers) named(ctx context.Context, name string) (contextprovider.Found, error) {
	if name == "" {
		return contextprovider.Found{}, errors.New("say whose symbols are meant, a file's, or those of which name")
	}
	var all contextprovider.Found
	for _, c := range s.running() {
		found, err := c.named(ctx, name)
		if err != nil || len(found.Symbols) == 0 {
			continue
		}
		all.Symbols = append(all.Symbols, found.Symbols...)
		if all.By != "" {
			all.By += ", "
		}
		all.By += c.server.Name
	}
	if len(all.Symbols) > 0 {
		all.More = len(all.Symbols) > maxFound
		all.Symbols = all.Symbols[:min(len(all.Symbols), maxFound)]
		return all, nil
	}
	return s.guess(ctx, []string{name}, nil)
}

// named asks a server for what is called name, in the workspace.
func (c *client) named(ctx context.Context, name string) (contextprovider.Found, error) {
	found := contextprovider.Found{By: c.server.Name}
	raw, err := c.ask(ctx, protocol.MethodWorkspaceSymbol, protocol.WorkspaceSymbolParams{Query: lastName(name)})
	if err != nil {
		return found, err
	}
	c.warm.Store(true)
	var entries []entry
	if json.Unmarshal(raw, &entries) != nil {
		return found, nil
	}
	for _, e := range entries {
		path, at := e.Location.where()
		full := e.Name
		if path == "" || !isNamed(full, name) && !isNamed(qualified(e.ContainerName, e.Name), name) {
			continue
		}
		if len(found.Symbols) >= maxFound {
			found.More = true
			break
		}
		found.Symbols = append(found.Symbols, contextprovider.Symbol{Name: clip(full, 200), Kind: kindOf(e.Kind), Path: path, Line: int(at.Line) + 1, References: -1})
	}
	return found, nil
}
