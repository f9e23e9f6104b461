package policy

import (
	"slices"
	"strings"
)

// rank orders the rules about files: floors first, then what the user and the
// repository said, then the ready set. The first rank that speaks decides, but
// that a file may be allowed by its name against the ready set.
type rank uint8

const (
	floorRank rank = iota
	givenRank
	readyRank
)

func (s *scoped) rank() rank {
	switch {
	case s.floor:
		return floorRank
	case s.ready:
		return readyRank
	}
	return givenRank
}

// judgePlaces holds a path, by its name and by where it leads, against the rules;
// otherwise decides when none speaks of it.
func (e *Engine) judgePlaces(kind Kind, places []string, c *Context, otherwise func() finding, namesOnly bool) finding {
	var top finding
	var names []*fileName
	for _, place := range places {
		names = append(names, c.fileName(place))
	}
	for _, rank := range []rank{floorRank, givenRank, readyRank} {
		top = allowed
		for _, n := range names {
			top = stricter(top, e.tightest(kind, rank, n, c, namesOnly))
		}
		if top.decision != Allow && rank != readyRank {
			return top
		}
	}
	real := names[len(names)-1]
	for i := range e.files[kind] {
		s := &e.files[kind][i]
		if s.Decision == Allow && s.holds(c) && s.means(real, c) && (top.decision == Allow || s.lifts(top, real, c)) {
			return finding{decision: Allow, class: kind.class(), rule: s.String()}
		}
	}
	if top.decision != Allow {
		return top
	}
	return otherwise()
}

// lifts tells whether a rule that allows a file counts against the ready set: it
// has to name this very file, and be the user's for everything they do, or an
// answer to a question that offered to last.
func (s *scoped) lifts(top finding, file *fileName, c *Context) bool {
	named, ok := c.locate(s.Pattern, c.dir())
	if !ok || named != file.path && s.Pattern != literalPattern(file.path) {
		return false
	}
	return s.scope == User || top.decision == Ask
}

func (k Kind) class() class {
	if k == KindEdit {
		return classEdit
	}
	return classRead
}

// tightest is the strictest rule of a rank that asks about a file or denies it.
func (e *Engine) tightest(kind Kind, rank rank, file *fileName, c *Context, namesOnly bool) finding {
	top := allowed
	for i := range e.files[kind] {
		s := &e.files[kind][i]
		if s.Decision == Allow || s.rank() != rank || s.Decision <= top.decision || !s.means(file, c) {
			continue
		}
		top = finding{decision: s.Decision, class: kind.class(), rule: s.String(), reason: because(s.Rule, Visible(file.path))}
		switch {
		case rank != readyRank:
			top.class = classFloor
			top.decision = max(top.decision, AskOnce) // an answer does not unmake a rule
		case s.Decision == Ask:
			// Asked also where ordinary edits are free, so it is no ordinary edit.
			top.class, top.lasts = classLater, Session
			top.key = []string{Rule{Decision: Allow, Kind: kind, Pattern: literalPattern(file.path)}.String()}
			top.words = "changing " + Visible(file.path)
		case s.Decision == Deny && namesOnly:
			top.decision = AskOnce // a name tells less than the text
		}
	}
	return top
}

// means tells whether a rule for files speaks of one. A rule that allows takes
// names as they are written, one that does not takes every spelling.
func (s *scoped) means(file *fileName, c *Context) bool {
	if s.ready && s.files.from == atTop && c.rootWithin(s.Pattern, file.path) {
		return false // the user opened a folder of the system's as a workspace
	}
	strict := s.Decision == Allow && !c.Windows
	return s.files.matches(file, strict) && !slices.ContainsFunc(s.except, func(p pattern) bool { return p.matches(file, true) })
}

// rootWithin tells whether a root that holds a file is itself meant by a pattern.
func (c *Context) rootWithin(pattern, file string) bool {
	return slices.ContainsFunc(c.Roots, func(root string) bool {
		_, in := c.below(root, file)
		folder, ok := strings.CutSuffix(pattern, "/")
		_, within := c.below(folder, c.slashes(root))
		return in && ok && within
	})
}

func because(r Rule, what string) string {
	if r.Reason != "" {
		return what + ": " + r.Reason
	}
	return what + ": a rule says so"
}
