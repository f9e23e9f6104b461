package lsp

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/contextprovider"
)

// gatherTime bounds what a provider looks up: what comes later would be told with
// another prompt, about which it says nothing.
const gatherTime = 110 * time.Millisecond

// Providers gives what tells a model of the symbols that a prompt is about, and of the
// problems of the files. They belong to the Servers and are of no use after its Close.
func (s *Servers) Providers() []contextprovider.Provider {
	return []contextprovider.Provider{&symbolsProvider{s}, &problemsProvider{servers: s}}
}

// client gives the server for a file if it can be asked now. With start, one that does
// not run is started for the next time.
func (s *Servers) client(ctx context.Context, path string, start bool) *client {
	if start {
		return s.ready(ctx, path)
	}
	for _, c := range s.running() {
		if c.warm.Load() && c.server.serves(path) && s.rootOf(path) != "" {
			return c
		}
	}
	return nil
}

// symbolsProvider tells what the symbols are that a prompt names and at which the cursor
// stands.
type symbolsProvider struct{ servers *Servers }

// Name is "symbols".
func (*symbolsProvider) Name() string { return "symbols" }

// maxEach bounds the symbols that one name may mean.
const maxEach = 3

// Gather looks the names up, with a server where one can be asked at once.
func (p *symbolsProvider) Gather(ctx context.Context, q contextprovider.Query) (contextprovider.Facts, error) {
	s := p.servers
	ctx, cancel := context.WithTimeout(ctx, s.o.pace.gather)
	defer cancel()
	names := named(q)
	var facts contextprovider.Facts
	if e := q.Editor; e != nil && e.Cursor != nil && e.Active != "" && !e.Withheld {
		found, word := p.atCursor(ctx, e.Active, *e.Cursor, q.Prompt != "")
		facts.Symbols = append(facts.Symbols, found...)
		if len(found) == 0 && word != "" && q.Prompt != "" {
			names = append(names, word)
		}
	}
	var left []string
	for _, name := range names {
		found := p.byServer(ctx, q, name)
		if len(found) == 0 {
			left = append(left, name)
		}
		facts.Symbols = append(facts.Symbols, found...)
	}
	if len(left) == 0 {
		return facts, nil
	}
	guessed, err := s.guess(ctx, left, focus(q))
	if err != nil {
		return facts, nil //nolint:nilerr // the time is over, and what was found is worth telling
	}
	for _, name := range left {
		n := 0
		for _, sym := range guessed.Symbols {
			if lastName(sym.Name) == lastName(name) && n < maxEach {
				facts.Symbols = append(facts.Symbols, sym)
				n++
			}
		}
	}
	return facts, nil
}

// named gives the names of a prompt, those of mentions first.
func named(q contextprovider.Query) []string {
	var all []string
	for _, m := range q.Mentions {
		if m.Symbol != "" && len(all) < maxNames && !slices.Contains(all, m.Symbol) {
			all = append(all, m.Symbol)
		}
	}
	for _, n := range namesIn(q.Prompt) {
		if len(all) < maxNames && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// maxFocus bounds the files that are looked at before others.
const maxFocus = 20

// focus are the files that a prompt is about.
func focus(q contextprovider.Query) []string {
	var all []string
	for _, path := range q.Focus() {
		if !filepath.IsAbs(path) && len(q.Roots) > 0 {
			path = filepath.Join(q.Roots[0], path)
		}
		if len(all) < maxFocus && !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	return all
}

// atCursor looks up what stands at the cursor, and gives the word where nobody knows it.
func (p *symbolsProvider) atCursor(ctx context.Context, path string, at contextprovider.Position, start bool) ([]contextprovider.Symbol, string) {
	s := p.servers
	c := s.client(ctx, path, start)
	read := s.o.Read
	if c != nil {
		read = func(ctx context.Context, path string) (string, error) {
			text, _, _, err := s.show(ctx, c, path)
			return text, err
		}
	}
	text, err := read(ctx, path)
	if err != nil || len(text) > maxText {
		return nil, ""
	}
	word := wordAt(lineOf(text, at.Line), max(at.Column-1, 0))
	if word == "" || !isName(word) || c == nil {
		return nil, word
	}
	pos := protocol.TextDocumentPositionParams{TextDocument: identifier(path), Position: protocol.Position{
		Line: uint32(max(at.Line-1, 0)), Character: uint32(max(at.Column-1, 0)), //nolint:gosec // of a text that is far smaller
	}}
	found, err := s.definition(ctx, c, pos, word)
	if err != nil || len(found.Symbols) == 0 {
		return nil, word
	}
	found.Symbols = found.Symbols[:min(len(found.Symbols), maxEach)]
	if uses, err := c.references(ctx, pos); err == nil && len(uses) < maxReferences {
		found.Symbols[0].References = len(uses)
	}
	return found.Symbols, word
}

// isName tells names from numbers and from the words that many languages are made of.
func isName(word string) bool {
	if word[0] >= '0' && word[0] <= '9' || len(word) < 2 {
		return false
	}
	return !slices.Contains([]string{
		"if", "else", "for", "func", "return", "var", "let", "const", "def", "class", "import", "from", "package", "type", "struct", "interface",
		"switch", "case", "while", "do", "in", "of", "new", "this", "self", "true", "false", "nil", "null", "None", "fn", "pub", "use", "function",
	}, word)
}

// byServer asks the servers that run for a name of the workspace.
func (p *symbolsProvider) byServer(ctx context.Context, q contextprovider.Query, name string) []contextprovider.Symbol {
	s := p.servers
	var out []contextprovider.Symbol
	for _, c := range s.running() {
		if !c.warm.Load() {
			continue
		}
		found, err := c.named(ctx, name)
		if err != nil {
			continue
		}
		inside := slices.DeleteFunc(found.Symbols, func(y contextprovider.Symbol) bool { return s.rootOf(y.Path) == "" })
		near := focus(q)
		slices.SortStableFunc(inside, func(a, b contextprovider.Symbol) int { return rank(near, a.Path) - rank(near, b.Path) })
		for _, y := range inside[:min(len(inside), maxEach-min(len(out), maxEach))] {
			out = append(out, s.described(ctx, c, y))
		}
	}
	return out
}

// rank is the place of a file in a list, or behind it.
func rank(list []string, path string) int {
	if i := slices.Index(list, path); i >= 0 {
		return i
	}
	return len(list)
}

// described adds signature, text and count of uses to a symbol.
func (s *Servers) described(ctx context.Context, c *client, y contextprovider.Symbol) contextprovider.Symbol {
	text, _, _, err := s.show(ctx, c, y.Path)
	if err != nil {
		return y
	}
	pos, err := positionOf(text, contextprovider.Place{Path: y.Path, Line: y.Line, Symbol: lastName(y.Name)})
	if err != nil {
		return y
	}
	at := protocol.TextDocumentPositionParams{TextDocument: identifier(y.Path), Position: pos}
	y.Signature, y.Doc = c.hover(ctx, at)
	if uses, err := c.references(ctx, at); err == nil && len(uses) < maxReferences {
		y.References = len(uses)
	}
	if y.Signature == "" {
		if found, err := s.outlineOf(ctx, y.Path, y.Name); err == nil && len(found.Symbols) > 0 {
			y.Signature, y.Doc = found.Symbols[0].Signature, found.Symbols[0].Doc
		}
	}
	return y
}
