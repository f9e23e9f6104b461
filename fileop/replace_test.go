package fileop

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestReplace(t *testing.T) {
	type rs = []Replacement
	tests := []struct {
		name string
		old  string
		rs   rs
		want string
	}{
		{"one", "a b c", rs{{Old: "b", New: "B"}}, "a B c"},
		{"away", "a b c", rs{{Old: " b", New: ""}}, "a c"},
		{"all", "x y x y x", rs{{Old: "x", New: "xx", All: true}}, "xx y xx y xx"},
		{"all, one there", "x", rs{{Old: "x", New: "y", All: true}}, "y"},
		{"all, overlapping", "aaaaa", rs{{Old: "aa", New: "b", All: true}}, "bba"},
		{"one after the other", "a", rs{{Old: "a", New: "b"}, {Old: "b", New: "c"}}, "c"},
		{"made unique", "x 1 x 2", rs{{Old: "x 1", New: "y 1"}, {Old: "x", New: "z"}}, "y 1 z 2"},
		{"latin-1 stays", "\xe4 a \xf6\r\n", rs{{Old: "a", New: "b\nc"}}, "\xe4 b\r\nc \xf6\r\n"},
		{"mixed, all", "x\r\nx\nx\r\nend", rs{{Old: "x", New: "y\nz", All: true}}, "y\r\nz\r\ny\r\nz\ny\r\nz\r\nend"},
		{"mixed, over lines", "1\r\n2\n3\n4\r\n", rs{{Old: "2\n3", New: "3"}}, "1\r\n3\n4\r\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text, err := Decode([]byte(test.old))
			if err != nil {
				t.Fatal(err)
			}
			got, err := text.replace("f", test.rs)
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Encode()) != test.want {
				t.Errorf("got %q, want %q", got.Encode(), test.want)
			}
		})
	}
}

func TestReplaceErrors(t *testing.T) {
	type rs = []Replacement
	tests := []struct {
		name string
		old  string
		rs   rs
		want error
		says string
	}{
		{"empty", "a", rs{{Old: "", New: "x"}}, ErrBadEdit, "f: replacement 1 of 1"},
		{"same", "a", rs{{Old: "a", New: "a"}}, ErrBadEdit, "same"},
		{"same but for line ends", "a\n", rs{{Old: "a\r\n", New: "a\n"}}, ErrBadEdit, "same"},
		{"NUL", "a", rs{{Old: "a", New: "\x00"}}, ErrBinary, "NUL"},
		{"not UTF-8", "a", rs{{Old: "a", New: "\xff"}}, ErrEncoding, ""},
		{"UTF-8 into what nobody knows", "\xcf\xf0\xe8\xe2a", rs{{Old: "a", New: "ä"}}, ErrEncoding, "ASCII"},
		{"a character that latin-1 lacks", "\xe4a", rs{{Old: "a", New: "名"}}, ErrEncoding, "Windows-1252, which has no '名'"},
		{"too many", "a", make(rs, maxReplacements+1), ErrBadEdit, "1001"},
		{"too large", strings.Repeat("a", 1<<20), rs{{Old: "a", New: "twelve bytes", All: true}}, ErrTooLarge, ""},
		{"not there", "a", rs{{Old: "b", New: "c"}}, ErrNoMatch, "replacement 1 of 1"},
		{"second not there", "a", rs{{Old: "a", New: "b"}, {Old: "x", New: "y"}}, ErrNoMatch, "replacement 2 of 2"},
		{"taken away", "a b", rs{{Old: "a", New: "b"}, {Old: "a", New: "y"}}, ErrNoMatch, "earlier replacement"},
		{"twice", "a\nb\na\n", rs{{Old: "a", New: "c"}}, ErrAmbiguous, "occurs 2 times, at lines 1, 3."},
		{"twice, overlapping", "aaa", rs{{Old: "aa", New: "c"}}, ErrAmbiguous, "2 times"},
		{"near", "func two() {\n", rs{{Old: "func tow() {", New: "x"}}, ErrNoMatch, "Closest:\nline 1: func two() {"},
		{"many", strings.Repeat("a\n", 30), rs{{Old: "a", New: "c"}}, ErrAmbiguous, "20, …."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text, err := Decode([]byte(test.old))
			if err != nil {
				t.Fatal(err)
			}
			_, err = text.replace("f", test.rs)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("error %v, want %v saying %q", err, test.want, test.says)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	code := "package a\n\nfunc one() {\n\treturn 1\n}\n\nfunc two() {\n\treturn 2\n}\n"
	tests := []struct {
		name, body, old string
		want            []Line
	}{
		{"indentation", code, "func one() {\n    return 1\n}", []Line{{3, "func one() {"}, {4, "\treturn 1"}, {5, "}"}}},
		{"a typing error", code, "func tow() {", []Line{{7, "func two() {"}, {3, "func one() {"}}},
		{"nearest first", "alpha bet\nalpha beta\nalpha gamma\n", "alpha betas", []Line{{2, "alpha beta"}, {1, "alpha bet"}}},
		{"nothing near", code, "completely different text", nil},
		{"too short to say", code, "x", nil},
		{"the best few", "alpha 111\nalpha 11\nalpha 1\nalpha\n", "alpha 1112", []Line{{1, "alpha 111"}, {2, "alpha 11"}, {3, "alpha 1"}}},
		{"long lines are cut", strings.Repeat("名", 300) + "\n", strings.Repeat("名", 250) + "x", []Line{{1, strings.Repeat("名", 200)}}},
		{"long but not too long", strings.Repeat("名", 100) + "\n", strings.Repeat("名", 100) + "x", []Line{{1, strings.Repeat("名", 100)}}},
		{"only space", code, "   \n\t\n", nil},
		{"bytes that are not UTF-8", "caf\xe9 au lait\n", "cafe au lait", []Line{{1, "caf\ufffd au lait"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := nearest(test.body, test.old)
			if len(got) != len(test.want) || len(got) > 0 && !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// TestNearestIsBounded asks for hints in texts that are made to be slow: the budget
// ends the search, so that what lies far behind is not found.
func TestNearestIsBounded(t *testing.T) {
	line := strings.Repeat("ab", 90)
	body := strings.Repeat(line+"\n", 2000) + strings.Repeat("ba", 90) + "c\n"
	if got := nearest(body, strings.Repeat("ba", 90)+"d"); len(got) != maxNearest || got[0].Number > 1000 {
		t.Errorf("got %v", got)
	}
	old := strings.Repeat("x\n", 4000) + "y"
	if got := butForSpace(strings.Split(strings.Repeat("x\n", 8000)+"y", "\n"), strings.Split(old, "\n")); got != -1 {
		t.Errorf("found at %d after more work than allowed", got)
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b  string
		limit int
		want  int
	}{
		{"", "", 3, 0},
		{"abc", "abc", 0, 0},
		{"abc", "abd", 3, 1},
		{"abc", "", 3, 3},
		{"kitten", "sitting", 9, 3},
		{"名前", "名称", 2, 1},
		{"abcdef", "uvwxyz", 2, 3},
	}
	for _, test := range tests {
		if got := distance([]rune(test.a), []rune(test.b), test.limit); got != test.want {
			t.Errorf("%q to %q: %d, want %d", test.a, test.b, got, test.want)
		}
	}
}
