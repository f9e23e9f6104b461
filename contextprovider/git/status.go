package git

import (
	"path/filepath"
	"strconv"
	"strings"

	"kimi-acp/contextprovider"
)

// maxChanges bounds the changes that are listed.
const maxChanges = 200

// parseStatus reads `git status --porcelain=v2 --branch --show-stash -z` into g. What
// it does not know is passed over. Paths become absolute under top.
func parseStatus(out []byte, top string, g *contextprovider.GitState) {
	entries := fields(out)
	for i := 0; i < len(entries); i++ {
		e := entries[i]
		if len(e) < 2 {
			continue
		}
		if e[0] == '#' {
			header(e[2:], g)
			continue
		}
		c, ok := change(e, top)
		if e[0] == '2' && i+1 < len(entries) {
			i++
			c.From = under(top, entries[i])
		}
		switch {
		case !ok:
		case len(g.Changes) >= maxChanges:
			g.MoreChanges++
		default:
			g.Changes = append(g.Changes, c)
		}
	}
}

func header(line string, g *contextprovider.GitState) {
	key, value, _ := strings.Cut(line, " ")
	switch key {
	case "branch.oid":
		if value == "(initial)" {
			g.NoCommits = true
		} else {
			g.Commit = value[:min(len(value), 7)]
		}
	case "branch.head":
		if value != "(detached)" {
			g.Branch = value
		}
	case "branch.upstream":
		g.Upstream, g.Gone = value, true // until its distance is told
	case "branch.ab":
		ahead, behind, _ := strings.Cut(value, " ")
		g.Ahead, g.Behind, g.Gone = number(ahead), number(behind), false
	case "stash":
		g.Stashes = number(value)
	}
}

// number reads +3 or -3 as 3.
func number(s string) int {
	n, err := strconv.Atoi(strings.TrimLeft(s, "+-"))
	if err != nil {
		return 0
	}
	return n
}

// change reads one entry of a status.
func change(e, top string) (c contextprovider.GitChange, ok bool) {
	c.Added, c.Removed = -1, -1
	if e[0] == '?' {
		c.Unstaged, c.Path, c.Folder = '?', under(top, e[2:]), strings.HasSuffix(e, "/")
		return c, true
	}
	// The number of fields before the path depends on the kind.
	n := map[byte]int{'1': 8, '2': 9, 'u': 10}[e[0]]
	f := strings.SplitN(e, " ", n+1)
	if n == 0 || len(f) <= n || len(f[1]) != 2 || len(f[2]) != 4 {
		return c, false
	}
	c.Path = under(top, f[n])
	c.Staged, c.Unstaged = letter(f[1][0]), letter(f[1][1])
	c.Conflict = e[0] == 'u'
	c.Submodule = f[2][0] == 'S'
	if !c.Conflict {
		// Modes of HEAD, index and work tree: 000000 is none.
		head, index, tree := f[3], f[4], f[5]
		c.Mode = head != "000000" && index != "000000" && head != index ||
			index != "000000" && tree != "000000" && index != tree
	}
	return c, true
}

func letter(b byte) byte {
	if b == '.' {
		return 0
	}
	return b
}

func under(top, path string) string { return filepath.Join(top, filepath.FromSlash(path)) }

// counts are the lines in which a file differs.
type counts struct{ added, removed int }

// parseNumstat reads `git diff --numstat -z` into counts by absolute path. Files that
// are no text have -1.
func parseNumstat(out []byte, top string, all map[string]counts) {
	entries := fields(out)
	for i := 0; i < len(entries); i++ {
		f := strings.SplitN(entries[i], "\t", 3)
		if len(f) != 3 {
			continue
		}
		path := f[2]
		if path == "" { // renamed: the old and the new name follow
			if i+2 >= len(entries) {
				return
			}
			path = entries[i+2]
			i += 2
		}
		c := counts{-1, -1}
		if f[0] != "-" {
			c = counts{number(f[0]), number(f[1])}
		}
		all[under(top, path)] = c
	}
}
