package policy

import (
	"path"
	"strings"
	"sync"
)

// Screen is a cheap first look at many files, for searches. It may be used by any
// number of goroutines. It remembers each folder that it saw, so it is for one search.
type Screen struct {
	names     map[string]bool // folded
	wildcards []wildcard
	context   Context
	folders   sync.Map // folder (string) → whether no rule knows it or one above it (bool)
}

// wildcard is a folded pattern of one name. One with a single star, as most are, is
// matched by what stands before and behind it.
type wildcard struct {
	pattern        string
	star           bool
	before, behind string
}

func newWildcard(pattern string) wildcard {
	w := wildcard{pattern: pattern}
	if strings.Count(pattern, "*") == 1 && !strings.ContainsAny(pattern, `?[\`) {
		w.star = true
		w.before, w.behind, _ = strings.Cut(pattern, "*")
	}
	return w
}

func (w *wildcard) matches(name string) bool {
	if w.star {
		return len(name) >= len(w.before)+len(w.behind) && strings.HasPrefix(name, w.before) && strings.HasSuffix(name, w.behind)
	}
	return matchName(w.pattern, name)
}

// Screen makes a first look at reading files of the workspace: by the names in the
// rules that ask or deny.
func (e *Engine) Screen(c Context) *Screen {
	// What offLimits knows of beside the rules.
	s := &Screen{names: map[string]bool{"proc": true, "sys": true, "dev": true}, context: c}
	for _, own := range c.Own {
		s.names[foldName(path.Base(c.slashes(own)))] = true
	}
	for i := range e.files[KindRead] {
		if r := &e.files[KindRead][i]; r.Decision != Allow {
			s.watch(r.files)
		}
	}
	return s
}

// watch looks out for the one name without which a file cannot be meant.
func (s *Screen) watch(p pattern) {
	for i := len(p.folded) - 1; i >= 0; i-- {
		name := p.folded[i]
		switch {
		case name == "**":
			continue
		case strings.ContainsAny(name, `*?[\`):
			s.wildcards = append(s.wildcards, newWildcard(name))
		default:
			s.names[name] = true
		}
		return
	}
	s.wildcards = append(s.wildcards, newWildcard("*"))
}

// Passes tells that no rule asks about reading a file of the workspace, or denies
// it. False says nothing: Engine.Read decides then.
func (s *Screen) Passes(file string) bool {
	folder, name := splitName(s.context.slashes(file))
	return !s.knows(name) && s.passesFolder(folder)
}

func (s *Screen) passesFolder(folder string) bool {
	if passes, seen := s.folders.Load(folder); seen {
		return passes == true
	}
	passes := true
	for rest := folder; rest != "" && passes; {
		var name string
		rest, name = splitName(rest)
		passes = !s.knows(name)
	}
	s.folders.Store(folder, passes)
	return passes
}

// splitName takes the last name off a path with slashes.
func splitName(file string) (folder, name string) {
	i := strings.LastIndexByte(file, '/')
	return file[:max(i, 0)], file[i+1:]
}

func (s *Screen) knows(name string) bool {
	if name == "" {
		return false
	}
	name = foldName(name)
	if s.names[name] {
		return true
	}
	for i := range s.wildcards {
		if s.wildcards[i].matches(name) {
			return true
		}
	}
	return false
}
