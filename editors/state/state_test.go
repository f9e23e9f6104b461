package state

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// meet gives a folder for states and one for a workspace.
func meet(t *testing.T) (dir, project string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	project = filepath.Join(base, "project")
	check(t, os.Mkdir(project, 0o755))
	return Folder(filepath.Join(base, "share")), project
}

func newWriter(t *testing.T, dir string) *Writer {
	t.Helper()
	w, err := NewWriter(dir)
	check(t, err)
	t.Cleanup(func() { check(t, w.Close()) })
	return w
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func states(t *testing.T, r *Reader) []State {
	t.Helper()
	all, err := r.States()
	check(t, err)
	return all
}

func text(s string) *string { return &s }

func TestStateArrives(t *testing.T) {
	dir, project := meet(t)
	r := NewReader(dir, []string{project})
	if got := states(t, r); got != nil {
		t.Fatalf("without a folder: %+v", got)
	}
	w := newWriter(t, dir)
	at := time.Now().Round(0)
	place := Range{Start: Position{3, 2, 1}, End: Position{3, 9, 8}}
	want := State{
		Editor: Editor{"Helix", "25.01"}, Roots: []string{project},
		Active: &Active{
			Path: filepath.Join(project, "a.go"), Language: "go", Cursor: &Position{3, 9, 8},
			Selection: &Selection{Range: place, Text: "oops()"}, Visible: &place, At: at,
		},
		Documents:   []Document{{Path: filepath.Join(project, "a.go"), Language: "go", Version: 4, Dirty: true, Text: text("é\n"), Changed: at, Used: at}},
		Diagnostics: []FileDiagnostics{{Path: filepath.Join(project, "a.go"), At: at, Items: []Diagnostic{{place, Error, "gopls", "UndeclaredName", "undefined: oops"}}}},
	}
	check(t, w.Write(want))
	got := states(t, r)
	if len(got) != 1 {
		t.Fatalf("states: %+v", got)
	}
	if got[0].Updated.Before(at) {
		t.Errorf("updated at %v, which is before %v", got[0].Updated, at)
	}
	want.Format, want.PID, want.Updated = Format, os.Getpid(), got[0].Updated
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Error(diff)
	}

	want.Active = nil
	check(t, w.Write(want))
	if got := states(t, r); len(got) != 1 || got[0].Active != nil {
		t.Errorf("after a change: %+v", got)
	}
	check(t, w.Close())
	if got := states(t, r); len(got) != 0 {
		t.Errorf("after the end: %+v", got)
	}
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if err := w.Write(want); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("writing after the end: %v", err)
	}
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check(t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// What a companion left that was killed is found by its lock, which nobody holds.
func TestDeadCompanionIsIgnoredAndRemoved(t *testing.T) {
	dir, project := meet(t)
	w := newWriter(t, dir)
	check(t, w.Write(State{Roots: []string{project}}))
	for _, name := range []string{"1-dead.lock", "1-dead.json", "1-dead.000001.prompt", "1-dead.tmp", "2-orphan.json"} {
		data, err := json.Marshal(State{Format: Format, Roots: []string{project}})
		check(t, err)
		check(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	check(t, os.WriteFile(filepath.Join(dir, "README"), nil, 0o600))
	r := NewReader(dir, []string{project})
	if got := states(t, r); len(got) != 1 || got[0].PID != os.Getpid() {
		t.Errorf("states: %+v", got)
	}
	want := []string{w.id + ".json", w.id + ".lock", "2-orphan.json", "README"}
	for _, name := range names(t, dir) {
		if !strings.Contains(strings.Join(want, " "), name) {
			t.Errorf("%s was left", name)
		}
	}
}

// A companion may be killed between the removal of its state and of its lock.
func TestLoneLockIsRemoved(t *testing.T) {
	dir, project := meet(t)
	w := newWriter(t, dir) // lives, and has told nothing yet
	lone := filepath.Join(dir, "1-dead.lock")
	check(t, os.WriteFile(lone, nil, 0o600))
	states(t, NewReader(dir, []string{project}))
	if _, err := os.Stat(lone); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock of the dead: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, w.id+lockEnd)); err != nil {
		t.Errorf("the lock of the living: %v", err)
	}
}

func TestFolderIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has access lists instead of modes")
	}
	dir, project := meet(t)
	check(t, os.MkdirAll(dir, 0o755))
	check(t, os.Chmod(dir, 0o755))
	w := newWriter(t, dir)
	check(t, w.Write(State{Roots: []string{project}}))
	for name, want := range map[string]fs.FileMode{".": 0o700, w.id + ".json": 0o600, w.id + ".lock": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		check(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
}

func TestLinksAreRefused(t *testing.T) {
	dir, project := meet(t)
	elsewhere := t.TempDir()
	check(t, os.MkdirAll(filepath.Dir(dir), 0o700))
	if err := os.Symlink(elsewhere, dir); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	if w, err := NewWriter(dir); !errors.Is(err, ErrUnsafe) {
		t.Errorf("writer: %v, %v", w, err)
	}
	if _, err := NewReader(dir, []string{project}).States(); !errors.Is(err, ErrUnsafe) {
		t.Errorf("reader: %v", err)
	}
	check(t, os.Remove(dir))

	w := newWriter(t, dir)
	secret := filepath.Join(elsewhere, "state")
	data, err := json.Marshal(State{Format: Format, Roots: []string{project}})
	check(t, err)
	check(t, os.WriteFile(secret, data, 0o600))
	check(t, os.Symlink(secret, filepath.Join(dir, w.id+".json")))
	if got := states(t, NewReader(dir, []string{project})); len(got) != 0 {
		t.Errorf("a link was followed: %+v", got)
	}
}

// Two sessions in two folders: nothing of one is seen by the other.
func TestOnlyTheWorkspaceIsSeen(t *testing.T) {
	dir, project := meet(t)
	other := project + "-two"
	w := newWriter(t, dir)
	in, out := filepath.Join(project, "sub", "a.go"), filepath.Join(other, "b.go")
	check(t, w.Write(State{
		Roots:       []string{filepath.Dir(project)},
		Active:      &Active{Path: out},
		Documents:   []Document{{Path: in}, {Path: out, Dirty: true, Text: text("canary")}, {Path: project + "/../b.go"}, {Path: "rel.go"}},
		Diagnostics: []FileDiagnostics{{Path: out, Items: []Diagnostic{{Message: "canary"}}}, {Path: in, Items: []Diagnostic{{Message: "m"}}}},
	}))
	check(t, w.Queue(Prompt{Path: out, Text: "canary"}))
	for _, roots := range [][]string{{project}, {filepath.Join(project, "sub")}, {t.TempDir(), project}} {
		r := NewReader(dir, roots)
		got := states(t, r)
		if len(got) != 1 || got[0].Active != nil || len(got[0].Documents) != 1 || got[0].Documents[0].Path != in || len(got[0].Diagnostics) != 1 {
			t.Errorf("%v: %+v", roots, got)
		}
		if prompts, err := r.Take(); err != nil || len(prompts) != 0 {
			t.Errorf("%v: prompts %+v, %v", roots, prompts, err)
		}
	}
	if got := states(t, NewReader(dir, []string{t.TempDir()})); len(got) != 0 {
		t.Errorf("a workspace of its own sees %+v", got)
	}
}

// An editor may know the workspace by another name than the agent.
func TestLinkedWorkspace(t *testing.T) {
	dir, project := meet(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(project, link); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	w := newWriter(t, dir)
	check(t, w.Write(State{Roots: []string{project}, Active: &Active{Path: filepath.Join(project, "a.go")}}))
	got := states(t, NewReader(dir, []string{link}))
	if len(got) != 1 || got[0].Active == nil || got[0].Active.Path != filepath.Join(link, "a.go") {
		t.Errorf("states: %+v", got)
	}
}

func TestPromptIsTakenOnce(t *testing.T) {
	dir, project := meet(t)
	w := newWriter(t, dir)
	const queued = 5
	for i := range queued {
		check(t, w.Queue(Prompt{Kind: Fix, Path: filepath.Join(project, "a.go"), Range: Range{Start: Position{Line: i + 1}}}))
	}
	if got, err := NewReader(dir, []string{project}).Pending(); err != nil || len(got) != queued || got[0].Range.Start.Line != 1 || got[4].Range.Start.Line != 5 {
		t.Errorf("pending: %+v, %v", got, err)
	}
	var taken atomic.Int64
	var agents sync.WaitGroup
	for range 4 {
		agents.Go(func() {
			got, err := NewReader(dir, []string{project}).Take()
			if err != nil {
				t.Error(err)
			}
			taken.Add(int64(len(got)))
		})
	}
	agents.Wait()
	if taken.Load() != queued {
		t.Errorf("%d prompts were queued and %d taken", queued, taken.Load())
	}
}

func TestOldPromptsGo(t *testing.T) {
	dir, project := meet(t)
	w := newWriter(t, dir)
	path := filepath.Join(project, "a.go")
	for range MaxPrompts + 3 {
		check(t, w.Queue(Prompt{Kind: Ask, Path: path}))
	}
	r := NewReader(dir, []string{project})
	if got, err := r.Take(); err != nil || len(got) != MaxPrompts {
		t.Errorf("%d prompts, %v", len(got), err)
	}
	data, err := json.Marshal(Prompt{Kind: Ask, Path: path, At: time.Now().Add(-PromptAge - time.Minute)})
	check(t, err)
	name := filepath.Join(dir, w.id+".000099.prompt")
	check(t, os.WriteFile(name, data, 0o600))
	if got, err := r.Take(); err != nil || len(got) != 0 {
		t.Errorf("an old prompt: %+v, %v", got, err)
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an old prompt stays: %v", err)
	}
}

func TestWatch(t *testing.T) {
	dir, project := meet(t)
	w := newWriter(t, dir)
	r := NewReader(dir, []string{project})
	changed := make(chan struct{}, 100)
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- r.Watch(ctx, func() { changed <- struct{}{} }) }()
	<-changed // it watches
	check(t, w.Write(State{Roots: []string{project}}))
	<-changed
	check(t, w.Queue(Prompt{Path: project}))
	<-changed
	cancel()
	check(t, <-ended)
}
