package fileop_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"kimi-acp/fileop"
)

func TestReadOutside(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := fileop.New(fileop.Options{})
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, err := range []error{
		os.MkdirAll(at("sub/deep"), 0o700),
		os.WriteFile(at("sub/deep/file"), []byte("text"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"link": at("sub/deep/file"), "dir": "sub"} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Skip("links cannot be made here:", err)
		}
	}
	if data, err := o.ReadOutside(t.Context(), at("sub/deep/file")); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
	for path, want := range map[string]error{
		at("sub/deep/none"):     fs.ErrNotExist,
		at("none/deep/file"):    fs.ErrNotExist,
		at("sub/deep"):          fileop.ErrNotRegular,
		at("link"):              fileop.ErrMoved,
		at("dir/deep/file"):     fileop.ErrMoved,
		at("sub") + "/../f":     fileop.ErrPath,
		"sub/deep/file":         fileop.ErrPath,
		"":                      fileop.ErrPath,
		at("sub/deep/file/x/y"): nil,
	} {
		data, err := o.ReadOutside(t.Context(), path)
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %q, %v, want %v", path, data, err, want)
		}
	}
}
