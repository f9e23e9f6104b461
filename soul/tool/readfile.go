package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

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
	file, err := c.Read(ctx, in.Path)
	if err != nil {
		return Failed(ctx, err)
	}
	w := readWindow(file.Text, in.LineOffset, in.NLines)
	v := wire.ToolReturnValue{Output: wire.Output{Text: w.text}, Message: w.message(file.Path)}
	if file.NotUTF8 {
		v.Output.Text = strings.ToValidUTF8(v.Output.Text, "\uFFFD")
		v.Message += " Bytes that are not UTF-8 are shown as \uFFFD."
	}
	if file.Dirty {
		v.Message += " This is the text in the editor; it has changes that are not saved, so commands see an older text on disk."
	}
	return v
}

// window is a run of a text's lines, numbered for the model.
type window struct {
	text        string
	first, last int // 1-based, inclusive; last < first: no lines
	total       int // lines of the whole text
	full        string
	cut         []int // numbers of the lines that were cut
}

// readWindow numbers up to n lines of text from offset on, see readFileArguments.
func readWindow(text string, offset, n int) window {
	w := window{total: strings.Count(text, "\n")}
	if text != "" && !strings.HasSuffix(text, "\n") {
		w.total++
	}
	w.first = offset
	if offset < 0 {
		w.first = max(w.total+1+offset, 1)
	}
	w.last = w.first - 1
	var b strings.Builder
	number := 0
	for line := range strings.Lines(text) {
		number++
		if number < w.first {
			continue
		}
		if number-w.first == n {
			w.full = fmt.Sprintf("the limit of %s", plural(n, "line"))
			break
		}
		line, cut := cutLine(strings.TrimSuffix(line, "\n"))
		numbered := fmt.Sprintf("%6d\t%s\n", number, line)
		if b.Len()+len(numbered) > maxReadBytes {
			w.full = fmt.Sprintf("the limit of %d KiB", maxReadBytes>>10)
			break
		}
		if cut {
			w.cut = append(w.cut, number)
		}
		b.WriteString(numbered)
		w.last = number
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

func (w window) message(path string) string {
	switch {
	case w.total == 0:
		return path + " is empty."
	case w.last < w.first:
		return fmt.Sprintf("No lines read: %s has %s, and line %d lies beyond them.", path, plural(w.total, "line"), w.first)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Read %s of %s, from line %d to line %d; the file has %s. ", plural(w.last-w.first+1, "line"), path, w.first, w.last, plural(w.total, "line"))
	if w.full == "" {
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
