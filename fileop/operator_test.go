package fileop_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/fileop"
)

func TestResolve(t *testing.T) {
	base := t.TempDir()
	at := func(elem ...string) string { return filepath.Join(append([]string{base}, elem...)...) }
	for _, dir := range []string{"w/dir", "w2", "away"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("w", "plain"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"w/out": at("away"), "w/in": "dir", "w/up": "../away", "w/gone": at("away", "none"), "w/loop": "loop", "alias": at("w"),
	} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Skipf("this system makes no links: %v", err)
		}
	}
	op := fileop.New(fileop.Options{Disk: fileop.NewMem(), Roots: []string{at("w"), at("w2")}})
	long := strings.Repeat("x", 5000)
	tests := []struct {
		path string
		want string // "": an error
		err  error  // nil: any
	}{
		{path: "a", want: at("w", "a")},
		{path: "./dir/../a b", want: at("w", "a b")},
		{path: "50%.md", want: at("w", "50%.md")},
		{path: "名前.txt", want: at("w", "名前.txt")},
		{path: "~tilde", want: at("w", "~tilde")},
		{path: at("w"), want: at("w")},
		{path: at("w") + "/", want: at("w")},
		{path: at("w2", "a"), want: at("w2", "a")},
		{path: "../w2/a", want: at("w2", "a")},
		{path: "in/new/file", want: at("w", "in", "new", "file")},
		{path: at("alias", "a"), want: at("w", "a")},
		{path: "", err: fileop.ErrPath},
		{path: "a\x00b", err: fileop.ErrPath},
		{path: long, err: fileop.ErrPath},
		{path: "~/a", err: fileop.ErrPath},
		{path: "~", err: fileop.ErrPath},
		{path: "../a", err: fileop.ErrOutside},
		{path: at("w3", "a"), err: fileop.ErrOutside},
		{path: at("w2-sibling"), err: fileop.ErrOutside},
		{path: "out/a", err: fileop.ErrOutside},
		{path: "out/new/a", err: fileop.ErrOutside},
		{path: "up/a", err: fileop.ErrOutside},
		{path: "gone", err: fileop.ErrOutside},
		{path: "/", err: fileop.ErrOutside},
		{path: "plain/below", err: fileop.ErrNotRegular},
		{path: "loop"},
	}
	for _, test := range tests {
		got, err := op.Resolve(test.path)
		switch {
		case test.want != "" && (err != nil || got != test.want):
			t.Errorf("%.60q: %q, %v, want %q", test.path, got, err, test.want)
		case test.want == "" && (err == nil || test.err != nil && !errors.Is(err, test.err)):
			t.Errorf("%.60q: %q, %v, want %v", test.path, got, err, test.err)
		}
	}
	_, err := op.Resolve("out/a")
	for _, part := range []string{at("w", "out", "a"), at("away", "a"), at("w"), at("w2")} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %s", err, part)
		}
	}
}

func TestResolveWithoutRoots(t *testing.T) {
	op := fileop.New(fileop.Options{Disk: fileop.NewMem()})
	for _, path := range []string{"a", filepath.Join(t.TempDir(), "a")} {
		if _, err := op.Resolve(path); !errors.Is(err, fileop.ErrOutside) {
			t.Errorf("%s: %v, want ErrOutside", path, err)
		}
	}
}

func TestRead(t *testing.T) {
	tests := []struct {
		name   string
		way    way
		disk   string
		buffer string // "-": none
		hides  bool
		want   fileop.Snapshot // without paths
	}{
		{"disk", way{}, "a\r\nb\r\n", "ignored", false, fileop.Snapshot{Text: "a\nb\n", Newline: fileop.CRLF}},
		{"byte order mark", way{}, "\ufeffa\n", "-", false, fileop.Snapshot{Text: "a\n", BOM: true}},
		{"latin-1", way{}, "\xe4\n", "-", false, fileop.Snapshot{Text: "ä\n", Encoding: fileop.Windows1252}},
		{"another encoding", way{}, "\xcf\xf0\xe8\xe2\n", "-", false, fileop.Snapshot{Text: "\xcf\xf0\xe8\xe2\n", NotUTF8: true}},
		{"UTF-16", way{}, "\xff\xfea\x00", "-", false, fileop.Snapshot{Text: "a", BOM: true, Encoding: fileop.UTF16LE}},
		{"latin-1, which the editor shows as broken UTF-8", way{reads: true, writes: true}, "\xe4\n", "\ufffd\n", false, fileop.Snapshot{Text: "ä\n", Encoding: fileop.Windows1252}},
		{"writes only", way{writes: true}, "a", "unsaved", false, fileop.Snapshot{Text: "a"}},
		{"clean", way{reads: true}, "a\n", "-", false, fileop.Snapshot{Text: "a\n", FromEditor: true}},
		{"dirty", way{reads: true}, "a\n", "b\n", false, fileop.Snapshot{Text: "b\n", FromEditor: true, Dirty: true}},
		{"clean, style hidden", way{reads: true}, "\ufeffa\r\nb\r\n", "-", true, fileop.Snapshot{Text: "a\nb\n", FromEditor: true, BOM: true, Newline: fileop.CRLF}},
		{"clean, lone CR shown as line end", way{reads: true}, "a\rb\r\n", "a\nb\n", false, fileop.Snapshot{Text: "a\nb\n", FromEditor: true, Newline: fileop.CRLF}},
		{"dirty, mixed", way{reads: true}, "a\r\nb\n", "a\nX\nb\n", false, fileop.Snapshot{Text: "a\nX\nb\n", FromEditor: true, Dirty: true, Newline: fileop.Mixed}},
		{"the editor decodes what we do not", way{reads: true}, "\xff\xfea\x00b", "ab", false, fileop.Snapshot{Text: "ab", FromEditor: true}},
		{"both decode", way{reads: true}, "\xff\xfea\x00", "a", false, fileop.Snapshot{Text: "a", FromEditor: true, BOM: true, Encoding: fileop.UTF16LE}},
		{"typed what the encoding lacks", way{reads: true}, "\xe4", "ä名", false, fileop.Snapshot{Text: "ä名", FromEditor: true, Dirty: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, test.way)
			d.editor.hidesStyle = test.hides
			d.save(test.disk)
			if test.buffer != "-" {
				d.editor.edit(d.path, test.buffer)
			}
			got, err := d.op.Read(t.Context(), "file.txt")
			if err != nil {
				t.Fatal(err)
			}
			test.want.Path, test.want.Real = d.path, got.Real
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestReadUnsavedNewFile(t *testing.T) {
	d := newDesk(t, ways["both"])
	d.editor.edit(d.path, "not on disk\n")
	got, err := d.op.Read(t.Context(), d.path)
	if err != nil || got.Text != "not on disk\n" || !got.Dirty {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestReadErrors(t *testing.T) {
	no := errors.New("it is locked")
	tests := []struct {
		name    string
		way     way
		disk    string // "-": no file
		refuses error
		empty   bool
		want    error
	}{
		{"missing", way{}, "-", nil, false, fs.ErrNotExist},
		{"missing in both", way{reads: true}, "-", nil, false, fs.ErrNotExist},
		{"missing, opened as empty", way{reads: true}, "-", nil, true, fs.ErrNotExist},
		{"missing, the editor says something else", way{reads: true}, "-", no, false, fs.ErrNotExist},
		{"refused", way{reads: true}, "a", no, false, fileop.ErrRefused},
		{"refused as missing", way{reads: true}, "a", fs.ErrNotExist, false, fileop.ErrRefused},
		{"NUL", way{}, "a\x00", nil, false, fileop.ErrBinary},
		{"NUL, with an editor", way{reads: true}, "a\x00", nil, false, fileop.ErrBinary},
		{"damaged UTF-16", way{}, "\xff\xfea\x00b", nil, false, fileop.ErrBinary},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, test.way)
			d.editor.refuses, d.editor.empty = test.refuses, test.empty
			if test.disk != "-" {
				d.save(test.disk)
			}
			_, err := d.op.Read(t.Context(), d.path)
			if !errors.Is(err, test.want) {
				t.Fatalf("error %v, want %v", err, test.want)
			}
			if errors.Is(test.want, fileop.ErrRefused) && (errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), test.refuses.Error())) {
				t.Errorf("%v: has to carry the editor's words and not to match as missing", err)
			}
		})
	}
}

func TestReadCancelled(t *testing.T) {
	d := newDesk(t, ways["both"])
	d.save("a")
	ctx, cancel := context.WithCancel(t.Context())
	d.editor.onRead = cancel
	d.editor.refuses = errors.New("connection closed")
	if _, err := d.op.Read(ctx, d.path); !errors.Is(err, context.Canceled) || errors.Is(err, fileop.ErrRefused) {
		t.Errorf("error %v, want context.Canceled alone", err)
	}
}
