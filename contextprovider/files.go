package contextprovider

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"kimi-acp/fileop"
)

// Windows reads parts of files as the user sees them; *fileop.Operator is one. Its
// methods may be called at once.
type Windows interface {
	ReadWindow(ctx context.Context, path string, first, n int) (fileop.Window, error)
}

// Bounds on the files of a prompt.
const (
	maxFiles      = 10
	maxFileLines  = 120 // of a file that is mentioned as a whole
	maxRangeLines = 400 // of a range
	aroundPlace   = 12  // lines before and behind a place
	maxFileText   = 16 << 10
)

// Files tells the text of the files that a prompt mentions, and what the user has
// changed and not saved.
type Files struct {
	Windows Windows
	// Readable tells whether the text of a file may be shown. What may not is not
	// opened.
	Readable func(path string) bool
	// Disk, if not nil, gives a file as it is on disk, to tell what is unsaved.
	Disk func(ctx context.Context, path string) ([]byte, error)
}

// Name is "files".
func (Files) Name() string { return sectionFiles }

// Gather reads what the prompt mentions and does not carry itself, and looks for
// unsaved changes.
func (f Files) Gather(ctx context.Context, q Query) (Facts, error) {
	var facts Facts
	for _, m := range q.Mentions {
		if m.Kind != MentionFile || m.Embedded || len(facts.Files) >= maxFiles {
			continue
		}
		path := m.Path
		if !filepath.IsAbs(path) && len(q.Roots) > 0 {
			path = filepath.Join(q.Roots[0], path)
		}
		s, err := f.snapshot(ctx, path, m)
		switch {
		case ctx.Err() != nil:
			return facts, ctx.Err()
		case err == nil:
			facts.Files = append(facts.Files, s)
		case m.Guess: // the words looked like a file and are none
		default:
			facts.Files = append(facts.Files, FileSnapshot{Path: path, Withheld: whyNot(err)})
		}
	}
	facts.Files = append(facts.Files, f.unsaved(ctx, q, facts.Files)...)
	return facts, ctx.Err()
}

func (f Files) snapshot(ctx context.Context, path string, m Mention) (FileSnapshot, error) {
	if !f.Readable(path) {
		if m.Guess {
			return FileSnapshot{}, fs.ErrNotExist // not even that it is there
		}
		return FileSnapshot{Path: path, Withheld: withheldReason}, nil
	}
	if m.NoRange != "" {
		return FileSnapshot{Path: path, Withheld: m.NoRange + " is no range of lines"}, nil
	}
	first, n := 1, maxFileLines
	if m.Lines != nil {
		first, n = m.Lines.First, min(m.Lines.Last-m.Lines.First+1, maxRangeLines)
		if n == 1 && (m.Column > 0 || m.Symbol != "") {
			first = max(1, m.Lines.First-aroundPlace)
			n = m.Lines.First + aroundPlace - first + 1
		}
	}
	w, err := f.Windows.ReadWindow(ctx, path, first, n)
	if err != nil {
		return FileSnapshot{}, err
	}
	s := FileSnapshot{Path: path, First: first, Text: w.Text, Total: w.Total, Dirty: w.Dirty, More: w.More && (m.Lines == nil || n == maxRangeLines)}
	if s.Text == "" && first > 1 {
		s.Withheld = fmt.Sprintf("line %d is behind its end", first)
	}
	if len(s.Text) > maxFileText {
		s.Text, s.More = s.Text[:strings.LastIndexByte(s.Text[:maxFileText], '\n')+1], true
	}
	return s, nil
}

// whyNot says in a few words why a file cannot be read.
func whyNot(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.Is(err, fileop.ErrOutside):
		return withheldReason
	case errors.Is(err, fileop.ErrBinary):
		return "it is not text"
	case errors.Is(err, fileop.ErrNotRegular):
		return "it is not a file"
	}
	return "it cannot be read"
}
