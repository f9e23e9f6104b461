package policy

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

const maxPattern = 500 // bytes

// checkPattern says what is wrong with a pattern of files, nil when nothing is.
func checkPattern(pattern string) error {
	if len(pattern) > maxPattern {
		return fmt.Errorf("pattern of %d bytes: at most %d", len(pattern), maxPattern)
	}
	for _, segment := range strings.Split(pattern, "/") {
		if segment == ".." {
			return errors.New("a pattern cannot hold ..; name the folder itself")
		}
		if _, err := path.Match(segment, ""); err != nil {
			return fmt.Errorf("%q: %w", segment, err)
		}
	}
	return nil
}

// anchor says where a pattern begins.
type anchor uint8

const (
	atRoot   anchor = iota // at a root of the workspace
	anywhere               // at any folder, also outside
	atHome
	atTop
)

// pattern is a pattern of files, read once. A slash at its end means a folder and
// everything in it.
type pattern struct {
	from     anchor
	segments []string // as written
	folded   []string // with one spelling for names that a file system could mix up
}

func newPattern(text string) pattern {
	p := pattern{}
	text = strings.TrimPrefix(text, "./")
	if folder, ok := strings.CutSuffix(text, "/"); ok {
		text = folder + "/**"
	}
	switch {
	case strings.HasPrefix(text, "~/"):
		p.from, text = atHome, text[2:]
	case strings.HasPrefix(text, "/"):
		p.from, text = atTop, text[1:]
	case len(text) > 2 && isLetter(text[0]) && text[1] == ':' && text[2] == '/':
		p.from = atTop
	case strings.HasPrefix(text, "**/"):
		p.from = anywhere
	}
	p.segments = strings.Split(text, "/")
	for _, s := range p.segments {
		p.folded = append(p.folded, foldName(s))
	}
	return p
}

// fileName is a path as patterns are held against it.
type fileName struct {
	path            string // absolute and clean
	inside          bool
	top, root, home []string // names from the top, from the root, from the home; nil: not in it
	topFolded       []string
	rootFolded      []string
	homeFolded      []string
}

func (c *Context) fileName(file string) *fileName {
	n := &fileName{path: file, top: strings.Split(strings.Trim(file, "/"), "/")}
	n.topFolded = foldAll(n.top)
	if rel, ok := c.inside(file); ok {
		n.inside, n.root = true, strings.Split(rel, "/")
		n.rootFolded = foldAll(n.root)
	}
	if c.Home != "" {
		home := foldAll(strings.Split(strings.Trim(path.Clean(c.slashes(c.Home)), "/"), "/"))
		if len(n.topFolded) >= len(home) && slices.Equal(n.topFolded[:len(home)], home) {
			n.home, n.homeFolded = n.top[len(home):], n.topFolded[len(home):]
		}
	}
	return n
}

// matches tells whether a pattern means a file. A strict match takes names as they
// are written; otherwise names that a file system could take for the same are the
// same.
func (p pattern) matches(n *fileName, strict bool) bool {
	segments := p.folded
	if strict {
		segments = p.segments
	}
	pick := func(plain, folded []string) []string {
		if strict {
			return plain
		}
		return folded
	}
	switch {
	case p.from == atHome:
		return n.home != nil && matchSegments(segments, pick(n.home, n.homeFolded))
	case p.from == atTop:
		return matchSegments(segments, pick(n.top, n.topFolded))
	case n.inside:
		return matchSegments(segments, pick(n.root, n.rootFolded))
	}
	return p.from == anywhere && matchSegments(segments, pick(n.top, n.topFolded))
}

// matchSegments matches names one by one; ** stands for any number of them. The
// time is the product of both lengths.
func matchSegments(pattern, names []string) bool {
	if len(pattern) == 2 && pattern[0] == "**" && pattern[1] != "**" { // most patterns
		return len(names) > 0 && matchName(pattern[1], names[len(names)-1])
	}
	// at[i] tells whether the pattern so far can have taken the first i names.
	at := make([]bool, len(names)+1)
	at[0] = true
	for _, p := range pattern {
		next := make([]bool, len(names)+1)
		reached := false
		if p == "**" {
			for i := range at {
				reached = reached || at[i]
				next[i] = reached
			}
		} else {
			for i, name := range names {
				next[i+1] = at[i] && matchName(p, name)
				reached = reached || next[i+1]
			}
		}
		if !reached {
			return false
		}
		at = next
	}
	return at[len(names)]
}

func matchName(pattern, name string) bool {
	if !strings.ContainsAny(pattern, `*?[\`) {
		return pattern == name
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

func foldAll(names []string) []string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = foldName(n)
	}
	return all
}

// foldPath folds every name of a path.
func foldPath(p string) string { return strings.Join(foldAll(strings.Split(p, "/")), "/") }

// foldName gives one spelling to names that some file system takes for the same:
// without regard to case, to characters that are not seen, to dots and blanks at
// the end, to a stream's name behind a colon, and to the short name of .git.
func foldName(name string) string {
	if folded(name) {
		return name
	}
	if i := strings.IndexByte(name, ':'); i > 1 {
		name = name[:i]
	}
	name = strings.Map(func(r rune) rune {
		if hidden(r) && !unicode.Is(unicode.Zs, r) {
			return -1
		}
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return unicode.ToLower(least)
	}, name)
	if trimmed := strings.TrimRight(name, ". "); trimmed != "" {
		name = trimmed
	}
	if short, ok := strings.CutPrefix(name, "git~"); ok && isDigits(short) {
		return ".git"
	}
	return name
}

// folded tells of most names that folding leaves them as they are.
func folded(name string) bool {
	if name == "" || strings.HasPrefix(name, "git~") {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || c == ':' || c >= 'A' && c <= 'Z' {
			return false
		}
	}
	return name[len(name)-1] != '.'
}
