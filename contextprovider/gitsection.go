package contextprovider

import (
	"fmt"
	"strconv"
	"strings"
)

func (p paths) git(all []GitState) []string {
	var out []string
	for _, g := range all {
		if len(all) > 1 {
			out = append(out, "repository "+p.show(g.Root)+"/")
		}
		out = append(out, p.head(g))
		if g.Operation != "" {
			line := g.Operation + " in progress"
			if g.Step != "" {
				line += ", step " + shownName(g.Step)
			}
			out = append(out, line)
		}
		out = append(out, p.changes(g)...)
		if len(g.Commits) > 0 {
			out = append(out, "last commits:")
			for _, c := range g.Commits {
				out = append(out, "  "+shownName(c.Hash)+" "+shownLine(c.Subject))
			}
		}
	}
	return out
}

// head says what is checked out.
func (p paths) head(g GitState) string {
	var s strings.Builder
	switch {
	case g.Branch != "":
		s.WriteString("branch " + shownName(g.Branch))
	case g.Commit != "":
		s.WriteString("no branch: commit " + shownName(g.Commit) + " is checked out")
	default:
		s.WriteString("no branch")
	}
	if g.NoCommits {
		s.WriteString(", no commits yet")
	}
	switch {
	case g.Upstream != "" && g.Gone:
		s.WriteString(", upstream " + shownName(g.Upstream) + " is gone")
	case g.Upstream != "" && g.Ahead == 0 && g.Behind == 0:
		s.WriteString(", level with " + shownName(g.Upstream))
	case g.Upstream != "":
		fmt.Fprintf(&s, ", %d ahead of and %d behind %s", g.Ahead, g.Behind, shownName(g.Upstream))
	}
	for _, is := range []struct {
		so   bool
		what string
	}{
		{g.Linked, "a linked worktree"},
		{g.Submodule, "a submodule of another repository"},
		{g.Sparse, "a sparse checkout"},
		{g.Stashes > 0, strconv.Itoa(g.Stashes) + " stashed"},
		{g.Untrusted, "the folder is not trusted, so git was not run"},
	} {
		if is.so {
			s.WriteString("; " + is.what)
		}
	}
	return s.String()
}

func (p paths) changes(g GitState) []string {
	if g.Untrusted {
		return nil
	}
	if len(g.Changes) == 0 && g.NoCommits {
		return nil
	}
	if len(g.Changes) == 0 {
		return []string{"nothing has changed since the last commit"}
	}
	var out []string
	group := func(title string, in func(GitChange) bool) {
		n := len(out)
		for _, c := range g.Changes {
			if in(c) {
				if len(out) == n {
					out = append(out, title)
				}
				out = append(out, "  "+p.change(c))
			}
		}
	}
	group("in conflict:", func(c GitChange) bool { return c.Conflict })
	group("staged:", func(c GitChange) bool { return !c.Conflict && c.Staged != 0 })
	group("changed, not staged:", func(c GitChange) bool { return !c.Conflict && c.Staged == 0 && c.Unstaged != '?' })
	group("untracked:", func(c GitChange) bool { return c.Unstaged == '?' })
	if g.MoreChanges > 0 {
		out = append(out, fmt.Sprintf("and %d more", g.MoreChanges))
	}
	return out
}

func (p paths) change(c GitChange) string {
	s := p.show(c.Path)
	if c.Folder {
		s += "/"
	}
	if c.Unstaged != '?' && !c.Conflict {
		letter := c.Staged
		if letter == 0 {
			letter = c.Unstaged
		}
		s = string(rune(letter)) + " " + s
	}
	if c.From != "" {
		s += " from " + p.show(c.From)
	}
	if c.Added > 0 || c.Removed > 0 {
		s += fmt.Sprintf(" +%d -%d", max(c.Added, 0), max(c.Removed, 0))
	}
	if c.Mode {
		s += ", mode changed"
	}
	if c.Submodule {
		s += ", submodule"
	}
	if c.Staged != 0 && c.Unstaged != 0 && !c.Conflict {
		s += ", changed again since"
	}
	return s
}

// diffs shows the diffs of all repositories. Every line of a diff begins with a
// sign of its own.
func (p paths) diffs(all []GitState) []string {
	var out []string
	for _, g := range all {
		for _, d := range g.Diffs {
			out = append(out, p.show(d.Path)+" since the last commit:")
			for line := range strings.SplitSeq(strings.TrimSuffix(d.Text, "\n"), "\n") {
				if line == "" || !strings.ContainsRune("+- @\\", rune(line[0])) {
					line = " " + line
				}
				out = append(out, shownLine(line))
			}
			if d.More {
				out = append(out, "(the diff goes on)")
			}
		}
	}
	return out
}
