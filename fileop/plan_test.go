package fileop_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"kimi-acp/fileop"
)

func TestPlanErrors(t *testing.T) {
	tests := []struct {
		name   string
		way    way
		disk   string // "-": no file
		buffer string // "-": none
		edit   fileop.Edit
		want   error
	}{
		{"nothing asked", way{}, "a", "-", fileop.Edit{}, fileop.ErrBadEdit},
		{"both asked", way{}, "a", "-", fileop.Edit{Content: ptr("b"), Replace: swap("a", "c").Replace}, fileop.ErrBadEdit},
		{"append without content", way{}, "a", "-", fileop.Edit{Append: true, Replace: swap("a", "c").Replace}, fileop.ErrBadEdit},
		{"same content", way{}, "\ufeffa\r\n", "-", content("a\n"), fileop.ErrNoChange},
		{"nothing appended", way{}, "a", "-", fileop.Edit{Content: ptr(""), Append: true}, fileop.ErrNoChange},
		{"empty stays empty", way{}, "", "-", content(""), fileop.ErrNoChange},
		{"replacements that undo each other", way{}, "a", "-", fileop.Edit{Replace: []fileop.Replacement{{Old: "a", New: "b"}, {Old: "b", New: "a"}}}, fileop.ErrNoChange},
		{"replace in a missing file", way{}, "-", "-", swap("a", "b"), fs.ErrNotExist},
		{"binary", way{}, "a\x00", "-", content("b"), fileop.ErrBinary},
		{"NUL given", way{}, "a", "-", content("b\x00"), fileop.ErrBinary},
		{"not UTF-8 given", way{}, "a", "-", content("b\xff"), fileop.ErrEncoding},
		{"appended to latin-1", way{}, "\xe4", "-", fileop.Edit{Content: ptr("名"), Append: true}, fileop.ErrEncoding},
		{"latin-1 as a whole", way{}, "\xe4", "-", content("名"), fileop.ErrEncoding},
		{"latin-1 that comes out as UTF-8", way{}, "a\xe4", "-", content("Ã¤"), fileop.ErrEncoding},
		{"latin-1 that comes out as something else", way{}, "a\xe4", "-", content("ääääääää"), fileop.ErrEncoding},
		{"appended to what nobody knows", way{}, "\xcf\xf0\xe8\xe2", "-", fileop.Edit{Content: ptr("ä"), Append: true}, fileop.ErrEncoding},
		{"latin-1 that the editor shows as broken UTF-8", way{reads: true, writes: true}, "\xe4a", "\ufffda", swap("a", "b"), fileop.ErrEncoding},
		{"NUL into UTF-16", way{}, "\xff\xfea\x00", "-", content("b\x00"), fileop.ErrBinary},
		{"what nobody knows under an editor that only reads", way{reads: true}, "\xcf\xf0\xe8\xe2a", "Пвa", swap("a", "b"), fileop.ErrEncoding},
		{"file too large", way{}, strings.Repeat("a", fileop.MaxEdit+1), "-", content("b"), fileop.ErrTooLarge},
		{"content too large", way{}, "a", "-", content(strings.Repeat("a", fileop.MaxEdit+1)), fileop.ErrTooLarge},
		{"too large with its line ends", way{}, "a\r\n", "-", content(strings.Repeat("\n", fileop.MaxEdit)), fileop.ErrTooLarge},
		{"unsaved new file", way{reads: true}, "-", "typed", swap("typed", "b"), fileop.ErrDirtyBuffer},
		{"buffer with NUL", way{reads: true, writes: true}, "a", "a\x00", swap("a", "b"), fileop.ErrBinary},
		{"no match", way{}, "a", "-", swap("x", "y"), fileop.ErrNoMatch},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, test.way)
			if test.disk != "-" {
				d.save(test.disk)
			}
			if test.buffer != "-" {
				d.editor.edit(d.path, test.buffer)
			}
			_, err := d.op.Plan(t.Context(), withPath(test.edit, d.path))
			if !errors.Is(err, test.want) {
				t.Fatalf("error %.200v, want %v", err, test.want)
			}
			if !errors.Is(test.want, fileop.ErrBadEdit) && !strings.Contains(err.Error(), d.path) {
				t.Errorf("%.200v does not name the file", err)
			}
		})
	}
	d := newDesk(t, way{})
	if _, err := d.op.Plan(t.Context(), withPath(content("x"), "../x")); !errors.Is(err, fileop.ErrOutside) {
		t.Errorf("error %v, want ErrOutside", err)
	}
}

// TestPlanChangesNothing plans and commits nothing.
func TestPlanChangesNothing(t *testing.T) {
	d := newDesk(t, ways["both"])
	d.save("a\n")
	d.plan(content("b\n"))
	d.wantDisk("a\n")
	if d.editor.written != nil {
		t.Errorf("the editor was sent %q", d.editor.written)
	}
}

// TestForeignEncodings edits files that we cannot decode through an editor that can.
func TestForeignEncodings(t *testing.T) {
	for name, disk := range map[string]string{"latin-1": "caf\xe9\n", "UTF-16": "\xff\xfec\x00a\x00f\x00\xe9\x00\n\x00"} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, ways["both"])
			d.save(disk)
			d.editor.edit(d.path, "café\n")
			c := d.plan(swap("café", "thé"))
			if c.Dirty {
				t.Error("taken for unsaved")
			}
			if _, err := d.op.Commit(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if len(d.editor.written) != 1 || d.editor.written[0] != "thé\n" {
				t.Errorf("the editor was sent %q", d.editor.written)
			}
		})
	}
}

// TestLatin1OverwrittenWhole keeps the encoding of a text of which nothing else stays.
func TestLatin1OverwrittenWhole(t *testing.T) {
	d := newDesk(t, way{})
	d.save("caf\xe9\r\n")
	d.commit(d.plan(content("thé\n")))
	d.wantDisk("th\xe9\r\n")
}

// TestEncodingsKept edits files that are not UTF-8, on disk and under an editor that
// only reads. What stands outside the edit is what it was, byte for byte.
func TestEncodingsKept(t *testing.T) {
	tests := []struct{ name, disk, buffer, want string }{
		{"latin-1", "caf\xe9 \x80\r\nb\xfcro\r\n", "café €\nbüro\n", "caf\xe9 \x80\r\nth\xe9!\r\n"},
		{"UTF-16LE", "\xff\xfe\x6d\x54\r\x00\n\x00b\x00\xfc\x00r\x00o\x00", "\u546d\nbüro", "\xff\xfe\x6d\x54\r\x00\n\x00t\x00h\x00\xe9\x00!\x00"},
		{"UTF-16BE", "\xfe\xff\x54\x6d\x00\n\x00b\x00\xfc\x00r\x00o", "\u546d\nbüro", "\xfe\xff\x54\x6d\x00\n\x00t\x00h\x00\xe9\x00!"},
	}
	for _, test := range tests {
		for name, w := range map[string]way{"disk only": {}, "reads only": {reads: true}} {
			t.Run(test.name+" "+name, func(t *testing.T) {
				d := newDesk(t, w)
				d.save(test.disk)
				d.editor.edit(d.path, test.buffer)
				r := d.commit(d.plan(swap("büro", "thé!")))
				if r.Adjusted {
					t.Errorf("came back as %q", r.Actual)
				}
				d.wantDisk(test.want)
			})
		}
	}
}
