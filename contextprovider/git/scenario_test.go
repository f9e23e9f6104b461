package git

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/contextprovider"
)

var update = flag.Bool("update", false, "write what scenarios give into their files")

// A scenario is a script for sh that makes a repository in an empty folder, and what
// is told of it then. The files testdata/*.txt hold one each: the script, after a line
// "-- ask --" lines "key: value" that say how it is asked, and after "-- want --" the
// text. Asked for is: active (a path), mention (a path), root (a path, from the
// folder; more than one may stand), untrusted (yes).
//
// A script that tries to have something run makes the file "ran", beside the folder.
type scenario struct{ script, ask, want string }

func parseScenario(data []byte) scenario {
	text, want, _ := strings.Cut(string(data), "-- want --\n")
	script, ask, _ := strings.Cut(text, "-- ask --\n")
	return scenario{script, ask, want}
}

func needsGit(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scenarios are scripts for sh")
	}
	for _, program := range []string{"git", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("SKIPPED: there is no %s on this machine, so nothing of git is tested", program)
		}
	}
}

// sh runs a script in a folder as a user with fixed names and times.
func sh(t testing.TB, dir, home, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C.UTF-8", "OUT=" + filepath.Join(home, "ran"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
		"GIT_MERGE_AUTOEDIT=no", "GIT_EDITOR=true",
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the script failed: %v\n%s", err, out)
	}
}

const userConfig = "[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n[advice]\n\tdetachedHead = false\n"

// place makes an empty folder and a home beside it.
func place(t testing.TB) (dir, home string) {
	t.Helper()
	home = t.TempDir()
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	dir = filepath.Join(home, "w")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(userConfig), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, home
}

func readDisk(_ context.Context, path string) ([]byte, error) { return os.ReadFile(path) }

func TestScenarios(t *testing.T) {
	needsGit(t)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d scenarios, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := parseScenario(data)
			dir, home := place(t)
			t.Setenv("HOME", home)
			t.Setenv("OUT", filepath.Join(home, "ran"))
			sh(t, dir, home, s.script)
			if err := os.Remove(filepath.Join(home, "ran")); err == nil {
				t.Log("the script itself had something run")
			}
			index, _ := os.ReadFile(filepath.Join(dir, ".git", "index"))
			got := s.tell(t, dir)
			if _, err := os.Stat(filepath.Join(home, "ran")); err == nil {
				t.Error("the repository had something run")
			}
			if after, _ := os.ReadFile(filepath.Join(dir, ".git", "index")); !bytes.Equal(index, after) {
				t.Error("the index was written")
			}
			if *update {
				text := s.script
				if s.ask != "" {
					text += "-- ask --\n" + s.ask
				}
				if err := os.WriteFile(file, []byte(text+"-- want --\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(s.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// tell gives what a model would be told.
func (s scenario) tell(t testing.TB, dir string) string {
	t.Helper()
	var roots []string
	var active string
	var mentions []contextprovider.Mention
	trusted := true
	for line := range strings.Lines(s.ask) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "active":
			active = filepath.Join(dir, value)
		case "mention":
			mentions = append(mentions, contextprovider.Mention{Kind: contextprovider.MentionFile, Path: filepath.Join(dir, value)})
		case "root":
			roots = append(roots, filepath.Join(dir, value))
		case "untrusted":
			trusted = false
		default:
			t.Fatalf("unknown: %q", line)
		}
	}
	if roots == nil {
		roots = []string{dir}
	}
	p := New(Options{Trusted: func(string) bool { return trusted }, Read: readDisk})
	m, err := contextprovider.NewMoment(contextprovider.MomentOptions{
		Roots: roots, Providers: []contextprovider.Registration{{Provider: p}},
		Tokens: func(s string) int { return len(s) / 4 }, Readable: func(string) bool { return true },
		Budget: 1000, Deadline: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if active != "" {
		m.Editor(func(e *contextprovider.EditorState) { e.Active = active })
	}
	text := strings.ReplaceAll(m.Part(t.Context(), "", mentions, nil), dir, "$W")
	for _, miss := range m.Last().Missed {
		text = "missing: " + miss.Provider + ": " + miss.Reason + "\n" + text
	}
	lines := strings.Split(text, "\n")
	// The frame and the active file are tested elsewhere.
	lines = slices.DeleteFunc(lines, func(l string) bool {
		switch l {
		case "<context>", "</context>", "<editor>", "</editor>":
			return true
		}
		return strings.HasPrefix(l, "How things stood") || strings.HasPrefix(l, "active file:")
	})
	return strings.Join(append(lines, ""), "\n")
}
