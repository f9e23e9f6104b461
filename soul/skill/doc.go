// Package skill reads skills: texts that tell a model how to go about a kind of work,
// each the SKILL.md of a folder, or a Markdown file alone, with a head of names and values.
//
// It must not know what a soul does with a skill, nor which folders count: it reads
// the ones that it is given, and runs nothing in them.
package skill

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// The limits of what is read.
const (
	maxText   = 1 << 20 // bytes of a SKILL.md
	maxSkills = 1000    // in a folder
	fileName  = "SKILL.md"
)

// Skill is a text that tells a model how to go about something.
type Skill struct {
	Name        string // of the head, else that of the folder or file
	Description string // for people: of the head, else the first line of the text
	Text        string // all of the file, without the blanks around it
	Flow        *Flow  // of a skill that is a flow; nil: it is a text alone
}

// Compare orders skills by their names.
func (s Skill) Compare(o Skill) int { return cmp.Compare(s.Name, o.Name) }

//go:embed builtin
var builtin embed.FS

// Builtin gives the skills that come with the program, in order of their names.
func Builtin() []Skill {
	root, err := fs.Sub(builtin, "builtin")
	if err != nil {
		panic(err) // the name is a constant
	}
	skills, _ := load(root)
	return skills
}

// Load gives the skills of a folder, in order of their names. The error names those
// that cannot be used; the others are there all the same.
func Load(dir string) ([]Skill, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("read the skills: %w", err)
	}
	skills, err := load(root.FS())
	return skills, errors.Join(err, root.Close())
}

func load(root fs.FS) ([]Skill, error) {
	entries, err := fs.ReadDir(root, ".")
	if err != nil {
		return nil, fmt.Errorf("read the skills: %w", err)
	}
	if len(entries) > maxSkills {
		entries, err = entries[:maxSkills], fmt.Errorf("there are more than %d skills; the rest is left out", maxSkills)
	}
	var skills []Skill
	for _, e := range entries {
		name, file := e.Name(), e.Name()+"/"+fileName
		if bare, ok := strings.CutSuffix(e.Name(), ".md"); ok && e.Type().IsRegular() && e.Name() != fileName {
			name, file = bare, e.Name()
			if info, err := fs.Stat(root, bare+"/"+fileName); err == nil && info.Mode().IsRegular() {
				continue // the folder counts
			}
		}
		text, readErr := read(root, file)
		if errors.Is(readErr, fs.ErrNotExist) || errors.Is(readErr, errNoFolder) {
			continue
		}
		s, parseErr := parse(name, text)
		if e := cmp.Or(readErr, parseErr); e != nil {
			err = errors.Join(err, fmt.Errorf("skill %s: %w", s.Name, e))
			if readErr != nil {
				continue
			}
		}
		skills = append(skills, s)
	}
	slices.SortStableFunc(skills, Skill.Compare)
	return skills, err
}

var errNoFolder = errors.New("no folder")

func read(root fs.FS, name string) (string, error) {
	if info, err := fs.Stat(root, filepath.ToSlash(filepath.Dir(name))); err != nil || !info.IsDir() {
		return "", errNoFolder
	}
	// Before it is opened: the opening of a pipe waits.
	if info, err := fs.Stat(root, name); err != nil {
		return "", err
	} else if !info.Mode().IsRegular() {
		return "", errors.New("it is no file")
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, maxText+1))
	switch {
	case err != nil:
		return "", err
	case len(data) > maxText:
		return "", fmt.Errorf("it has more than %d bytes", maxText)
	case !utf8.Valid(data):
		return "", errors.New("it is not UTF-8 text")
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n"), nil
}

// parse takes a skill apart. A flow that cannot be read leaves an ordinary skill, and
// an error.
func parse(name, text string) (Skill, error) {
	s := Skill{Name: name, Text: strings.TrimSpace(text)}
	head, body := split(s.Text)
	values := Head(head)
	s.Name = cmp.Or(values["name"], name)
	s.Description = cmp.Or(values["description"], firstLine(body))
	if values["type"] != "flow" {
		return s, nil
	}
	read, chart := flowIn(body)
	if read == nil {
		return s, errors.New("it is to be a flow, and has no mermaid or d2 block")
	}
	flow, err := read(chart)
	if err != nil {
		return s, err
	}
	s.Flow = flow
	return s, nil
}

// split divides a text into what stands between two lines of dashes at its beginning,
// and the rest.
func split(text string) (head, body string) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", text
	}
	head, body, ok = strings.Cut(rest, "\n---")
	if !ok {
		return "", text
	}
	return head, body
}

// maxFirstLine bounds a description that is a line of the text, in code points.
const maxFirstLine = 240

// firstLine describes a skill that does not describe itself.
func firstLine(body string) string {
	for line := range strings.SplitSeq(body, "\n") {
		if line = strings.TrimSpace(line); line == "" || line == "---" {
			continue
		}
		if runes := []rune(line); len(runes) > maxFirstLine {
			line = strings.TrimSpace(string(runes[:maxFirstLine-1])) + "…"
		}
		return line
	}
	return "No description provided."
}

// flowIn finds the first block of a text that is a flow, and what reads it; nil when
// there is none.
func flowIn(text string) (read func(string) (*Flow, error), chart string) {
	fence, language := "", ""
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimSpace(line)
		switch marks := fenceOf(bare); {
		case fence == "" && len(marks) >= 3:
			fence, lines = marks, nil
			language, _, _ = strings.Cut(strings.TrimSpace(bare[len(marks):]), " ")
			language = strings.ToLower(strings.Trim(language, "{}"))
		case fence != "" && bare == marks && strings.HasPrefix(marks, fence):
			switch language {
			case "mermaid":
				return ParseMermaid, strings.Join(lines, "\n")
			case "d2":
				return ParseD2, strings.Join(lines, "\n")
			}
			fence = ""
		default:
			lines = append(lines, line)
		}
	}
	return nil, ""
}

// fenceOf gives the backticks or tildes that a line begins with.
func fenceOf(line string) string {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	return line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
}
