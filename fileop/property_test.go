package fileop_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kimi-acp/fileop"
)

// testLine is a line as the model of the property test knows it.
type testLine struct {
	text string
	end  string // "\n", "\r\n", or "" for a last line without an end
}

// testFile is a file as lines. No line occurs twice, so that each can be named.
type testFile struct {
	bom   string
	lines []testLine
}

func (f testFile) bytes() string {
	var b strings.Builder
	b.WriteString(f.bom)
	for _, l := range f.lines {
		b.WriteString(l.text + l.end)
	}
	return b.String()
}

// usualEnd is the ending for a line that has no counterpart: the file's most used.
func (f testFile) usualEnd() string {
	crlf, lf := 0, 0
	for _, l := range f.lines {
		switch l.end {
		case "\r\n":
			crlf++
		case "\n":
			lf++
		}
	}
	if crlf == lf && crlf > 0 {
		return f.lines[0].end
	}
	if crlf > lf {
		return "\r\n"
	}
	return "\n"
}

func drawFile(t *rapid.T) testFile {
	f := testFile{bom: rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "bom")}
	ends := rapid.SampledFrom([][]string{{"\n"}, {"\r\n"}, {"\n", "\r\n"}}).Draw(t, "ends")
	words := rapid.SampledFrom([]string{"", "a", "名前", "\t}", "x\ry", "50%", "🙂"})
	for i := range rapid.IntRange(2, 30).Draw(t, "lines") {
		f.lines = append(f.lines, testLine{
			text: fmt.Sprintf("<%d>%s", i, words.Draw(t, "text")),
			end:  rapid.SampledFrom(ends).Draw(t, "end"),
		})
	}
	if rapid.Bool().Draw(t, "no final newline") {
		f.lines[len(f.lines)-1].end = ""
	}
	return f
}

// step changes one line of the model and gives the replacement that does the same.
func (f *testFile) step(t *rapid.T, usual string, fresh int) fileop.Replacement {
	i := rapid.IntRange(0, len(f.lines)-1).Draw(t, "line")
	l := f.lines[i]
	text := fmt.Sprintf("<new %d>", fresh)
	newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline in the edit")
	kinds := []string{"rewrite", "insert above"}
	if l.end != "" {
		kinds = append(kinds, "rewrite with its end", "remove")
	}
	if len(f.lines) == 1 {
		kinds = kinds[:2]
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "rewrite":
		f.lines[i].text = text
		return fileop.Replacement{Old: l.text, New: text}
	case "rewrite with its end":
		f.lines[i].text = text
		return fileop.Replacement{Old: l.text + newline, New: text + newline}
	case "insert above":
		added := testLine{text, usual}
		f.lines = append(f.lines[:i:i], append([]testLine{added}, f.lines[i:]...)...)
		return fileop.Replacement{Old: l.text, New: text + newline + l.text}
	default:
		f.lines = append(f.lines[:i:i], f.lines[i+1:]...)
		return fileop.Replacement{Old: l.text + newline, New: ""}
	}
}

// TestReplacementsByteForByte applies random edits to random files, through an
// operator with each way to read and write, and to a model that knows lines and
// their endings. The bytes on disk are the model's; so no line that was not touched
// has changed.
func TestReplacementsByteForByte(t *testing.T) {
	for name, w := range ways {
		for _, hides := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " hides style ", hides), func(t *testing.T) {
				d := newDesk(t, w)
				d.editor.hidesStyle = hides
				rapid.Check(t, func(rt *rapid.T) {
					f := drawFile(rt)
					before := f.bytes()
					d.save(before)
					var e fileop.Edit
					usual := f.usualEnd()
					for n := range rapid.IntRange(1, 5).Draw(rt, "steps") {
						e.Replace = append(e.Replace, f.step(rt, usual, n))
					}
					c, err := d.op.Plan(t.Context(), withPath(e, d.path))
					if before == f.bytes() {
						if !errors.Is(err, fileop.ErrNoChange) {
							rt.Fatalf("steps that undo each other: %v, want ErrNoChange", err)
						}
						return
					}
					if err != nil {
						rt.Fatal(err)
					}
					d.commit(c)
					got, err := d.disk.Read(t.Context(), d.path)
					if err != nil || string(got) != f.bytes() {
						rt.Fatalf("%+v became\n%q, want\n%q, %v", e.Replace, got, f.bytes(), err)
					}
				})
			})
		}
	}
}

// TestContentByteForByte does the same with whole contents.
func TestContentByteForByte(t *testing.T) {
	d := newDesk(t, ways["both"])
	rapid.Check(t, func(rt *rapid.T) {
		f := drawFile(rt)
		d.save(f.bytes())
		usual := f.usualEnd()
		at := rapid.IntRange(0, len(f.lines)-1).Draw(rt, "line")
		added := testLine{"<added>", usual}
		f.lines = append(f.lines[:at:at], append([]testLine{added}, f.lines[at:]...)...)
		d.commit(d.plan(content(strings.ReplaceAll(strings.TrimPrefix(f.bytes(), "\ufeff"), "\r\n", "\n"))))
		d.wantDisk(f.bytes())
		if d.Failed() {
			rt.Fatalf("file %q", f.bytes())
		}
	})
}
