package session

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestCreate(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "")
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(s.ID()) {
		t.Errorf("the id is %q", s.ID())
	}
	if s.WorkDir() != workDir || !filepath.IsAbs(s.OwnDir()) || !s.Empty() {
		t.Errorf("work dir %q, own dir %q, empty %v", s.WorkDir(), s.OwnDir(), s.Empty())
	}
	if read(t, place(st, s.ID(), contextName)) != "" {
		t.Error("the history is not empty")
	}
	if _, err := st.Create(workDir, s.ID()); !errors.Is(err, ErrExists) {
		t.Errorf("the same id again gave %v", err)
	}
	if _, err := st.Create("/elsewhere", s.ID()); !errors.Is(err, ErrExists) {
		t.Errorf("the same id elsewhere gave %v", err)
	}
	if _, err := st.Create("relative", ""); err == nil {
		t.Error("a relative work dir was taken")
	}
	if runtime.GOOS == "windows" {
		return
	}
	check(t, s.AppendMessages(user("hi")))
	for path, want := range map[string]os.FileMode{
		place(st, s.ID(), ""): 0o700, place(st, s.ID(), contextName): 0o600,
		s.OwnDir(): 0o700, filepath.Join(s.OwnDir(), lockName): 0o600, filepath.Join(s.OwnDir(), originName): 0o600,
		filepath.Join(st.share, kimiName): 0o600, st.share: 0o700,
	} {
		info, err := os.Stat(path)
		check(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
}

// The folder is named by the whole path, as it is written.
func TestFolders(t *testing.T) {
	if got := folderOf("/home/user/é"); got != "ff3f537d72a7654647285ddf4431f2b4" {
		t.Errorf("the folder is %q", got)
	}
	st := newStore(t)
	seen := map[string]bool{}
	for _, dir := range []string{"/a_b", "/a-b", "/A_b", "/" + strings.Repeat("long/", 60)} {
		s, err := st.Create(dir+"/./x/..", "")
		check(t, err)
		if s.WorkDir() != filepath.Clean(dir) {
			t.Errorf("the work dir is %q", s.WorkDir())
		}
		seen[folderOf(s.WorkDir())] = true
		check(t, s.Close())
	}
	if len(seen) != 4 {
		t.Errorf("the folders are %v", seen)
	}
}

func TestIDs(t *testing.T) {
	st := newStore(t)
	for _, id := range []string{"..", ".", "a/b", "a/../b", `a\b`, "a b", "a.b", "é", "a\x00", strings.Repeat("a", 65), "-\n"} {
		if _, err := st.Create(workDir, id); err == nil {
			t.Errorf("session %q was made", id)
		}
		if _, err := st.Open(workDir, id); err == nil || errors.Is(err, ErrNotFound) {
			t.Errorf("opening %q gave %v", id, err)
		}
		if err := st.Delete(id); err == nil {
			t.Errorf("session %q was deleted", id)
		}
	}
	if _, err := st.Open(workDir, ""); err == nil {
		t.Error("a session without an id was opened")
	}
	check(t, create(t, st, "A-z_09"+strings.Repeat("x", 58)).Close())
}

func TestOpen(t *testing.T) {
	st := newStore(t)
	for _, dir := range []string{workDir, ""} {
		if _, err := st.Open(dir, "x"); !errors.Is(err, ErrNotFound) {
			t.Errorf("opening what is not there gave %v", err)
		}
	}
	if _, err := os.Stat(st.share); err == nil {
		t.Error("looking made the share dir")
	}
	s := create(t, st, "x")
	check(t, s.AppendMessages(user("hi")))
	check(t, s.Close())
	if _, err := st.Open("/elsewhere", "x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("opening it elsewhere gave %v", err)
	}
	s, err := st.Open("", "x")
	check(t, err)
	if s.WorkDir() != workDir {
		t.Errorf("the work dir is %q", s.WorkDir())
	}
	check(t, s.Close())
	// The work dir is known without kimi.json too.
	check(t, os.Remove(filepath.Join(st.share, kimiName)))
	s, err = st.Open("", "x")
	check(t, err)
	if s.WorkDir() != workDir {
		t.Errorf("the work dir is %q", s.WorkDir())
	}
	check(t, s.Close())
	if _, err := st.Open("relative", "x"); err == nil {
		t.Error("a relative work dir was taken")
	}
}

// A folder without a history, as a rotation that was cut off can leave it.
func TestOpenWithoutHistory(t *testing.T) {
	st := newStore(t)
	write(t, place(st, "x", wireName), "")
	s, err := st.Open("", "x")
	check(t, err)
	check(t, s.AppendMessages(user("hi")))
	check(t, s.Close())
}

// Of two sessions of one id, which kimi-cli can make, the last one is meant.
func TestOpenLatest(t *testing.T) {
	st := newStore(t)
	write(t, place(st, "x", contextName), "")
	other := filepath.Join(st.share, sessionsName, folderOf("/other"), "x", contextName)
	write(t, other, "")
	later := time.Now().Add(time.Hour)
	check(t, os.Chtimes(other, later, later))
	write(t, filepath.Join(st.share, kimiName), `{"work_dirs":[{"path":"/other"},{"path":"`+workDir+`"}]}`)
	s, err := st.Open("", "x")
	check(t, err)
	if s.WorkDir() != "/other" {
		t.Errorf("the work dir is %q", s.WorkDir())
	}
	check(t, s.Close())
}

func TestTwoOpeners(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	if _, err := st.Open(workDir, "x"); !errors.Is(err, ErrInUse) {
		t.Errorf("the second opening gave %v", err)
	}
	if err := st.Delete("x"); !errors.Is(err, ErrInUse) {
		t.Errorf("deleting it gave %v", err)
	}
	check(t, s.AppendMessages(user("hi")))
	check(t, s.Close())
	check(t, open(t, st, "x").Close())
}

func TestDelete(t *testing.T) {
	st := newStore(t)
	check(t, st.Delete("x")) // without a share dir
	check(t, create(t, st, "y").Close())
	check(t, st.Delete("x"))
	s := create(t, st, "x")
	write(t, filepath.Join(s.OwnDir(), "contents", "file"), "")
	write(t, place(st, "x", "subagents")+"/a/b", "")
	check(t, s.Close())
	check(t, st.Delete("x"))
	if _, err := st.Open(workDir, "x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("opening it gave %v", err)
	}
	for _, path := range []string{place(st, "x", ""), s.OwnDir()} {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", path, err)
		}
	}
	check(t, create(t, st, "x").Close())
	check(t, open(t, st, "y").Close())
}

// Links are not followed, wherever they stand and wherever they lead.
func TestLinks(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, contextName), "precious")
	tests := []struct {
		name string
		link func(st *Store) (at, to string)
	}{
		{"session", func(st *Store) (string, string) { return place(st, "x", ""), outside }},
		{"another session", func(st *Store) (string, string) {
			return place(st, "x", ""), place(st, "y", "")
		}},
		{"work dir", func(st *Store) (string, string) { return filepath.Dir(place(st, "x", "")), outside }},
		{"all sessions", func(st *Store) (string, string) { return filepath.Join(st.share, sessionsName), outside }},
		{"ours", func(st *Store) (string, string) { return filepath.Join(st.share, oursName), outside }},
		{"history", func(st *Store) (string, string) {
			return place(st, "x", contextName), filepath.Join(outside, contextName)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := newStore(t)
			s := create(t, st, "y")
			check(t, s.AppendMessages(user("hi")))
			check(t, s.Close())
			check(t, create(t, st, "x").Close())
			at, to := tt.link(st)
			check(t, os.RemoveAll(at))
			if err := os.Symlink(to, at); err != nil {
				t.Skip("no links here:", err)
			}
			if s, err := st.Open(workDir, "x"); err == nil {
				t.Errorf("it was opened: %v", s.Close())
			}
			_ = st.Delete("x")
			if got := read(t, filepath.Join(outside, contextName)); got != "precious" {
				t.Errorf("the file outside holds %q", got)
			}
			if tt.name != "work dir" && tt.name != "all sessions" {
				if got := read(t, place(st, "y", contextName)); got == "" {
					t.Error("the other session's history is gone")
				}
			}
		})
	}
}

func TestTighten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes")
	}
	st := kimiShare(t, "x")
	check(t, open(t, st, "x").Close())
	for path, want := range map[string]os.FileMode{place(st, "x", ""): 0o700, place(st, "x", contextName): 0o600} {
		info, err := os.Stat(path)
		check(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
}
