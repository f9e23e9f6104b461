package facts

import (
	"os"
	"path/filepath"
	"testing"

	"kimi-acp/internal/policy"
)

func TestLook(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return dir + string(filepath.Separator) + filepath.FromSlash(name) }
	for _, err := range []error{
		os.Mkdir(at("sub"), 0o700),
		os.WriteFile(at("sub/file"), nil, 0o600),
		os.Link(at("sub/file"), at("second")),
		os.Symlink("sub", at("link")),
		os.Symlink(at("sub/nothing"), at("dangling")),
		os.Symlink("round", at("round")),
	} {
		if err != nil {
			t.Skipf("links cannot be made here: %v", err)
		}
	}
	for _, c := range []struct {
		path, real string
		kind       policy.FileKind
		failed     bool
	}{
		{"sub", "sub", policy.Directory, false},
		{"sub/file", "sub/file", policy.Regular, false},
		{"link/file", "sub/file", policy.Regular, false},
		{"link/../second", "second", policy.Regular, false},
		{"link/new/deep", "sub/new/deep", policy.Missing, false},
		{"dangling", "sub/nothing", policy.Missing, false},
		{"nothing", "nothing", policy.Missing, false},
		{"sub/file/below", "sub/file/below", policy.Missing, false},
		{"sub/file/..", "", policy.Missing, true},
		{"round", "", policy.Missing, true},
	} {
		got := Look(at(c.path))
		want := ""
		if c.real != "" {
			want = at(c.real)
		}
		if got.Real != want || got.Kind != c.kind || got.Failed != c.failed {
			t.Errorf("%s: %+v, want real %s, kind %d, failed %v", c.path, got, want, c.kind, c.failed)
		}
	}
}
