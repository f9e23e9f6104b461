package kernel_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kimi-acp/soul"
	"kimi-acp/soul/kernel"
	"kimi-acp/soul/session"
)

// journal are the edits of a host that makes none.
type journal struct {
	soul.Edits
	turn  int
	steps []int
}

func (j *journal) Turn() int                             { return j.turn }
func (j *journal) BeginStep(step int)                    { j.steps = append(j.steps, step) }
func (j *journal) Findings(context.Context) string       { return "" }
func (j *journal) Notice() string                        { return "" }
func (j *journal) Changes() string                       { return "No edit stands." }
func (j *journal) Redo(context.Context) string           { return "Brought back." }
func (j *journal) Undo(context.Context, int) string      { return "Files are back." }
func (j *journal) UndoSteps(context.Context, int) string { return "Steps are back." }
func (j *journal) UndoSince(_ context.Context, turn, step int) string {
	return fmt.Sprintf("- edits since turn %d, step %d\n", turn, step)
}

// Turns are taken back in the host's record, with their edits; the program ends, and its
// session is made what is left before it is started again.
func TestTurnsAreTakenBack(t *testing.T) {
	store, edits := session.NewStore(t.TempDir()), &journal{}
	cfg, w := fakeKernel(t, "1.10")
	kept, err := store.Create(cfg.Launch.WorkDir, "")
	must(t, err)
	defer func() { must(t, kept.Close()) }()
	cfg.Sessions, cfg.Launch.SessionID, cfg.Edits = store, kernel.SessionID(kept.ID()), edits
	cfg.Program.Args = append(cfg.Program.Args, "--session", "{session}")
	pids := filepath.Join(t.TempDir(), "pids")
	cfg.Launch.Environ = append(cfg.Launch.Environ, pidsEnv+"="+pids)
	k := open(t, cfg)
	k.Keep(kept)
	starts := func() int {
		raw, err := os.ReadFile(pids)
		must(t, err)
		return strings.Count(string(raw), "\n")
	}
	own := func() string {
		r, err := store.Read("", cfg.Launch.SessionID)
		must(t, err)
		defer r.Close()
		h, err := r.History()
		must(t, err)
		return brief(h.Messages)
	}
	run := func(words string) string {
		t.Helper()
		edits.turn++
		w.take()
		if _, err := k.Run(t.Context(), prompt(words)); err != nil {
			t.Fatal(err)
		}
		return w.take()
	}
	for _, words := range []string{"say one", "say two", "say three"} {
		run(words)
	}
	if !slices.Equal(edits.steps, []int{1, 1, 1}) {
		t.Errorf("steps %v", edits.steps)
	}
	if got := run("/changes"); !strings.Contains(got, "No edit stands.") || starts() != 1 {
		t.Errorf("said %s, started %d times", got, starts())
	}
	if got := run("/undo 2"); !strings.Contains(got, "The last 2 turns are taken back, from “say two” on") || !strings.Contains(got, "edits since turn 2, step 0") {
		t.Errorf("said %s", got)
	}
	const noted = "|user <system>The user took back the last 2 turns of this conversation, which you no longer see. What became of the files that they changed:\n- edits since turn 2, step 0\n</system>"
	run("say four")
	if got := own(); got != "user say one|assistant Hello."+noted || starts() != 2 {
		t.Errorf("started %d times, the kernel was given %q", starts(), got)
	}
	if got := k.Rewind(t.Context(), soul.Back{Turns: 9}); !strings.HasPrefix(got, "The last 2 turns are taken back") {
		t.Errorf("said %s", got)
	}
	run("say five")
	if got := own(); got != strings.ReplaceAll(noted[1:], "since turn 2", "since turn 1") || starts() != 3 {
		t.Errorf("started %d times, the kernel was given %q", starts(), got)
	}
	if got := k.Rewind(t.Context(), soul.Back{Steps: 1}); !strings.HasPrefix(got, "Nothing was taken back: the turn has 0 steps") {
		t.Errorf("said %s", got)
	}
}

// Where a kernel cannot be made to forget, files alone go back, and the user is told why.
func TestFilesAreTakenBackAlone(t *testing.T) {
	for _, c := range []struct {
		name, why string
		named     bool
	}{
		{"a command line without its session", "its command line does not name its session; with `{session}` in it, both can be taken back", false},
		{"a session that is kept nowhere", "this session is not kept on disk; begin a new one to go on without that", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, w := fakeKernel(t, "1.10")
			cfg.Edits = &journal{turn: 1}
			if c.named {
				cfg.Program.Args = append(cfg.Program.Args, "--session", "{session}")
			}
			k := open(t, cfg)
			for _, words := range []string{"say one", "/undo"} {
				w.take()
				if _, err := k.Run(t.Context(), prompt(words)); err != nil {
					t.Fatal(err)
				}
			}
			if got := w.take(); !strings.Contains(got, "Files are back.\nOnly files were taken back: the kernel ") || !strings.Contains(got, " still knows what was said, since "+c.why+".\n") {
				t.Errorf("said %s", got)
			}
		})
	}
}

// Another model takes another start of the program; nothing else does.
func TestModelIsNamed(t *testing.T) {
	cfg, w := fakeKernel(t, "1.10")
	pids := filepath.Join(t.TempDir(), "pids")
	cfg.Launch.Environ = append(cfg.Launch.Environ, pidsEnv+"="+pids)
	cfg.Models = []string{"usual", "other"}
	if k := open(t, cfg); k.ModelNames() != nil || k.NameModel("other") == nil {
		t.Error("a command line without a place for a model takes one")
	}
	cfg.Program.Args = append(cfg.Program.Args, "--session", "{session}", "--model={model}")
	k := open(t, cfg)
	if got := k.ModelName(); got != "usual" {
		t.Errorf("uses %q", got)
	}
	if err := k.NameModel("third"); err == nil || !strings.Contains(err.Error(), `has no model "third" in its settings`) {
		t.Errorf("third: %v", err)
	}
	starts := func(want int) {
		t.Helper()
		if _, err := k.Run(t.Context(), prompt("say args")); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(pids)
		must(t, err)
		if got := strings.Count(string(raw), "\n"); got != want {
			t.Errorf("started %d times, want %d", got, want)
		}
	}
	starts(1)
	must(t, k.NameModel("other"))
	starts(2)
	starts(2)
	if got := k.ModelName(); got != "other" {
		t.Errorf("uses %q", got)
	}
	w.take()
	cfg.Launch.Model = "of the command line"
	if k = open(t, cfg); k.ModelName() != "of the command line" || !slices.Equal(k.ModelNames(), []string{"of the command line", "usual", "other"}) {
		t.Errorf("uses %q of %q", k.ModelName(), k.ModelNames())
	}
}
