package acp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

func TestSessionRoots(t *testing.T) {
	base := t.TempDir()
	under := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, base+string(filepath.Separator)+filepath.FromSlash(n))
		}
		return out
	}
	many := make([]string, maxRoots)
	for i := range many {
		many[i] = fmt.Sprint("d", i)
	}
	for _, c := range []struct {
		name string
		more []string
		want []string // beside "a"; nil: refused
	}{
		{"none", nil, []string{}},
		{"one", under("b"), under("b")},
		{"the working directory again", under("a", "b", "a/", "a/../a/."), under("b")},
		{"twice the same", under("b", "c", "b"), under("b", "c")},
		{"inside the working directory", under("a/deep"), under("a/deep")},
		{"above it", under("."), []string{base}},
		{"as many as there may be", under(many[1:]...), under(many[1:]...)},
		{"one more", under(many...), nil},
	} {
		raw, err := json.Marshal(map[string]any{"cwd": under("a")[0], "additionalDirectories": c.more})
		if err != nil {
			t.Fatal(err)
		}
		p, err := parseParams(raw)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sessionRoots(p)
		switch {
		case c.want == nil:
			if err == nil {
				t.Errorf("%s: %d roots were taken", c.name, len(got))
			}
		case err != nil || !slices.Equal(got, append(under("a"), c.want...)):
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}
