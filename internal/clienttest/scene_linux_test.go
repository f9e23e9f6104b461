//go:build clients

package clienttest

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// editorTime bounds what is waited for in an editor. VS Code with its TypeScript takes
// the longest, on a busy machine.
const editorTime = time.Minute

// seen is what the agent would read about an editor.
type seen struct {
	Editor struct{ Name string }
	Active *struct {
		Path, Language string
		Cursor         *spot
		Selection      *struct {
			Start, End spot
			Text       string
		}
	}
	Documents []struct {
		Path  string
		Dirty bool
		Text  *string
	}
	Diagnostics []struct {
		Path  string
		Items []struct {
			Source, Severity, Message string
			Range                     struct{ Start, End spot }
		}
	}
}

type spot struct{ Line, Column, Byte int }

// scene is a desk on which a file is looked at and broken. In all of them "return"
// stands in line 3, in columns 16 to 21, and what is broken from column 23 on.
type scene struct {
	desk
	file, language string
	saved, unsaved string // the text of the file, on disk and once it is broken
	problem        string // how a language server words that
}

// newScene makes a scene with more files beside the one that is looked at, in a
// repository that is trusted, so that git is asked.
func newScene(t *testing.T, agent string, s scene, more map[string]string, settings ...string) scene {
	t.Helper()
	files := map[string]string{s.file: s.saved}
	maps.Copy(files, more)
	s.desk = newDesk(t, files, append(settings, "LANG=C.UTF-8")...)
	for _, args := range [][]string{
		{"git", "init", "-q", "-b", "looked-at"},
		{"git", "add", "."},
		{"git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "Where it began"},
		{agent, "trust", "add", s.dir},
	} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Env = s.dir, s.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	return s
}

// goScene is one for editors in terminals, with gopls.
func goScene(t *testing.T, agent string) scene {
	t.Helper()
	return newScene(t, agent, scene{
		file: "a.go", language: "go",
		saved: "package x\n\nfunc f() int { return 1 }\n", unsaved: "package x\n\nfunc f() int { return oops }\n",
		problem: "undefined: oops",
	}, map[string]string{"go.mod": "module example.org/x\n\ngo 1.24\n"},
		"TERM=xterm-256color", "COLORTERM=truecolor", "GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local")
}

// untouched fails unless the files are on disk as they were.
func (d scene) untouched(t *testing.T) {
	t.Helper()
	if got, err := os.ReadFile(d.path(d.file)); err != nil || string(got) != d.saved {
		t.Errorf("%s holds %q, %v; nothing was saved", d.file, got, err)
	}
}

func (d desk) states() string { return d.path("../home/share/acp/editors") }

// look gives what the editors on the desk tell.
func (d desk) look() (all []seen) {
	files, _ := filepath.Glob(filepath.Join(d.states(), "*.json"))
	for _, file := range files {
		var s seen
		if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &s) == nil {
			all = append(all, s)
		}
	}
	return all
}

// await waits until an editor tells what is wanted, and gives how long that took.
// meanwhile, if it is not nil, is done again and again.
func (d desk) await(t *testing.T, what string, meanwhile func(), good func(seen) bool) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		for _, s := range d.look() {
			if good(s) {
				return time.Since(began)
			}
		}
		if time.Since(began) > editorTime {
			data, _ := json.Marshal(d.look())
			t.Fatalf("%s was not seen within %v: %s", what, editorTime, data)
		}
		if meanwhile != nil {
			meanwhile()
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// checkGone fails unless everything that the companion wrote goes with its editor.
func (d desk) checkGone(t *testing.T) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		left, err := os.ReadDir(d.states())
		if err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		if time.Since(began) > leaveTime {
			t.Fatalf("left behind: %v", left)
		}
	}
}

// at tells whether the cursor is in the file, at a place.
func (d scene) at(line, column int) func(seen) bool {
	return func(s seen) bool {
		return s.Active != nil && s.Active.Path == d.path(d.file) && s.Active.Language == d.language &&
			s.Active.Cursor != nil && s.Active.Cursor.Line == line && s.Active.Cursor.Column == column
	}
}

// selected tells whether "return" is selected.
func (d scene) selected(s seen) bool {
	return s.Active != nil && s.Active.Selection != nil && s.Active.Selection.Text == "return" &&
		s.Active.Selection.Start == spot{3, 16, 15} && s.Active.Selection.End == spot{3, 22, 21}
}

// broken tells whether the text that is not saved is there.
func (d scene) broken(s seen) bool {
	for _, doc := range s.Documents {
		if doc.Path == d.path(d.file) {
			return doc.Dirty && doc.Text != nil && *doc.Text == d.unsaved
		}
	}
	return false
}

// reported tells whether what is broken is reported.
func (d scene) reported(s seen) bool {
	for _, of := range s.Diagnostics {
		for _, i := range of.Items {
			if of.Path == d.path(d.file) && strings.Contains(i.Message, d.problem) && i.Severity == "error" &&
				i.Range.Start == (spot{3, 23, 22}) && i.Range.End == (spot{3, 27, 26}) {
				return true
			}
		}
	}
	return false
}

// whole tells whether all that a prompt is to tell is there.
func (d scene) whole(s seen) bool { return d.selected(s) && d.broken(s) && d.reported(s) }
