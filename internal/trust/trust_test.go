package trust

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// folder makes a folder under its real name, and a store beside it.
func folder(t *testing.T) (dir string, s *Store) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir, NewStore(t.TempDir(), "")
}

func mkdir(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func of(t *testing.T, s *Store, dir string) Answer {
	t.Helper()
	a, err := s.Of(dir)
	if err != nil {
		t.Error(err)
	}
	return a
}

// Trust reaches down to plain folders, and never into a repository within.
func TestNestedRepositories(t *testing.T) {
	dir, s := folder(t)
	mkdir(t, dir, ".git")
	plain := mkdir(t, dir, "src", "pkg")
	nested := mkdir(t, dir, "vendor", "lib")
	mkdir(t, nested, ".git")
	within := mkdir(t, nested, "src")
	submodule := mkdir(t, dir, "sub")
	put(t, filepath.Join(submodule, ".git"), "gitdir: ../.git/modules/sub\n")
	bare := mkdir(t, dir, "bare")
	for _, name := range []string{"objects", "refs"} {
		mkdir(t, bare, name)
	}
	put(t, filepath.Join(bare, "HEAD"), "ref: refs/heads/main\n")
	if got := of(t, s, dir); got != Undecided {
		t.Fatalf("at first: %q", got)
	}
	if _, err := s.Set(dir, Trusted); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]Answer{
		dir: Trusted, plain: Trusted, nested: Undecided, within: Undecided, submodule: Undecided, bare: Undecided, filepath.Dir(dir): Undecided,
	} {
		if got := of(t, s, at); got != want {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
	// What is decided about a folder within outweighs the one above.
	if _, err := s.Set(plain, Never); err != nil {
		t.Fatal(err)
	}
	if got := of(t, s, plain); got != Never {
		t.Errorf("a folder that was refused: %q", got)
	}
}

// A folder is known by where it is, whatever link leads to it.
func TestLinks(t *testing.T) {
	dir, s := folder(t)
	trusted, other := mkdir(t, dir, "trusted"), mkdir(t, dir, "other")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(trusted, link); err != nil {
		t.Skip("links cannot be made here:", err)
	}
	if real, err := s.Set(link, Trusted); err != nil || real != trusted {
		t.Fatal(real, err)
	}
	if got := of(t, s, trusted); got != Trusted {
		t.Errorf("the folder itself: %q", got)
	}
	if err := errors.Join(os.Remove(link), os.Symlink(other, link)); err != nil {
		t.Fatal(err)
	}
	if got := of(t, s, link); got != Undecided {
		t.Errorf("the link that leads elsewhere now: %q", got)
	}
}

func TestTooWide(t *testing.T) {
	dir, _ := folder(t)
	home := mkdir(t, dir, "homes", "me")
	s := NewStore(mkdir(t, dir, "kept"), home)
	open := mkdir(t, dir, "open")
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{
		home: "your home folder", filepath.Dir(home): "your home folder", filepath.VolumeName(dir) + string(filepath.Separator): "everything",
		open: "everybody may write", filepath.Join(dir, "none"): "finding the folder",
	} {
		if at == open && runtime.GOOS == "windows" {
			continue
		}
		if _, err := s.Set(at, Trusted); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", at, err, want)
		}
	}
	project := mkdir(t, home, "project")
	if _, err := s.Set(project, Trusted); err != nil || of(t, s, project) != Trusted {
		t.Error("a project in the home folder cannot be trusted:", err)
	}
	// Nor does it count when somebody has written it into the file.
	put(t, filepath.Join(dir, "kept", "trust.json"), `{"version":1,"folders":[{"path":"`+filepath.ToSlash(home)+`","trust":"trusted"}]}`)
	if got := of(t, s, project); got != Undecided {
		t.Errorf("a trusted home: %q", got)
	}
}

func TestRemoveAndList(t *testing.T) {
	dir, s := folder(t)
	b, a := mkdir(t, dir, "b"), mkdir(t, dir, "a")
	for _, at := range []string{b, a} {
		if _, err := s.Set(at, Trusted); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := s.List()
	if err != nil || len(entries) != 2 || entries[0].Path != a || entries[0].Since.IsZero() {
		t.Errorf("%v, %v", entries, err)
	}
	if err := os.Remove(b); err != nil { // what is gone can be forgotten
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		if removed, err := s.Remove(b); removed != want || err != nil {
			t.Errorf("removed: %v, want %v (%v)", removed, want, err)
		}
	}
	if got := of(t, s, a); got != Trusted {
		t.Errorf("the other: %q", got)
	}
}

// A file that is not understood trusts nothing, and is not written over.
func TestBrokenFile(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": "{", "another version": `{"version":2}`, "a relative path": `{"version":1,"folders":[{"path":"a","trust":"trusted"}]}`,
		"an unknown answer": `{"version":1,"folders":[{"path":"/a","trust":"yes"}]}`, "empty": "",
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := folder(t)
			kept := t.TempDir()
			path := filepath.Join(kept, "trust.json")
			put(t, path, text)
			s := NewStore(kept, "")
			if a, err := s.Of(dir); a != Undecided || err == nil || !strings.Contains(err.Error(), "trust.json") {
				t.Errorf("%q, %v", a, err)
			}
			if _, err := s.Set(dir, Trusted); err == nil {
				t.Error("it is written over")
			}
			if after, err := os.ReadFile(path); string(after) != text || err != nil {
				t.Errorf("now %q, %v", after, err)
			}
			if NewGate(s, []string{dir}, false).Trusted() {
				t.Error("the gate is open")
			}
		})
	}
}

func TestNoPlace(t *testing.T) {
	dir, _ := folder(t)
	s := NewStore("", "")
	if a, err := s.Of(dir); a != Undecided || err != nil {
		t.Error(a, err)
	}
	if _, err := s.Set(dir, Trusted); !errors.Is(err, errNoPlace) {
		t.Error(err)
	}
}

// However many need trust at once, the user is asked once, and never again in the
// session.
func TestGateAsksOnce(t *testing.T) {
	for _, tt := range []struct {
		answer      Answer
		trusted     bool
		nextSession int // questions
	}{{Trusted, true, 0}, {Undecided, false, 1}, {Never, false, 0}} {
		t.Run(string(tt.answer), func(t *testing.T) {
			dir, s := folder(t)
			g := NewGate(s, []string{dir}, false)
			var mu sync.Mutex
			asked := 0
			ask := func(_ context.Context, folders []string) (Answer, error) {
				mu.Lock()
				defer mu.Unlock()
				if asked++; len(folders) != 1 || folders[0] != dir {
					t.Errorf("asked about %q", folders)
				}
				return tt.answer, nil
			}
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if got, err := g.Ask(t.Context(), ask); got != tt.trusted || err != nil {
						t.Errorf("%v, %v", got, err)
					}
				})
			}
			all.Wait()
			if asked != 1 || g.Trusted() != tt.trusted {
				t.Errorf("asked %d times, trusted %v", asked, g.Trusted())
			}
			if _, err := NewGate(s, []string{dir}, false).Ask(t.Context(), ask); err != nil || asked != 1+tt.nextSession {
				t.Errorf("asked %d times after the next session (%v)", asked, err)
			}
		})
	}
}

// Each root counts: one that is not trusted keeps the gate shut.
func TestGateOfSeveralRoots(t *testing.T) {
	dir, s := folder(t)
	a, b := mkdir(t, dir, "a"), mkdir(t, dir, "b")
	if _, err := s.Set(a, Trusted); err != nil {
		t.Fatal(err)
	}
	g := NewGate(s, []string{a, b}, false)
	if g.Trusted() {
		t.Error("open with one root trusted")
	}
	trusted, err := g.Ask(t.Context(), func(_ context.Context, folders []string) (Answer, error) {
		if len(folders) != 1 || folders[0] != b {
			t.Errorf("asked about %q", folders)
		}
		return Trusted, nil
	})
	if !trusted || err != nil {
		t.Error(trusted, err)
	}
	// Taking trust back holds at once.
	if _, err := s.Remove(a); err != nil || g.Trusted() {
		t.Error("still open", err)
	}
	if !NewGate(s, []string{a}, true).Trusted() || NewGate(s, nil, false).Trusted() {
		t.Error("a grant for the session, or no root at all")
	}
}

// A question that nobody could answer stays open; where trust cannot be given none is put.
func TestGateWithoutAnswer(t *testing.T) {
	dir, s := folder(t)
	g := NewGate(s, []string{dir}, false)
	no := errors.New("nobody is there")
	for range 2 {
		if got, err := g.Ask(t.Context(), func(context.Context, []string) (Answer, error) { return Trusted, no }); got || !errors.Is(err, no) {
			t.Error(got, err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	<-g.asking
	if _, err := g.Ask(ended, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	home := NewGate(NewStore(t.TempDir(), dir), []string{dir}, false)
	if got, err := home.Ask(t.Context(), nil); got || err != nil {
		t.Error(got, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"folders":[{"path":"/a","trust":"trusted","since":"2026-01-01T00:00:00Z"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := NewStore(t.TempDir(), "").parse(data)
		if err != nil && entries != nil {
			t.Error("entries and an error")
		}
		for _, e := range entries {
			if e.Trust != Trusted && e.Trust != Never || !filepath.IsAbs(e.Path) {
				t.Errorf("%+v", e)
			}
		}
	})
}
