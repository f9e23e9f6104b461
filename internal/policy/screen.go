package policy

import (
	"path"
	"strings"
)

// Screen is a cheap first look at many files, for searches. It does not change, and
// may be used by any number of goroutines.
type Screen struct {
	names     map[string]bool // folded
	wildcards []string        // folded patterns of one name
	context   Context
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
			s.wildcards = append(s.wildcards, name)
		default:
			s.names[name] = true
		}
		return
	}
	s.wildcards = append(s.wildcards, "*")
}

// Passes tells that no rule asks about reading a file of the workspace, or denies
// it. False says nothing: Engine.Read decides then.
func (s *Screen) Passes(file string) bool {
	for file = s.context.slashes(file); file != ""; {
		i := strings.LastIndexByte(file, '/')
		if s.knows(file[i+1:]) {
			return false
		}
		file = file[:max(i, 0)]
	}
	return true
}

func (s *Screen) knows(name string) bool {
	if name == "" {
		return false
	}
	name = foldName(name)
	if s.names[name] {
		return true
	}
	for _, w := range s.wildcards {
		if matchName(w, name) {
			return true
		}
	}
	return false
}
