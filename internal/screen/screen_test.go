package screen

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// shown is what a Screen of the least width makes of something.
func shown(colour bool, f func(*Screen)) string {
	var b bytes.Buffer
	f(New(&b, colour, 1))
	return b.String()
}

func TestScreen(t *testing.T) {
	for _, tt := range []struct {
		name string
		show func(*Screen)
		want string
	}{
		{"sections are apart", func(s *Screen) {
			s.Section("One", "")
			s.Line(Plain, "text")
			s.Section("Two", strings.Repeat("detail ", 9))
		}, "\n▌ One\n  text\n\n▌ Two  detail detail detail detail deta…\n"},
		{"one gap and no more", func(s *Screen) {
			s.Line(Plain, "a")
			s.Gap()
			s.Gap()
			s.Section("One", "")
			s.Gap()
			s.Print("")
			s.Gap()
		}, "  a\n\n▌ One\n\n\n"},
		{"streamed text is wrapped as it comes", func(s *Screen) {
			for _, piece := range []string{"Words that co", "me in pieces ", "fill ", "the line and then go on", ".\n\nA new ", "paragraph\x07"} {
				s.Stream("Thinking", Faint, piece)
			}
			s.Line(Plain, "next")
		}, "\n▌ Thinking\n  Words that come in pieces fill the\n  line and then go on.\n\n  A new paragraph\ufffd\n  next\n"},
		{
			"a word that is too long", func(s *Screen) { s.Wrapped(Plain, "see https://example.com/"+strings.Repeat("long", 9)+" there") },
			"  see\n  https://example.com/longlonglonglonglonglonglonglonglong\n  there\n",
		},
		{"an item hangs", func(s *Screen) {
			s.Item(Red, "✗ key  ", "the key is not accepted by the server at all")
			s.Item(Red, "✗ none  ", " ")
		}, "✗ key  the key is not accepted by the\n       server at all\n✗ none\n"},
		{"a diff", func(s *Screen) {
			s.Diff("--- a\n+++ a\n@@ -1,2 +1,2 @@\n--- not a name\n+two\n same\r\n+"+strings.Repeat("long", 10), 0)
		}, "  @@ -1,2 +1,2 @@\n  --- not a name\n  +two\n   same\n  +longlonglonglonglonglonglonglonglongl\n  ong\n"},
		{
			"a long diff", func(s *Screen) { s.Diff("--- a\n+++ a\n@@ -1 +1 @@\n-1\n+2\n+3\n", 2) },
			"  @@ -1 +1 @@\n  -1\n  … 2 more lines\n",
		},
		{"no diff", func(s *Screen) { s.Diff("", 5) }, ""},
		{
			"verbatim", func(s *Screen) { s.Verbatim(Plain, "if  x {\n\ty\r\n"+strings.Repeat("12345678", 5)+"名\n\n") },
			"  if  x {\n      y\n  12345678123456781234567812345678123456\n  78名\n",
		},
		{"a tail", func(s *Screen) { s.Tail("1\n2\n3\r\n\n", 2) }, "  … 1 line before these\n  2\n  3\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, shown(false, tt.show)); diff != "" {
				t.Error(diff)
			}
			coloured := shown(true, tt.show)
			for _, code := range []Style{Bold, Faint, Red, Green, Yellow, Cyan, Heading, "0"} {
				coloured = strings.ReplaceAll(coloured, "\x1b["+string(code)+"m", "")
			}
			if diff := cmp.Diff(tt.want, coloured); diff != "" {
				t.Errorf("in colour: %s", diff)
			}
		})
	}
}

func TestWidth(t *testing.T) {
	for given, want := range map[int]int{-1: 40, 39: 40, 60: 60, 500: 120} {
		if got := New(nil, false, given).Width(); got != want {
			t.Errorf("%d is laid out for %d columns, want %d", given, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		text    string
		columns int
		want    string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"a\tb", 9, "a    b"},
		{"bell\x07\xff\n", 9, "bell\ufffd\ufffd\ufffd"},
		{"名前です", 5, "名前…"},
		{"名前です", 4, "名…"},
		{"e\u0301e\u0301", 2, "e\u0301e\u0301"},
		{"🙂🙂", 4, "🙂🙂"},
	} {
		if got := Cut(tt.text, tt.columns); got != tt.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tt.text, tt.columns, got, tt.want)
		}
	}
	if got := Pad("名", 4) + "|" + Pad("long", 2); got != "名  |long" {
		t.Errorf("padded to %q", got)
	}
}

func FuzzCut(f *testing.F) {
	f.Add("text", 3)
	f.Add("名\x1b[31m\t", 1)
	f.Fuzz(func(t *testing.T, text string, columns int) {
		columns = 1 + abs(columns)%200
		got := Cut(text, columns)
		if Columns(got) > columns || !utf8.ValidString(got) || strings.ContainsAny(got, "\x1b\r\n\t") {
			t.Errorf("Cut(%q, %d) = %q", text, columns, got)
		}
	})
}

func abs(n int) int {
	if n < 0 && -n > 0 {
		return -n
	}
	return max(n, 0)
}

// A file is no terminal: no colour, and 80 columns unless told otherwise.
func TestForFile(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := ForFile(f, 0, func(string) string { return "" })
	if s.Width() != 80 || s.Paint(Red, "x") != "x" {
		t.Errorf("%d columns, paints %q", s.Width(), s.Paint(Red, "x"))
	}
	if got := ForFile(f, 60, os.Getenv).Width(); got != 60 {
		t.Errorf("%d columns", got)
	}
}
