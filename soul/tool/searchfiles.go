package tool

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"kimi-acp/fileop"
)

// fileFilter says by a path whether a file is to be searched.
type fileFilter struct {
	glob    string // "": every file; without a slash it is for the last element
	exclude bool   // what glob fits is left out instead
	types   []string
}

func newFileFilter(glob, typeName string) (fileFilter, error) {
	var f fileFilter
	f.glob, f.exclude = strings.CutPrefix(filepath.ToSlash(glob), "!")
	f.glob = strings.TrimPrefix(f.glob, "/")
	if !doublestar.ValidatePattern(f.glob) {
		return f, fmt.Errorf("`glob` %q is malformed: a bracket or brace is not closed", shorten(glob, maxBrief))
	}
	if typeName != "" {
		var ok bool
		if f.types, ok = filesOfType(typeName); !ok {
			return f, fmt.Errorf("`type` %q is not known; it is one of %s. Use `glob` for other files", shorten(typeName, maxBrief), typeNames())
		}
	}
	return f, nil
}

// wants decides about a path from where the search begins, with slashes. A file that
// is itself where it begins is always wanted.
func (f fileFilter) wants(rel string) bool {
	if rel == "." {
		return true
	}
	name := path.Base(rel)
	if f.glob != "" {
		subject := rel
		if !strings.Contains(f.glob, "/") {
			subject = name
		}
		if doublestar.MatchUnvalidated(f.glob, subject) == f.exclude {
			return false
		}
	}
	if f.types == nil {
		return true
	}
	for _, t := range f.types {
		if doublestar.MatchUnvalidated(t, name) {
			return true
		}
	}
	return false
}

// scanned is what a scan has to tell beside its results.
type scanned struct {
	sensitive  []string // files that were not opened
	unreadable []string
	large      []string
	timedOut   bool
	limited    bool
}

// notes are sentences for the model.
func (s *scanned) notes(cwd string) []string {
	var notes []string
	list := func(paths []string, what string) {
		if len(paths) == 0 {
			return
		}
		const shown = 5
		var names []string
		for _, p := range paths[:min(shown, len(paths))] {
			names = append(names, relative(p, cwd))
		}
		text := strings.Join(names, ", ")
		if n := len(paths) - shown; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
		notes = append(notes, fmt.Sprintf("%s: %s.", what, text))
	}
	if s.timedOut {
		notes = append(notes, fmt.Sprintf("The search was ended after %d seconds, so these are not all results: search a smaller part, or for something rarer.", int(searchTime.Seconds())))
	}
	if s.limited {
		notes = append(notes, fmt.Sprintf("There are too many files: the search ended after %d of them.", fileop.MaxWalk))
	}
	list(s.sensitive, "Left out, since reading them has to be asked for; name one to ask for it")
	list(s.large, fmt.Sprintf("Not searched, being larger than %d MiB", maxSearched>>20))
	list(s.unreadable, "Could not be read")
	return notes
}
