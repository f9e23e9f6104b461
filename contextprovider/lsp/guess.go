package lsp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"kimi-acp/contextprovider"
	"kimi-acp/contextprovider/outline"
)

// longestScan bounds the search through the texts of the workspace.
const longestScan = 3 * time.Second

// guessDefinition looks for what a place may name, without a server; why is why there is
// none.
func (s *Servers) guessDefinition(ctx context.Context, place contextprovider.Place, why error) (contextprovider.Found, error) {
	name := place.Symbol
	if name == "" {
		text, err := s.o.Read(ctx, place.Path)
		if err != nil {
			return contextprovider.Found{}, err
		}
		if name = wordAt(lineOf(text, place.Line), max(place.Column-1, 0)); name == "" {
			return contextprovider.Found{}, fmt.Errorf("no name stands at line %d of %s, and %w", place.Line, place.Path, why)
		}
	}
	return s.guess(ctx, []string{name}, []string{place.Path})
}

// outlineOf lists what a file defines, by its text.
func (s *Servers) outlineOf(ctx context.Context, path, name string) (contextprovider.Found, error) {
	if !outline.Knows(path) {
		return contextprovider.Found{}, fmt.Errorf("nothing is known of the language of %s: %w", path, contextprovider.ErrNoServer)
	}
	text, err := s.o.Read(ctx, path)
	if err != nil {
		return contextprovider.Found{}, err
	}
	var found contextprovider.Found
	for _, d := range outline.Of(path, []byte(text)) {
		if name != "" && !isNamed(qualified(d.Of, d.Name), name) {
			continue
		}
		if len(found.Symbols) >= maxFound {
			found.More = true
			break
		}
		found.Symbols = append(found.Symbols, symbolOf(path, d))
	}
	return found, nil
}

func symbolOf(path string, d outline.Definition) contextprovider.Symbol {
	return contextprovider.Symbol{Name: qualified(d.Of, d.Name), Kind: d.Kind, Path: path, Line: d.Line, Signature: d.Signature, Doc: d.Doc, References: -1}
}

// guess looks for definitions of names: in the files that come first, then in the
// roots. What it found when ctx ends is given.
func (s *Servers) guess(ctx context.Context, names, first []string) (contextprovider.Found, error) {
	ctx, cancel := context.WithTimeout(ctx, longestScan)
	defer cancel()
	g := guessing{names: names, left: map[string]bool{}}
	for _, n := range names {
		g.left[n] = true
	}
	for _, path := range first {
		if text, err := s.o.Read(ctx, path); err == nil {
			g.look(path, []byte(text))
		}
	}
	if len(g.left) == 0 || s.o.Scan == nil {
		return g.found(), nil
	}
	for _, root := range s.o.Roots {
		want := func(path string) bool { return outline.Knows(path) && !slices.Contains(first, path) }
		if err := s.o.Scan(ctx, root, want, g.look); err != nil && ctx.Err() == nil {
			s.o.Logger.Debug("a root was not searched to its end", "error", err)
		}
	}
	if err := context.Cause(ctx); errors.Is(err, context.Canceled) {
		return contextprovider.Found{}, err
	}
	return g.found(), nil
}

// guessing collects definitions of some names. look may be called side by side.
type guessing struct {
	names []string

	mu   sync.Mutex
	left map[string]bool // names that nothing was found for
	all  []contextprovider.Symbol
	more bool
}

func (g *guessing) look(path string, data []byte) {
	if !slices.ContainsFunc(g.names, func(n string) bool { return bytes.Contains(data, []byte(lastName(n))) }) {
		return
	}
	for _, d := range outline.Of(path, data) {
		full := qualified(d.Of, d.Name)
		i := slices.IndexFunc(g.names, func(n string) bool { return d.Name == lastName(n) && (d.Of == "" || isNamed(full, n)) })
		if i < 0 {
			continue
		}
		g.mu.Lock()
		delete(g.left, g.names[i])
		if len(g.all) < maxFound {
			g.all = append(g.all, symbolOf(path, d))
		} else {
			g.more = true
		}
		g.mu.Unlock()
	}
}

func (g *guessing) found() contextprovider.Found {
	g.mu.Lock()
	defer g.mu.Unlock()
	return contextprovider.Found{Symbols: sorted(g.all), More: g.more}
}

// sorted puts symbols into an order that never varies.
func sorted(all []contextprovider.Symbol) []contextprovider.Symbol {
	slices.SortStableFunc(all, func(a, b contextprovider.Symbol) int {
		if a.Path != b.Path {
			if a.Path < b.Path {
				return -1
			}
			return 1
		}
		return a.Line - b.Line
	})
	return all
}
