package storetest

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"kimi-acp/fileop"
)

// Workspace is an Operator on a Store, and a look past it at what is on disk.
type Workspace struct {
	Operator *fileop.Operator
	Store    fileop.Store // the disk
	Root     string

	KnownOnly bool // files in an encoding that nobody knows are not edited
}

const unknown = "bytes of no encoding"

// The ways in which a file of the suite may stand on disk.
var forms = []struct {
	name    string
	mark    string
	unit    func(r rune) string
	letters []rune // beyond ASCII
}{
	{"UTF-8", "", func(r rune) string { return string(r) }, []rune("é名🙂\u0085")},
	{"UTF-8 with mark", "\ufeff", func(r rune) string { return string(r) }, []rune("é名🙂")},
	{"UTF-16LE", "\xff\xfe", func(r rune) string { return units(r, 0) }, []rune("é名🙂\u0a0a\u0a0d")},
	{"UTF-16BE", "\xfe\xff", func(r rune) string { return units(r, 1) }, []rune("é名🙂\u0a0a\u0d0a")},
	{"Windows-1252", "", func(r rune) string {
		return string([]byte{map[rune]byte{'é': 0xe9, '€': 0x80, '“': 0x93}[r] | asciiByte(r)})
	}, []rune("é€“")},
	{unknown, "", func(r rune) string { return map[rune]string{'я': "\xff\xfe\x81"}[r] + asciiText(r) }, []rune("я")},
}

func asciiByte(r rune) byte {
	if r < 0x80 {
		return byte(r)
	}
	return 0
}

func asciiText(r rune) string {
	if r < 0x80 {
		return string(r)
	}
	return ""
}

// units are the bytes of a character in UTF-16, the high one first with high 1.
func units(r rune, high int) string {
	pair := []rune{r}
	if r > 0xffff {
		r -= 0x10000
		pair = []rune{0xd800 + r>>10, 0xdc00 + r&0x3ff}
	}
	var out []byte
	for _, u := range pair {
		two := []byte{byte(u), byte(u >> 8)}
		out = append(out, two[high], two[1-high])
	}
	return string(out)
}

// BytesOutside makes random edits of files in every encoding, by replacements and by
// patches, and holds the bytes on disk to a model that knows characters alone: those
// outside an edit never change. fresh is called for each encoding.
func BytesOutside(t *testing.T, fresh func(t *testing.T) Workspace) {
	t.Helper()
	for _, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			w := fresh(t)
			if w.KnownOnly && form.name == unknown {
				t.Skip("such files are refused here")
			}
			path := w.Root + "/file.txt"
			rapid.Check(t, func(rt *rapid.T) {
				encode := func(s string) string {
					out := ""
					for _, r := range s {
						out += form.unit(r)
					}
					return out
				}
				ends := rapid.SampledFrom([][]string{{"\n"}, {"\r\n"}, {"\n", "\r\n"}}).Draw(rt, "ends")
				n := rapid.IntRange(2, 12).Draw(rt, "lines")
				texts, lineEnds := make([]string, n), make([]string, n)
				for i := range n {
					letter := rapid.SampledFrom(form.letters).Draw(rt, "letter")
					texts[i] = fmt.Sprintf("<%d>a%cb", i, letter)
					lineEnds[i] = rapid.SampledFrom(ends).Draw(rt, "end")
				}
				whole := func() string {
					out := form.mark
					for i := range n {
						out += encode(texts[i] + lineEnds[i])
					}
					return out
				}
				if err := w.Store.Write(t.Context(), path, []byte(whole())); err != nil {
					rt.Fatal(err)
				}
				at := rapid.IntRange(0, n-1).Draw(rt, "edited")
				edit := fileop.Edit{Path: path}
				old := fmt.Sprintf("<%d>a", at)
				fresh := fmt.Sprintf("[%d]x", at)
				if rapid.Bool().Draw(rt, "by patch") && form.name != unknown {
					edit.Patch = []fileop.Passage{{Old: []string{texts[at]}, New: []string{fresh + texts[at]}}}
					texts[at] = fresh + texts[at]
				} else {
					edit.Replace = []fileop.Replacement{{Old: old, New: fresh}}
					texts[at] = fresh + texts[at][len(old):]
				}
				c, err := w.Operator.Plan(t.Context(), edit)
				if err != nil {
					rt.Fatal(err)
				}
				if r, err := w.Operator.Commit(t.Context(), c); err != nil || r.Adjusted {
					rt.Fatalf("%v, adjusted %v", err, r.Adjusted)
				}
				got, err := w.Store.Read(t.Context(), path)
				if err != nil || string(got) != whole() {
					rt.Fatalf("%+v left\n%q, want\n%q, %v", edit, got, whole(), err)
				}
			})
		})
	}
}
