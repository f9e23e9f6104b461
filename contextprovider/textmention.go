package contextprovider

import (
	"html"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxTextMentions bounds what is found in one text, and maxScanned how much of it is
// looked at, in bytes.
const (
	maxTextMentions = 10
	maxScanned      = 64 << 10
)

var (
	// placeInText is a path with a line or lines behind it, as people and editors
	// write it: a/b.go:12, a/b.go:12-20, a/b.go:12:5, a/b.go (112:113), @a/b.go#L3-L9.
	// A path without any lines is no mention: too many words look like one.
	placeInText = regexp.MustCompile(`(?:^|[\s"'` + "`" + `(\[@])((?:[A-Za-z]:[\\/]|~?\.{0,2}/)?[\pL\pN_.+\-\\/]*[\pL\pN_+\-]\.?[\pL\pN_]+)(?::(\d{1,7})(?:-(\d{1,7})|:(\d{1,7}))?|#L(\d{1,7})(?:[-:]L?(\d{1,7}))?| \((\d{1,7}):(\d{1,7})\))`)
	// noteLink is a note of Obsidian's with lines: @[[plans/my note]]:3-7.
	noteLink = regexp.MustCompile(`@\[\[([^\[\]\n|#]{1,200})\]\]:(\d{1,7})(?:-(\d{1,7}))?`)
	// selectedCode is how some editors of the Neovim family send a selection.
	selectedCode = regexp.MustCompile(`(?s)<selected_code>(.*?)</selected_code>`)
	pathTag      = regexp.MustCompile(`(?s)<path>(.*?)</path>`)
	lineTag      = regexp.MustCompile(`(?s)<line_(start|end)>\s*(\d{1,7})\s*</line_`)
	snippetTag   = regexp.MustCompile(`(?s)<snippet[^>]*>(.*?)</snippet>`)
	// sharedFile is how CodeCompanion shares a file.
	sharedFile = regexp.MustCompile(`(?m)^Sharing the following file as context: (.+)$`)
)

// MentionsIn finds references to files in what a user typed, or an editor typed for
// them. Paths are as they stand there and may be relative. Those that only look like
// a file are guesses.
func MentionsIn(text string) []Mention {
	if len(text) > maxScanned {
		text = strings.ToValidUTF8(text[:maxScanned], "")
	}
	var all []Mention
	add := func(m Mention) {
		if len(all) < maxTextMentions && m.Path != "" && !strings.ContainsRune(m.Path, 0) {
			m.Kind = MentionFile
			all = append(all, m)
		}
	}
	for _, block := range selectedCode.FindAllStringSubmatch(text, maxTextMentions) {
		if m, ok := selection(block[1]); ok {
			add(m)
		}
	}
	text = selectedCode.ReplaceAllString(text, " ") // what is in it mentions nothing
	for _, g := range sharedFile.FindAllStringSubmatch(text, maxTextMentions) {
		add(Mention{Path: strings.TrimSpace(g[1])})
	}
	for _, g := range noteLink.FindAllStringSubmatch(text, maxTextMentions) {
		m := Mention{Path: strings.TrimSpace(g[1]), Guess: true, URI: g[0], Lines: lineRange(g[2], g[3])}
		if filepath.Ext(m.Path) == "" {
			m.Path += ".md" // which is left out there
		}
		if m.Lines != nil {
			add(m)
		}
	}
	for _, g := range placeInText.FindAllStringSubmatch(text, maxTextMentions) {
		if strings.Contains(g[1], "//") || !strings.ContainsAny(g[1], "./\\") {
			continue
		}
		m := Mention{Path: g[1], Guess: true, URI: strings.TrimSpace(g[0])}
		first, last := firstOf(g[2], g[5], g[7]), firstOf(g[3], g[6], g[8])
		m.Column, _ = strconv.Atoi(g[4])
		m.Lines = lineRange(first, last)
		if m.Lines != nil {
			add(m)
		}
	}
	return all
}

// WithText adds what a prompt's text mentions to what its blocks do. Some editors send a
// selection as a link to the file, and its lines in the text only, as in "a.go (12:20)":
// these become one mention.
func WithText(linked []Mention, text string) []Mention {
	all := slices.Clone(linked)
	for _, m := range MentionsIn(text) {
		i := slices.IndexFunc(all, func(l Mention) bool {
			return m.Guess && !l.Guess && l.Kind == MentionFile && l.Lines == nil && l.NoRange == "" && endsIn(l.Path, m.Path)
		})
		if i < 0 {
			all = append(all, m)
			continue
		}
		all[i].Lines, all[i].Column = m.Lines, m.Column
	}
	return all
}

// endsIn tells whether the last parts of a path are those of name.
func endsIn(path, name string) bool {
	path, name = strings.ReplaceAll(path, `\`, "/"), strings.ReplaceAll(name, `\`, "/")
	return path == name || strings.HasSuffix(path, "/"+strings.TrimPrefix(name, "./"))
}

// selection reads what stands in a <selected_code>.
func selection(block string) (m Mention, ok bool) {
	path := pathTag.FindStringSubmatch(block)
	if path == nil {
		return m, false
	}
	m.Path = html.UnescapeString(strings.TrimSpace(path[1]))
	m.Embedded = snippetTag.MatchString(block)
	var first, last string
	for _, g := range lineTag.FindAllStringSubmatch(block, 2) {
		if g[1] == "start" {
			first = g[2]
		} else {
			last = g[2]
		}
	}
	m.Lines = lineRange(first, last)
	return m, true
}

func firstOf(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

// lineRange makes a range of numbers as text; nil when there is none.
func lineRange(first, last string) *LineRange {
	a, err := strconv.Atoi(first)
	if err != nil || a < 1 {
		return nil
	}
	b, err := strconv.Atoi(last)
	if err != nil {
		b = a
	}
	if b < a {
		return nil
	}
	return &LineRange{First: a, Last: b}
}

const qtTitle = "This is the state of the current Text Editor in Qt Creator"

var (
	qtCursor  = regexp.MustCompile(`(?m)^Cursor Position: \d+, Line\(0-based\): (\d{1,9}), Column\(0-based\): (\d{1,9})\s*$`)
	qtAnchor  = regexp.MustCompile(`(?m)^Cursor Anchor: \d+, Line\(0-based\): (\d{1,9}), Column\(0-based\): (\d{1,9})\s*$`)
	qtVisible = regexp.MustCompile(`(?m)^(First|Last) Visible Line: (\d{1,9})\s*$`)
)

// EditorStateIn reads the state of the editor that Qt Creator sends in the place of a
// file's text; ok is false for any other text. Its lines count from 0.
func EditorStateIn(m Mention, text string) (e EditorState, ok bool) {
	if m.Kind != MentionFile || !filepath.IsAbs(m.Path) || !strings.HasPrefix(text, qtTitle) {
		return e, false
	}
	cursor := qtCursor.FindStringSubmatch(text)
	if cursor == nil {
		return e, false
	}
	at := placeOf(cursor)
	e = EditorState{Editor: "Qt Creator", Active: filepath.Clean(m.Path), Cursor: &at}
	if anchor := qtAnchor.FindStringSubmatch(text); anchor != nil {
		from, to := placeOf(anchor), at
		if to.Line < from.Line || to.Line == from.Line && to.Column < from.Column {
			from, to = to, from
		}
		if from != to {
			e.Selection = &Selection{From: from, To: to}
		}
	}
	visible := LineRange{}
	for _, g := range qtVisible.FindAllStringSubmatch(text, 2) {
		n, _ := strconv.Atoi(g[2])
		if g[1] == "First" {
			visible.First = n + 1
		} else {
			visible.Last = n + 1
		}
	}
	if visible.First > 0 && visible.Last >= visible.First {
		e.Visible = &visible
	}
	return e, true
}

// placeOf reads line and column that count from 0.
func placeOf(g []string) Position {
	line, _ := strconv.Atoi(g[1])
	column, _ := strconv.Atoi(g[2])
	return Position{Line: line + 1, Column: column + 1}
}
