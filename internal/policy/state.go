package policy

import (
	"maps"
	"slices"
)

// maxDirs is how many working directories are kept apart, maxVars how many variables
// are known.
const (
	maxDirs = 8
	maxVars = 64
)

// state is what is known at a place of a script: where it may stand, and what
// variables hold. It is a value: nothing in it is changed in place.
type state struct {
	dirs []string // nil: not known
	vars map[string]word
}

// value gives what a variable holds, if that is known.
func (st state) value(name string, c *Context) (word, bool) {
	v, set := st.vars[name]
	switch {
	case set:
		return v, !v.dynamic
	case name == "HOME" && c.Home != "":
		return word{text: c.slashes(c.Home)}, true
	case name == "PWD" && len(st.dirs) == 1:
		return word{text: st.dirs[0]}, true
	}
	return word{}, false
}

func (st state) set(name string, v word) state {
	if _, known := st.vars[name]; !known && len(st.vars) >= maxVars && name != "HOME" && name != "PWD" {
		return st // not known is what a variable is that is not kept
	}
	vars := maps.Clone(st.vars)
	if vars == nil {
		vars = map[string]word{}
	}
	vars[name] = v
	st.vars = vars
	return st
}

func (st state) at(dirs []string) state {
	st.dirs = dirs
	return st
}

// or is what is known when either state may hold.
func (st state) or(other state) state {
	joined := state{vars: map[string]word{}}
	if st.dirs != nil && other.dirs != nil {
		joined.dirs = slices.Clone(st.dirs)
		for _, d := range other.dirs {
			if !slices.Contains(joined.dirs, d) {
				joined.dirs = append(joined.dirs, d)
			}
		}
		if len(joined.dirs) > maxDirs {
			joined.dirs = nil
		}
	}
	for name, v := range st.vars {
		if w, ok := other.vars[name]; ok && w == v {
			joined.vars[name] = v
		} else {
			joined.vars[name] = word{dynamic: true}
		}
	}
	for name := range other.vars {
		if _, ok := st.vars[name]; !ok {
			joined.vars[name] = word{dynamic: true}
		}
	}
	return joined
}

// ways is what is known after a command that went well, and after one that did not.
type ways struct{ well, ill state }

func (w ways) either() state { return w.well.or(w.ill) }

func same(st state) ways { return ways{st, st} }
