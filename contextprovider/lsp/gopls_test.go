package lsp

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kimi-acp/contextprovider"
	"kimi-acp/internal/proc"
)

// findGopls gives a gopls of this machine: of PATH, or the one that the tests with real
// clients keep.
func findGopls(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("gopls"); err == nil {
		return path
	}
	cache := os.Getenv("KIMI_CLIENTS_DIR")
	if cache == "" {
		if dir, err := os.UserCacheDir(); err == nil {
			cache = filepath.Join(dir, "kimi-acp", "clients")
		}
	}
	found, _ := filepath.Glob(filepath.Join(cache, "gopls-*", "gopls"))
	if len(found) == 0 {
		t.Skip("SKIPPED: there is no gopls in PATH, and none that `make test-clients` keeps")
	}
	return found[len(found)-1]
}

// TestGopls asks the real server everything once, on files that are on disk.
func TestGopls(t *testing.T) {
	gopls := findGopls(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("go.mod", "module example.org/m\n\ngo 1.24\n")
	const before = "package m\n\n// Double gives twice n.\nfunc Double(n int) int { return 2 * n }\n"
	a := write("a.go", before)
	b := write("b.go", "package m\n\nfunc quadruple(n int) int { return Double(Double(n)) }\n")
	builtin := Builtin()[0]
	builtin.Command = []string{gopls}
	s := New(Options{
		Roots: []string{dir}, Trusted: func(string) bool { return true },
		Runner: proc.NewRunner(proc.Options{}), Environ: proc.Scrub(os.Environ()), Servers: []Server{builtin},
		pace: pace{check: time.Minute, baseline: time.Minute},
		Read: func(_ context.Context, path string) (string, error) {
			data, err := os.ReadFile(path)
			return string(data), err
		},
	})
	t.Cleanup(s.Close)
	ctx := t.Context()

	if all, err := s.Diagnostics(ctx, a); err != nil || len(all) != 0 {
		t.Errorf("problems at first: %v %v", brief(all), err)
	}
	found, err := s.Definition(ctx, contextprovider.Place{Path: b, Line: 3, Symbol: "Double"})
	if err != nil || len(found.Symbols) != 1 || found.Symbols[0].Path != a || found.Symbols[0].Line != 4 ||
		found.Symbols[0].Signature != "func Double(n int) int" || found.Symbols[0].Doc != "Double gives twice n." || found.By != "gopls" {
		t.Errorf("definition %+v %v", found, err)
	}
	if uses, err := s.References(ctx, contextprovider.Place{Path: a, Symbol: "Double"}); err != nil || len(uses) != 2 {
		t.Errorf("references %v %v", uses, err)
	}
	if found, err := s.Symbols(ctx, a, ""); err != nil || len(found.Symbols) != 1 || found.Symbols[0].Kind != "func" {
		t.Errorf("symbols %v %v", found, err)
	}
	if found, err := s.Symbols(ctx, "", "quadruple"); err != nil || len(found.Symbols) != 1 || found.Symbols[0].Path != b {
		t.Errorf("symbols of the workspace %v %v", found, err)
	}
	changes, err := s.Rename(ctx, contextprovider.Place{Path: b, Symbol: "Double"}, "Twice")
	if err != nil || len(changes) != 2 || !strings.Contains(changes[1].After, "Twice(Twice(n))") {
		t.Errorf("rename %v %v", changes, err)
	}
	text := before
	const broken = "package m\n\n// Double gives twice n.\nfunc Double(n int) int { return 2 * m }\n"
	write("a.go", broken)
	if got := brief(s.NewProblems(ctx, a, &text, broken)); !strings.Contains(got, "4:37 error compiler/UndeclaredName undefined: m") {
		t.Errorf("new problems: %s", got)
	}
	text = broken
	write("a.go", before)
	if got := s.NewProblems(ctx, a, &text, before); got != nil {
		t.Errorf("after mending: %s", brief(got))
	}
}
