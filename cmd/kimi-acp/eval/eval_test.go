package eval

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"kimi-acp/internal/proc"
	"kimi-acp/internal/screen"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/scripted"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// playing has the scripted model do tasks, with real commands.
func playing(t *testing.T) Options {
	t.Helper()
	// Scratch folders go where the test's folders are.
	t.Setenv("TMPDIR", t.TempDir())
	runner := proc.NewRunner(proc.Options{Environ: []string{"PATH=" + os.Getenv("PATH")}})
	t.Cleanup(runner.Close)
	return Options{
		Provider: func(task Task) (llm.Provider, error) {
			return scripted.New(task.Script, llm.Model{Name: "scripted", ContextSize: 100_000}), nil
		},
		Runner: runner, Shell: runner.Shell(), Retry: soul.RetryPolicy{Attempts: 1},
		Now: func() time.Time { return time.Unix(0, 0) },
	}
}

func tasks(t *testing.T) []Task {
	t.Helper()
	all, err := Tasks()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A model that does each task right passes it, and nothing is left behind.
func TestTasks(t *testing.T) {
	all := tasks(t)
	if len(all) != 30 {
		t.Errorf("there are %d tasks", len(all))
	}
	for _, task := range all {
		t.Run(task.Name, func(t *testing.T) {
			o := playing(t)
			score, err := Play(t.Context(), task, o)
			if err != nil {
				t.Fatal(err)
			}
			if !score.Passed || score.Steps != len(task.Script) {
				t.Errorf("%+v", score)
			}
			left, err := os.ReadDir(os.Getenv("TMPDIR"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// A model that says something and does nothing passes no task.
func TestAnIdleModelPassesNothing(t *testing.T) {
	for _, task := range tasks(t) {
		t.Run(task.Name, func(t *testing.T) {
			task.Script = []string{"text: I did it."}
			score, err := Play(t.Context(), task, playing(t))
			if err != nil {
				t.Fatal(err)
			}
			if score.Passed || len(score.Why) == 0 {
				t.Errorf("passed: %+v", score)
			}
		})
	}
}

const small = `prompt: Go.
-- work/a.txt --
one
-- work/b.txt --
two
-- beside/c.txt --
three
-- script --
text: yes
`

func parsed(t *testing.T, text string) Task {
	t.Helper()
	task, err := parseTask("small", text)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// What each kind of expectation says when it does not hold.
func TestWhy(t *testing.T) {
	write := func(path string) string { return `call: WriteFile {"path":"` + path + `","content":"x\n"}` }
	for _, tt := range []struct {
		name, head, script string
		want               []string
	}{
		{"nothing is wrong", "check: answer matches ^YES$\nmax-steps: 1", "text: yes", nil},
		{"changed", "", write("a.txt") + "\n---\ntext: yes", []string{"a.txt was changed"}},
		{"new", "", write("d/new.txt") + "\n---\ntext: yes", []string{"d/new.txt should not be there"}},
		{"gone", "", "call: Shell {\"command\":\"rm b.txt\"}\n---\ntext: yes", []string{"b.txt is not there"}},
		{"beside", "", "call: Shell {\"command\":\"echo x > ../c.txt\"}\n---\ntext: yes", []string{"c.txt, outside of the folder, was changed"}},
		{"huge", "check: file big matches two", "call: Shell {\"command\":\"head -c 1100000 /dev/zero > big\"}\n---\ntext: yes", []string{"big has nothing like two"}},
		{"not as wanted", "", "text: yes\n-- want/a.txt --\nONE\n-- want/e.txt --\nnew", []string{"a.txt is not as it should be", "e.txt is not there"}},
		{"file checks", "check: file a.txt absent\ncheck: file b.txt matches three\ncheck: file b.txt lacks TWO\ncheck: file no.txt matches x", "text: yes", []string{"a.txt is there", "b.txt has nothing like three", "b.txt has something like TWO", "no.txt is not there"}},
		{"answer", "check: answer matches no\ncheck: answer lacks yes", "text: yes", []string{"the answer has nothing like no", "the answer has something like yes"}},
		{"commands", "check: ran make\ncheck: not ran true", "call: Shell {\"command\":\"true\"}\n---\ntext: yes", []string{"a command like make was not run", "a command like true was run"}},
		{"tools", "check: called SetTodoList\ncheck: not called ReadFile", "call: ReadFile {\"path\":\"a.txt\"}\n---\ntext: yes", []string{"the tool SetTodoList was not called", "the tool ReadFile was called"}},
		{"todos", "check: todos 2\ncheck: todos 1", `call: SetTodoList {"todos":[{"title":"x","status":"pending"}]}` + "\n---\ntext: yes", []string{"the to-do list has 1 entries, not 2", "the to-do list has entries that are not done"}},
		{"steps", "max-steps: 1", "call: ReadFile {\"path\":\"a.txt\"}\n---\ntext: yes", []string{"the turn did not end by itself: max_steps"}},
		{"failed", "", "error: 401 expired", []string{"the model failed: step 1: HTTP 401: expired"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(small, "prompt: Go.\n", "prompt: Go.\n"+tt.head+"\n", 1)
			task := parsed(t, strings.Replace(text, "text: yes\n", tt.script+"\n", 1))
			score, err := Play(t.Context(), task, playing(t))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append([]string{}, tt.want...), score.Why); diff != "" {
				t.Error(diff)
			}
			if score.Passed != (len(tt.want) == 0) {
				t.Errorf("passed: %v", score.Passed)
			}
		})
	}
}

// Commands find none of the user's settings.
func TestCommandsHaveAHomeOfTheirOwn(t *testing.T) {
	t.Setenv("HOME", "/nowhere")
	task := parsed(t, strings.Replace(small, "text: yes", `call: Shell {"command":"cd && ls -A && basename \"$PWD\""}`+"\n---\ntext: yes", 1))
	score, err := Play(t.Context(), task, playing(t))
	if err != nil || !score.Passed {
		t.Errorf("%+v, %v", score, err)
	}
}

func TestBadTasks(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "lacks a prompt or a script"},
		{"prompt: x\n", "lacks a prompt or a script"},
		{"prompt x\n", "line 1 is not KEY: VALUE"},
		{"prompt: x\ncolour: red\n", `line 2: there is no key "colour"`},
		{"mode: wild\n", "there is no mode"},
		{"mode: plan\n  more\n", "mode has one line only"},
		{"max-steps: few\n", "invalid syntax"},
		{"check: dance\n", "it is no check: dance"},
		{"check: file a smells x\n", "it is no check: smells"},
		{"check: answer matches (\n", "error parsing regexp"},
		{"check: answer matches\n", "the pattern is empty"},
		{"check: not answer matches x\n", "it is no check"},
		{"check: todos many\n", "it is no check"},
		{"-- elsewhere/a --\n", "is neither in work/, want/ nor beside/"},
		{"-- work/../a --\n", "is no name of a file"},
		{"-- work --\n", "is no name of a file"},
		{"-- script --\ncall: Shell\n", "without a tool's name and arguments"},
		{"-- script --\ncall: Shell {\n", "without a tool's name and arguments"},
	} {
		if _, err := parseTask("bad", tt.text); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "task bad: ") {
			t.Errorf("%q: %v", tt.text, err)
		}
	}
}

func FuzzParseTask(f *testing.F) {
	f.Add(small)
	f.Add("prompt: x\n  y\ncheck: ran .\n-- script --\ncall: A {}\n---\ntext: x")
	f.Fuzz(func(t *testing.T, text string) {
		task, err := parseTask("fuzzed", text)
		if err == nil && (task.Prompt == "" || len(task.Script) == 0) {
			t.Errorf("took a task without a prompt or a script: %+v", task)
		}
	})
}

func TestFailures(t *testing.T) {
	o := playing(t)
	wrong := errors.New("no model")
	o.Provider = func(Task) (llm.Provider, error) { return nil, wrong }
	if _, err := Run(t.Context(), tasks(t), o, JSON(&bytes.Buffer{})); !errors.Is(err, wrong) {
		t.Errorf("said %v", err)
	}
	o = playing(t)
	if _, err := Run(t.Context(), tasks(t)[:1], o, JSON(closed{})); !errors.Is(err, os.ErrClosed) {
		t.Errorf("said %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, tasks(t)[:1], o, JSON(&bytes.Buffer{})); !errors.Is(err, context.Canceled) {
		t.Errorf("said %v", err)
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	if _, err := Play(t.Context(), tasks(t)[0], o); err == nil || !strings.Contains(err.Error(), "make a scratch folder") {
		t.Errorf("said %v", err)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, os.ErrClosed }

func scores() []Score {
	usage := llm.Usage{InputOther: 1000, Output: 200, InputCacheRead: 50}
	return []Score{
		{Task: "edit-one-word", Passed: true, Why: []string{}, Steps: 3, Usage: usage, Took: 2300 * time.Millisecond},
		{Task: "a-task-whose-name-is-rather-long-for-a-narrow-terminal", Why: []string{"the model failed: step 1:\nHTTP 500: a message that has so many words that it cannot stand on one line", "a.txt was changed"}, Steps: 12, Usage: llm.Usage{InputOther: 123_456}, Took: 75 * time.Second},
	}
}

func TestOutputs(t *testing.T) {
	for _, width := range []int{50, 100} {
		var b bytes.Buffer
		show(t, NewTable(screen.New(&b, false, width), []Task{{Name: scores()[0].Task}, {Name: scores()[1].Task}}))
		golden(t, fmt.Sprintf("table-%d", width), b.String())
	}
	var b bytes.Buffer
	show(t, JSON(&b))
	golden(t, "scores", b.String())
}

// show gives an Output the scores, and their sums.
func show(t *testing.T, out Output) {
	t.Helper()
	var sums Sums
	for _, s := range scores() {
		sums.add(s)
		if err := out.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.End(sums); err != nil {
		t.Fatal(err)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
