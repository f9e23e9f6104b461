//go:build clients

package clienttest

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// desk is what one run of a client works with: a folder to edit, a home that
// holds nothing, and an environment that names the model.
type desk struct {
	dir string // the session's folder
	env []string
}

// newDesk makes a desk with files (name → text). The environment holds settings
// (NAME=value) and what every program needs; nothing else is inherited, since a
// key or a setting of the user must not matter.
func newDesk(t *testing.T, files map[string]string, settings ...string) desk {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(root, "home")
	d := desk{dir: filepath.Join(root, "project"), env: append(settings,
		"PATH="+os.Getenv("PATH"),
		"HOME="+home,
		"TMPDIR="+os.TempDir(),
		"KIMI_SHARE_DIR="+filepath.Join(home, "share"),
	)}
	for _, dir := range []string{d.dir, home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(d.path(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, d.path(name), text)
	}
	return d
}

// path is the absolute path of a file in the session's folder.
func (d desk) path(name string) string { return filepath.Join(d.dir, name) }

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// checkFiles compares the files of the session's folder with want (name → bytes),
// which names all of them but a repository's data.
func (d desk) checkFiles(t *testing.T, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == ".git" {
			continue // the test made it
		}
		if _, ok := want[e.Name()]; !ok {
			t.Errorf("%s is in the folder and should not be", e.Name())
		}
	}
	for name, text := range want {
		got, err := os.ReadFile(d.path(name))
		if err != nil || string(got) != text {
			t.Errorf("%s holds %q, %v; want %q", name, got, err, text)
		}
	}
}

// leaveTime is how long an agent may take to go once its client has gone.
const leaveTime = 5 * time.Second

// checkNoneLeft fails when a process of the agent is still there. It looks at
// /proc, so it says nothing on other systems than Linux.
func checkNoneLeft(t *testing.T, agent string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Log("not checked here: whether processes of the agent are left")
		return
	}
	deadline := time.Now().Add(leaveTime)
	for {
		left := processesOf(t, agent)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("still running %v after the client has gone: processes %s", leaveTime, strings.Join(left, ", "))
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// processesOf gives the ids of the processes that run a program.
func processesOf(t *testing.T, program string) (ids []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		exe, err := os.Readlink(link)
		if err != nil {
			if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
				t.Logf("%s: %v", link, err) // ESRCH: it ended meanwhile
			}
			continue
		}
		if exe == program {
			ids = append(ids, filepath.Base(filepath.Dir(link)))
		}
	}
	return ids
}
