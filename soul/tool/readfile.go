package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/fileop"
	"kimi-acp/soul/wire"
)

// The limits of one read.
const (
	maxReadLines = 1000
	maxLineChars = 2000
	maxReadBytes = 100 << 10 // of text given to the model
)

//go:embed readfile.md
var readFileDescription string

type readFileArguments struct {
	Path       string `json:"path" jsonschema:"The file: an absolute path, or one relative to the working directory."`
	LineOffset int    `json:"line_offset,omitempty" jsonschema:"The first line to read, counted from 1. A negative number counts from the end: -20 starts 20 lines before the end."`
	NLines     int    `json:"n_lines,omitempty" jsonschema:"How many lines to read at most."`
}

func newReadFile() Tool {
	return Define(Definition[readFileArguments]{
		Name:        "ReadFile",
		Description: readFileDescription,
		Effect:      ReadOnly,
		Defaults:    readFileArguments{LineOffset: 1, NLines: maxReadLines},
		Refine: func(a map[string]*jsonschema.Schema) {
			a["path"].MinLength = jsonschema.Ptr(1)
			a["n_lines"].Minimum = jsonschema.Ptr(1.0)
			a["n_lines"].Maximum = jsonschema.Ptr(float64(maxReadLines))
		},
		Run: readFile,
	})
}

func readFile(ctx context.Context, c *Invocation, in readFileArguments) wire.ToolReturnValue {
	if in.LineOffset == 0 {
		return failure("Error validating JSON arguments: `line_offset` must not be 0: lines are counted from 1, and from the end with negative numbers.", "Invalid arguments")
	}
	at, err := c.mayRead(ctx, in.Path, false)
	if err != nil {
		return Failed(ctx, err)
	}
	file, err := c.readLines(ctx, at, in)
	if err == nil && !at.is(file.Real) {
		err = fmt.Errorf("%s: %w", at.name, fileop.ErrMoved)
	}
	if err != nil {
		return Failed(ctx, err)
	}
	w := numberLines(file, in.NLines)
	v := wire.ToolReturnValue{Output: wire.Output{Text: w.text}, Message: w.message(file.Path)}
	if file.NotUTF8 {
		v.Output.Text = strings.ToValidUTF8(v.Output.Text, "\uFFFD")
		v.Message += " Bytes that are not UTF-8 are shown as \uFFFD."
	}
	if file.Encoding != fileop.UTF8 {
		v.Message += fmt.Sprintf(" The file is %s, which edits keep.", file.Encoding)
	}
	if file.Dirty {
		v.Message += " This is the text in the editor; it has changes that are not saved, so commands see an older text on disk."
	}
	return v
}

// readLines gives the lines that are asked for. The whole file is read where it is
// all wanted, or where only the whole tells which lines are the last.
func (c *Invocation) readLines(ctx context.Context, at settled, in readFileArguments) (fileop.Window, error) {
	if !at.outside && (in.LineOffset > 1 || in.LineOffset == 1 && in.NLines < maxReadLines) {
		return c.ReadWindow(ctx, in.Path, in.LineOffset, in.NLines)
	}
	s, err := c.readWhole(ctx, at, in.Path)
	if err != nil {
		return fileop.Window{}, err
	}
	w := fileop.Window{Path: s.Path, Real: s.Real, Text: s.Text, Dirty: s.Dirty, NotUTF8: s.NotUTF8, Encoding: s.Encoding}
	w.Total = strings.Count(s.Text, "\n")
	if s.Text != "" && !strings.HasSuffix(s.Text, "\n") {
		w.Total++
	}
	if w.First = in.LineOffset; w.First < 0 {
		w.First = max(w.Total+1+in.LineOffset, 1)
	}
	for range min(w.First-1, w.Total) {
		_, w.Text, _ = strings.Cut(w.Text, "\n")
	}
	return w, nil
}

// readWhole gives a file as the user sees it, or as it is on disk outside of the
// workspace.
func (c *Invocation) readWhole(ctx context.Context, at settled, path string) (fileop.Snapshot, error) {
	if !at.outside {
		return c.Read(ctx, path)
	}
	data, err := c.executor.outside.ReadOutside(ctx, at.real)
	if err != nil {
		return fileop.Snapshot{}, err
	}
	text, err := fileop.Decode(data)
	if err != nil {
		return fileop.Snapshot{}, fmt.Errorf("%s: %w", at.name, err)
	}
	return fileop.Snapshot{Path: at.name, Real: at.real, Text: text.Body, NotUTF8: text.NotUTF8}, nil
}

// numbered is a run of a text's lines, numbered for the model.
type numbered struct {
	text        string
	first, last int // 1-based, inclusive; last < first: no lines
	total       int // lines of the whole text; -1: not known
	more        bool
	full        string
	cut         []int // numbers of the lines that were cut
}

// numberLines numbers up to n lines.
func numberLines(file fileop.Window, n int) numbered {
	w := numbered{first: file.First, last: file.First - 1, total: file.Total, more: file.More}
	var b strings.Builder
	for line := range strings.Lines(file.Text) {
		if w.last-w.first+1 == n {
			w.more = true
			break
		}
		line, cut := cutLine(strings.TrimSuffix(line, "\n"))
		text := fmt.Sprintf("%6d\t%s\n", w.last+1, line)
		if b.Len()+len(text) > maxReadBytes {
			w.more = true
			w.full = fmt.Sprintf("the limit of %d KiB", maxReadBytes>>10)
			break
		}
		w.last++
		if cut {
			w.cut = append(w.cut, w.last)
		}
		b.WriteString(text)
	}
	if w.more && w.full == "" {
		w.full = "the limit of " + plural(n, "line")
	}
	w.text = b.String()
	return w
}

// cutLine gives the first maxLineChars characters of a line.
func cutLine(line string) (string, bool) {
	if len(line) <= maxLineChars {
		return line, false
	}
	at := 0
	for range maxLineChars {
		_, size := utf8.DecodeRuneInString(line[at:])
		at += size
	}
	if at == len(line) {
		return line, false
	}
	return line[:at] + "…", true
}

func (w numbered) message(path string) string {
	switch {
	case w.total == 0:
		return path + " is empty."
	case w.last < w.first:
		return fmt.Sprintf("No lines read: %s has %s, and line %d lies beyond them.", path, plural(w.total, "line"), w.first)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Read %s of %s, from line %d to line %d", plural(w.last-w.first+1, "line"), path, w.first, w.last)
	switch {
	case w.total >= 0:
		fmt.Fprintf(&b, "; the file has %s. ", plural(w.total, "line"))
	case w.more:
		b.WriteString("; only this part of the file was read, so how many lines it has is not known. ")
	default:
		b.WriteString(". ")
	}
	if !w.more {
		b.WriteString("The end of the file was reached.")
	} else {
		fmt.Fprintf(&b, "Stopped at %s; the next line is %d.", w.full, w.last+1)
	}
	if len(w.cut) > 0 {
		const shown = 10
		numbers := strings.Trim(fmt.Sprint(w.cut[:min(shown, len(w.cut))]), "[]")
		if len(w.cut) > shown {
			numbers += " …"
		}
		fmt.Fprintf(&b, " Lines longer than %d characters were cut: %s.", maxLineChars, numbers)
	}
	return b.String()
}
