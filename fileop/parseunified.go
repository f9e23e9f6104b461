package fileop

import (
	"regexp"
	"strconv"
	"strings"
)

var headOfHunk = regexp.MustCompile(`^@@+ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@+(.*)$`)

// unifiedHead reads the head of a hunk: the line that it names and the heading behind.
func unifiedHead(l string) (line int, heading string, ok bool) {
	m := headOfHunk.FindStringSubmatch(l)
	if m == nil {
		return 0, "", false
	}
	line, _ = strconv.Atoi(m[1]) // 0, no line, where it is too long for a number
	return line, strings.TrimSpace(m[3]), true
}

// diffHead is what stands before the hunks of a file.
type diffHead struct {
	old, new   string // "": not named; /dev/null: no file
	from, to   string // of a rename
	added      bool
	deleted    bool
	mode, blob bool // a change of mode alone, or of a binary file
}

// unified reads unified diffs. Lines before and between the files, as in a mail or a
// commit, are passed over.
func (p *patchParser) unified() error {
	for {
		l, ok := p.next()
		switch {
		case !ok:
			return nil
		case strings.HasPrefix(l, "diff --git ") || p.atFile():
			if err := p.file(); err != nil {
				return err
			}
		case strings.HasPrefix(l, "@@"):
			return p.bad("a part without a file: --- and +++ lines go before it")
		default:
			p.at++
		}
	}
}

// atFile tells whether the two lines that name a file come next.
func (p *patchParser) atFile() bool {
	return p.at+1 < len(p.lines) && strings.HasPrefix(p.lines[p.at], "--- ") && strings.HasPrefix(p.lines[p.at+1], "+++ ")
}

func (p *patchParser) file() error {
	start := p.at
	h := p.head()
	var parts []Passage
	ends := func(l string) bool {
		return strings.HasPrefix(l, "@@") || strings.HasPrefix(l, "diff --git ") || p.atFile()
	}
	for {
		l, ok := p.next()
		if !ok || !strings.HasPrefix(l, "@@") {
			break
		}
		var part Passage
		part.Line, part.Hint, _ = unifiedHead(l)
		p.at++
		if err := p.hunk(&part, ends); err != nil {
			return err
		}
		if len(part.Old)+len(part.New) > 0 {
			parts = append(parts, part)
		}
	}
	e, err := p.edit(h, parts)
	if err != nil {
		return err
	}
	if p.at == start {
		p.at++ // a head that holds nothing
	}
	return p.add(e)
}

// head reads up to the first hunk.
func (p *patchParser) head() (h diffHead) {
	for git := false; ; p.at++ {
		l, ok := p.next()
		if !ok || strings.HasPrefix(l, "@@") {
			return h
		}
		field := func(mark string) (string, bool) {
			value, is := strings.CutPrefix(l, mark)
			return diffPath(value), is
		}
		switch {
		case strings.HasPrefix(l, "diff --git "):
			if git || h.old != "" {
				return h // the next file
			}
			git = true
			h.old, h.new = gitPaths(l[len("diff --git "):])
		case p.atFile():
			if h.old != "" && !git {
				return h
			}
			h.old, _ = field("--- ")
			p.at++
			l = p.lines[p.at]
			h.new, _ = field("+++ ")
			p.at++
			return h
		case strings.HasPrefix(l, "new file mode"):
			h.added = true
		case strings.HasPrefix(l, "deleted file mode"):
			h.deleted = true
		case strings.HasPrefix(l, "old mode"):
			h.mode = true
		case strings.HasPrefix(l, "Binary files "), l == "GIT binary patch":
			h.blob = true
		case strings.HasPrefix(l, "rename from "):
			h.from, _ = field("rename from ")
		case strings.HasPrefix(l, "rename to "):
			h.to, _ = field("rename to ")
		}
	}
}

// edit is what a file's head and hunks come to.
func (p *patchParser) edit(h diffHead, parts []Passage) (Edit, error) {
	const none = "/dev/null"
	if strings.HasPrefix(h.old, "a/") && strings.HasPrefix(h.new, "b/") || h.old == none || h.new == none {
		h.old, h.new = strings.TrimPrefix(h.old, "a/"), strings.TrimPrefix(h.new, "b/")
	}
	path := h.new
	if path == none || path == "" {
		path = h.old
	}
	switch {
	case path == none || path == "" && h.from == "":
		return Edit{}, p.bad("it is not said which file is meant")
	case h.blob:
		return Edit{}, p.bad("%s: binary files cannot be patched", path)
	case h.old == none || h.added:
		return newFile(path, parts), nil
	case h.new == none || h.deleted:
		return Edit{Path: path, Delete: true, Patch: parts}, nil
	case h.from != "" && h.to != "":
		return Edit{Path: h.from, MoveTo: h.to, Patch: parts}, nil
	case h.old != h.new:
		return Edit{}, p.bad("the old path %s is not the new path %s; to move a file, say so in lines rename from and rename to", h.old, h.new)
	case len(parts) == 0 && h.mode:
		return Edit{}, p.bad("%s: modes of files are not changed here; use a command", path)
	case len(parts) == 0:
		return Edit{}, p.bad("nothing is changed in %s", path)
	}
	return Edit{Path: path, Patch: parts}, nil
}

func newFile(path string, parts []Passage) Edit {
	var b strings.Builder
	for i, part := range parts {
		text := strings.Join(part.New, "\n")
		if b.WriteString(text); !(i == len(parts)-1 && part.NewUnended) {
			b.WriteByte('\n')
		}
	}
	content := b.String()
	return Edit{Path: path, Content: &content, New: true}
}

// diffPath is a path as a diff writes it: perhaps quoted, perhaps with a time behind.
func diffPath(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, `"`) {
		if plain, err := strconv.Unquote(s); err == nil {
			return plain
		}
	}
	return s
}

// gitPaths are the two paths behind diff --git, where they can be told apart; they
// count only when no other line names them.
func gitPaths(s string) (before, after string) {
	if strings.HasPrefix(s, `"`) {
		if i := strings.Index(s, `" "`); i > 0 {
			return diffPath(s[:i+1]), diffPath(s[i+2:])
		}
	}
	if half := len(s) / 2; len(s)%2 == 1 && s[half] == ' ' {
		return s[:half], s[half+1:]
	}
	before, after, _ = strings.Cut(s, " ")
	return before, after
}
