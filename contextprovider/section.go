package contextprovider

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The sections of a rendered context, in their order.
const (
	sectionRequests    = "requests"
	sectionEditor      = "editor"
	sectionFiles       = "files"
	sectionSymbols     = "symbols"
	sectionDiagnostics = "diagnostics"
	sectionGit         = "git"
	sectionDiff        = "diff"
	sectionTree        = "tree"
	sectionNotes       = "notes"
)

// Sections lists the names of the sections that settings know, in their order.
func Sections() []string {
	return []string{sectionEditor, sectionFiles, sectionSymbols, sectionDiagnostics, sectionGit, sectionDiff, sectionTree, sectionNotes}
}

// allSections are those and what the user asks for, which is told whatever settings
// say.
func allSections() []string { return append([]string{sectionRequests}, Sections()...) }

// requestShare is the part of the budget of what the user asks for.
const requestShare = 5

// section is a part of the context as lines, the most important first.
type section struct {
	name  string
	lines []string
	share int
}

// sections renders the facts, without a limit. What is empty has no section.
func (b Bundle) sections() []section {
	p := paths{roots: b.Session.Roots}
	lines := map[string][]string{
		sectionRequests:    p.requests(b.Requests, b.Diagnostics),
		sectionEditor:      p.editor(b.Editor),
		sectionFiles:       p.files(b.Files),
		sectionSymbols:     p.symbols(b.Symbols),
		sectionDiagnostics: p.diagnostics(b.Diagnostics),
		sectionGit:         p.git(b.Git),
		sectionDiff:        p.diffs(b.Git),
		sectionTree:        p.tree(b.Tree),
		sectionNotes:       p.notes(b.Notes),
	}
	var out []section
	for _, name := range allSections() {
		if len(lines[name]) > 0 {
			share := max(b.shares[name], 1)
			if name == sectionRequests {
				share = requestShare
			}
			out = append(out, section{name: name, lines: lines[name], share: share})
		}
	}
	return out
}

// paths shows paths as the model is to write them.
type paths struct{ roots []string }

// show gives a path relative to the working directory where it is in it.
func (p paths) show(path string) string {
	if len(p.roots) > 0 {
		if rel, err := filepath.Rel(p.roots[0], path); err == nil && filepath.IsLocal(rel) {
			return shownName(filepath.ToSlash(rel))
		}
	}
	return shownName(path)
}

// Bounds of lists, in entries.
const (
	maxOpenShown   = 40
	maxRecentShown = 10
)

func (p paths) editor(e *EditorState) []string {
	if e == nil {
		return nil
	}
	var out []string
	if e.Active != "" {
		out = append(out, "active file: "+p.show(e.Active)+p.where(e))
	}
	if e.Withheld {
		out = append(out, "its text and selection are not shown: it may hold secrets, or lies outside the workspace")
	}
	if s := e.Selection; s != nil {
		out = append(out, fmt.Sprintf("selected: line %d column %d to line %d column %d", s.From.Line, s.From.Column, s.To.Line, s.To.Column))
		out = append(out, numbered(s.Text, s.From.Line)...)
	}
	var dirty, clean []string
	for _, d := range e.Open {
		switch {
		case d.Dirty:
			dirty = append(dirty, p.show(d.Path))
		case d.Path != e.Active:
			clean = append(clean, p.show(d.Path))
		}
	}
	if len(dirty) > 0 {
		out = append(out, "unsaved changes (commands see the files as they are on disk): "+list(dirty, maxOpenShown))
	}
	if len(clean) > 0 {
		out = append(out, "also open: "+list(clean, maxOpenShown))
	}
	var recent []string
	for _, path := range e.Recent {
		if path != e.Active && !slices.ContainsFunc(e.Open, func(d Document) bool { return d.Path == path }) {
			recent = append(recent, p.show(path))
		}
	}
	if len(recent) > 0 {
		out = append(out, "looked at lately: "+list(recent, maxRecentShown))
	}
	return out
}

func (p paths) where(e *EditorState) string {
	s := ""
	if e.Cursor != nil {
		s += ", cursor at line " + strconv.Itoa(e.Cursor.Line)
		if e.Cursor.Column > 0 {
			s += " column " + strconv.Itoa(e.Cursor.Column)
		}
	}
	if e.Visible != nil {
		s += fmt.Sprintf(", lines %d-%d on the screen", e.Visible.First, e.Visible.Last)
	}
	return s
}

func (p paths) files(files []FileSnapshot) []string {
	var out []string
	for _, f := range files {
		head := p.show(f.Path)
		switch {
		case f.Withheld != "":
			out = append(out, head+": "+shownLine(f.Withheld))
			continue
		case f.Folder:
			head += "/ holds:"
		default:
			head += fmt.Sprintf(", from line %d", f.First)
			if f.Total >= 0 {
				head += fmt.Sprintf(" of %d", f.Total)
			}
			if f.Dirty {
				head += ", with unsaved changes"
			}
		}
		out = append(out, head)
		if f.Folder {
			for line := range strings.SplitSeq(strings.TrimSuffix(f.Text, "\n"), "\n") {
				out = append(out, "  "+shownName(line))
			}
		} else {
			out = append(out, numbered(f.Text, f.First)...)
		}
		if f.More {
			out = append(out, "  (there is more)")
		}
	}
	return out
}

func (p paths) symbols(symbols []Symbol) []string {
	var out []string
	for _, s := range symbols {
		line := shownName(strings.TrimSpace(s.Kind+" "+s.Name)) + ": " + p.show(s.Path) + ":" + strconv.Itoa(s.Line)
		if s.References >= 0 {
			line += fmt.Sprintf(", %d references", s.References)
		}
		out = append(out, line)
		out = append(out, indented(s.Signature)...)
		out = append(out, indented(s.Doc)...)
	}
	return out
}

func (p paths) diagnostics(all []Diagnostic) []string {
	var out []string
	for _, d := range all {
		line := p.show(d.Path) + ":" + strconv.Itoa(d.Lines.First)
		if d.Column > 0 {
			line += ":" + strconv.Itoa(d.Column)
		}
		line += ": " + d.Severity.String()
		if by := strings.TrimSpace(d.Source + " " + d.Code); by != "" {
			line += " (" + shownName(by) + ")"
		}
		out = append(out, line+": "+shownLine(d.Message))
	}
	return out
}

func (p paths) tree(folders []TreeFolder) []string {
	var out []string
	for _, f := range folders {
		names := make([]string, len(f.Entries))
		for i, e := range f.Entries {
			names[i] = shownName(e)
		}
		line := p.show(f.Path) + "/: " + strings.Join(names, " ")
		if f.More > 0 {
			line += fmt.Sprintf(" and %d more", f.More)
		}
		out = append(out, line)
	}
	return out
}

func (p paths) notes(notes []Note) []string {
	var out []string
	for _, n := range notes {
		head := shownName(n.Source) + ": " + shownName(n.Title)
		if n.Path != "" {
			head += " (" + p.show(n.Path) + ")"
		}
		out = append(out, head)
		out = append(out, indented(n.Text)...)
	}
	return out
}

// numbered shows a text with the numbers of its lines, so that no line of it can be
// taken for one of ours.
func numbered(text string, first int) []string {
	if text == "" {
		return nil
	}
	var out []string
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		out = append(out, strconv.Itoa(first)+"| "+shownLine(strings.TrimSuffix(line, "\r")))
		first++
	}
	return out
}

func indented(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var out []string
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		out = append(out, "  "+shownLine(strings.TrimSuffix(line, "\r")))
	}
	return out
}

// list joins the first n names and says how many there are besides.
func list(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:n], ", ") + fmt.Sprintf(" and %d more", len(names)-n)
}
