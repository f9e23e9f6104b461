package fileop

import (
	"fmt"
	"strings"
)

// The bounds of a patch.
const (
	MaxPatch      = 4 << 20 // bytes
	maxPatchFiles = 100
)

// ParsePatch reads a patch of one or more files and gives an Edit for each, in their
// order. It knows two forms: what begins with "*** Begin Patch" and names files in
// "*** Update File: P" and the like, and unified diffs, also git's. The numbers in the
// heads of a unified diff are taken for hints only. An error is ErrBadPatch, with the
// line at which it went wrong.
func ParsePatch(text string) ([]Edit, error) {
	if len(text) > MaxPatch {
		return nil, &SizeError{Path: "the patch", Size: int64(len(text)), Max: MaxPatch}
	}
	p := patchParser{lines: strings.Split(strings.TrimSuffix(joinLF(text), "\n"), "\n")}
	p.unfence()
	parse := p.unified
	for _, l := range p.lines {
		if strings.HasPrefix(l, "*** ") && !strings.HasPrefix(l, "*** a/") {
			parse = p.envelope
			break
		}
		if strings.HasPrefix(l, "--- ") || strings.HasPrefix(l, "diff --git ") || strings.HasPrefix(l, "@@") {
			break
		}
	}
	if err := parse(); err != nil {
		return nil, err
	}
	if len(p.edits) == 0 {
		return nil, fmt.Errorf("%w: it names no file; begin with *** Begin Patch and *** Update File: PATH, or with --- and +++ lines", ErrBadPatch)
	}
	return p.edits, nil
}

// patchParser reads lines and collects edits.
type patchParser struct {
	lines []string
	at    int // the line to be read next
	edits []Edit
}

// unfence drops blank lines and the fence of a code block around the patch.
func (p *patchParser) unfence() {
	p.trim()
	if n := len(p.lines); n >= 2 && strings.HasPrefix(p.lines[0], "```") && strings.TrimSpace(p.lines[n-1]) == "```" {
		p.lines = p.lines[1 : n-1]
		p.trim()
	}
}

func (p *patchParser) trim() {
	for len(p.lines) > 0 && strings.TrimSpace(p.lines[0]) == "" {
		p.lines = p.lines[1:]
	}
}

// next gives the line to be read without reading it.
func (p *patchParser) next() (string, bool) {
	if p.at >= len(p.lines) {
		return "", false
	}
	return p.lines[p.at], true
}

func (p *patchParser) bad(format string, args ...any) error {
	return fmt.Errorf("%w, line %d: %s", ErrBadPatch, p.at+1, fmt.Sprintf(format, args...))
}

// add takes an edit. A second one of the same file that only changes its text goes on
// with the first.
func (p *patchParser) add(e Edit) error {
	for i := range p.edits {
		old := &p.edits[i]
		if old.Path != e.Path {
			continue
		}
		if len(old.Patch) == 0 || len(e.Patch) == 0 || old.Delete || e.Delete || e.MoveTo != "" {
			return p.bad("%s is named twice", e.Path)
		}
		old.Patch = append(old.Patch, e.Patch...)
		return nil
	}
	if len(p.edits) == maxPatchFiles {
		return p.bad("more than %d files", maxPatchFiles)
	}
	p.edits = append(p.edits, e)
	return nil
}

// hunk reads the marked lines of a passage up to a line that end tells.
func (p *patchParser) hunk(in *Passage, end func(string) bool) error {
	begun, blank := false, 0 // blank: empty lines at the end, which may only set parts apart
	last := byte(0)
	for {
		l, ok := p.next()
		if !ok || end(l) {
			break
		}
		switch {
		case l == "":
			in.Old, in.New = append(in.Old, ""), append(in.New, "")
			blank++
			last = ' '
		case l[0] == ' ':
			in.Old, in.New = append(in.Old, l[1:]), append(in.New, l[1:])
		case l[0] == '-':
			in.Old = append(in.Old, l[1:])
		case l[0] == '+':
			in.New = append(in.New, l[1:])
		case strings.HasPrefix(l, `\ `) && begun:
			in.OldUnended = in.OldUnended || last != '+'
			in.NewUnended = in.NewUnended || last != '-'
		default:
			return p.bad("%q begins with none of blank, - and +", clipText(l, 80))
		}
		if l != "" {
			blank, last = 0, l[0]
		}
		begun = true
		p.at++
	}
	in.Old, in.New = in.Old[:len(in.Old)-blank], in.New[:len(in.New)-blank]
	return nil
}
