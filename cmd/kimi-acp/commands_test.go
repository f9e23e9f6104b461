//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kimi-acp/internal/modeltest"
)

// Tests of the commands that a person runs, as whole processes: what they end with,
// and what they write where.

// ran is what a command came to.
type ran struct {
	exit           int
	stdout, stderr string
	dir            string // where it ran
}

// command makes a command with an environment of its own, in a folder of its own.
func command(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program(t), args...)
	cmd.Dir = filepath.Join(home, "project")
	if err := os.Mkdir(cmd.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "KIMI_SHARE_DIR=" + filepath.Join(home, "share")}, env...)
	return cmd
}

func finish(t *testing.T, cmd *exec.Cmd) ran {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ran{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String(), cmd.Dir}
}

func TestRunExits(t *testing.T) {
	edit := `tool_call: {"id":"e","name":"WriteFile","arguments":"{\"path\":\"a.txt\",\"content\":\"x\"}"}`
	for _, tt := range []struct {
		name    string
		scripts []string
		args    []string
		exit    int
		stdout  string
		stderr  string // a part
	}{
		{"done", []string{"think: hm\ntext: yes"}, []string{"go"}, 0, "yes\n", "Thinking"},
		{"flags behind the prompt", []string{"text: yes"}, []string{"go", "on", "--quiet"}, 0, "yes\n", ""},
		{"words behind two dashes", []string{"text: yes"}, []string{"--quiet", "--", "go", "--on"}, 0, "yes\n", ""},
		{"expired key", []string{"error: 401 expired"}, []string{"--quiet", "go"}, 1, "", "HTTP 401: expired. Run kimi-acp doctor"},
		{"unknown flag", nil, []string{"--bogus", "go"}, 2, "", "bogus"},
		{"unknown mode", nil, []string{"--mode", "wild", "go"}, 2, "", "use one of default"},
		{"yes and no", nil, []string{"--yes", "--mode", "plan", "go"}, 2, "", "contradict"},
		{"no such folder", nil, []string{"--dir", "none", "go"}, 2, "", "no such file"},
		{"folder that is a file", nil, []string{"--dir", "/dev/null", "go"}, 2, "", "not a folder"},
		{"negative steps", nil, []string{"--max-steps", "-1", "go"}, 2, "", "negative"},
		{"no prompt", nil, nil, 2, "", "stdin was empty"},
		{"no levels", []string{"text: x"}, []string{"--thinking", "high", "go"}, 2, "", "no such level"},
		{"refused", []string{"text: no\nfinish: content_filter"}, []string{"--quiet", "go"}, 3, "no\n", ""},
		{"cut", []string{"text: so\nfinish: length"}, []string{"--quiet", "go"}, 4, "so\n", ""},
		{"steps", []string{edit, edit}, []string{"--quiet", "--yes", "--max-steps", "1", "go"}, 4, "I stopped after 1 steps, which is as many as a turn may have. Send “continue” and I go on from here.\n", ""},
		{"unanswered", []string{edit, "text: sorry"}, []string{"go"}, 5, "sorry\n", "--mode accept-edits or --yes"},
		{"accepted", []string{edit, "text: done"}, []string{"--mode", "accept-edits", "go"}, 0, "done\n", "+x"},
		{"overloaded", []string{"error: 503", "error: 503", "error: 503"}, []string{"--quiet", "go"}, 75, "", "try again"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := finish(t, command(t, playing(t, tt.scripts...), append([]string{"run"}, tt.args...)...))
			if got.exit != tt.exit || got.stdout != tt.stdout || !strings.Contains(got.stderr, tt.stderr) {
				t.Errorf("exit %d, stdout %q, stderr %q", got.exit, got.stdout, got.stderr)
			}
			if strings.Contains(got.stderr, "\x1b") {
				t.Error("there is colour, and no terminal")
			}
		})
	}
}

func TestRunWithoutAModel(t *testing.T) {
	got := finish(t, command(t, nil, "run", "--json", "go"))
	var last struct {
		Type  string
		Exit  int
		Error struct{ Message string }
	}
	if err := json.Unmarshal([]byte(got.stdout), &last); err != nil {
		t.Fatalf("%v: %s", err, got.stdout)
	}
	if got.exit != 2 || last.Type != "result" || last.Exit != 2 || !strings.Contains(last.Error.Message, "KIMI_API_KEY") {
		t.Errorf("exit %d, %+v", got.exit, last)
	}
}

func TestRunReadsThePrompt(t *testing.T) {
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{nil, `from a pipe\n`},
		{[]string{"-"}, `from a pipe`},
		{[]string{"look", "at:", "-", "and", "go"}, `look at:\nfrom a pipe\n\nand go`},
		{[]string{"look", "-at"}, ""},
	} {
		cmd := command(t, playing(t, "text: yes"), append([]string{"run", "--json"}, tt.words...)...)
		cmd.Stdin = strings.NewReader("from a pipe\n")
		got := finish(t, cmd)
		if tt.want == "" {
			if got.exit != 2 || !strings.Contains(got.stderr, "-at") {
				t.Errorf("%q: exit %d, %s", tt.words, got.exit, got.stderr)
			}
			continue
		}
		if first, _, _ := strings.Cut(got.stdout, "\n"); got.exit != 0 || first != `{"type":"TurnBegin","payload":{"user_input":"`+tt.want+`"}}` {
			t.Errorf("%q: exit %d, %s", tt.words, got.exit, first)
		}
	}
	cmd := command(t, playing(t, "text: yes"), "run")
	cmd.Stdin = strings.NewReader("\xff")
	if got := finish(t, cmd); got.exit != 2 || !strings.Contains(got.stderr, "UTF-8") {
		t.Errorf("exit %d, %s", got.exit, got.stderr)
	}
}

// default_mode of the settings holds here too, and a flag wins over it.
func TestRunModeOfTheSettings(t *testing.T) {
	edit := `tool_call: {"id":"e","name":"WriteFile","arguments":"{\"path\":\"a.txt\",\"content\":\"x\"}"}`
	for mode, exit := range map[string]int{"": 0, "default": 5} {
		cmd := command(t, playing(t, edit, "text: done"), "run", "--mode", mode, "go")
		settings(t, cmd, "default_mode = \"accept-edits\"\n")
		if got := finish(t, cmd); got.exit != exit {
			t.Errorf("%q: exit %d, %s", mode, got.exit, got.stderr)
		}
	}
}

// settings gives a command an acp.toml.
func settings(t *testing.T, cmd *exec.Cmd, text string) {
	t.Helper()
	share := filepath.Join(filepath.Dir(cmd.Dir), "share")
	if err := os.Mkdir(share, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(share, "acp.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Commands die of a broken pipe as they do elsewhere.
func TestRunLeavesCommandsTheirSignals(t *testing.T) {
	got := finish(t, command(t, playing(t, runs(t, "yes | head -n 1; echo ended with ${PIPESTATUS[0]}"), "text: done"), "run", "--yes", "--json", "go"))
	if !strings.Contains(got.stdout, `y\nended with 141\n`) {
		t.Errorf("exit %d, %s", got.exit, got.stdout)
	}
}

// An interrupt ends the turn, and the output is whole.
func TestRunCancelled(t *testing.T) {
	cmd := command(t, playing(t, "sleep: 1h\ntext: never"), "run", "--json", "go")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	last := ""
	for lines.Scan() {
		last = lines.Text()
		if strings.HasPrefix(last, `{"type":"StepBegin"`) {
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 || !strings.Contains(last, `"stop_reason":"cancelled","exit":130`) {
		t.Errorf("%v, %s", err, last)
	}
}

// A reader that leaves ends the turn before it has done anything more.
func TestRunWithoutAReader(t *testing.T) {
	cmd := command(t, playing(t, "text: yes\n"+runs(t, "touch made"), "text: never"), "run", "--yes", "go")
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = in, &stderr
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "the reader of the output has gone") {
		t.Errorf("%v, %s", err, stderr.String())
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "made")); err == nil {
		t.Error("the command was run")
	}
}

func TestHelp(t *testing.T) {
	for name, want := range map[string]string{"run": "Exit codes:", "doctor": "--offline", "eval": "--filter"} {
		got := finish(t, command(t, nil, name, "--help"))
		if got.exit != 0 || !strings.Contains(got.stderr, want) || !strings.Contains(got.stderr, "Examples:") {
			t.Errorf("%s --help: exit %d\n%s", name, got.exit, got.stderr)
		}
		for line := range strings.Lines(got.stderr) {
			if len(line) > 100 {
				t.Errorf("%s --help: long line %q", name, line)
			}
		}
	}
	for _, args := range [][]string{{"doctor", "extra"}, {"eval", "extra"}, {"doctor", "--bogus"}, {"eval", "--bogus"}, {"eval", "--filter", "("}, {"eval", "--filter", "nosuchtask"}, {"eval"}} {
		if got := finish(t, command(t, nil, args...)); got.exit != 2 || got.stdout != "" || got.stderr == "" {
			t.Errorf("%v: exit %d, stdout %q, stderr %q", args, got.exit, got.stdout, got.stderr)
		}
	}
}

func TestEval(t *testing.T) {
	got := finish(t, command(t, nil, "eval", "--model", "_scripted_echo", "--filter", "^edit-", "--json"))
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	var last struct {
		Type          string
		Tasks, Passed int
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatalf("%v: %s %s", err, got.stdout, got.stderr)
	}
	if got.exit != 0 || last.Type != "result" || last.Tasks != len(lines)-1 || last.Passed != last.Tasks || last.Tasks < 5 {
		t.Errorf("exit %d, %+v, %s", got.exit, last, got.stderr)
	}
	got = finish(t, command(t, modelAt("http://127.0.0.1:1/v1"), "eval", "--filter", "^new-file$", "--width", "60"))
	if got.exit != 1 || !strings.Contains(got.stdout, "✗ new-file") || !strings.Contains(got.stdout, "0 of 1 passed") {
		t.Errorf("exit %d\n%s", got.exit, got.stdout)
	}
}

const doctorKey = "sk-doctor-0123456789abcdef"

func modelAt(address string) []string {
	return []string{"KIMI_API_KEY=" + doctorKey, "KIMI_MODEL_NAME=kimi-k2", "KIMI_BASE_URL=" + address}
}

// modelServer serves a list of models, or refuses with a status, and a model that
// plays replies.
func modelServer(t *testing.T, status int, replies ...modeltest.Reply) []string {
	t.Helper()
	chat := modeltest.New(t)
	chat.Push(replies...)
	mux := http.NewServeMux()
	mux.Handle("POST /v1/chat/completions", chat)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		if status != http.StatusOK {
			http.Error(w, fmt.Sprintf(`{"error":{"message":"the key %s has expired"}}`, doctorKey), status)
			return
		}
		_, _ = w.Write([]byte(`{"data":[{"id":"kimi-k2"}]}`))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return modelAt(server.URL + "/v1")
}

func TestDoctor(t *testing.T) {
	says := modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("ready")}}
	calls := modeltest.Reply{Parts: []modeltest.Part{modeltest.Call(0, "c", "ping", "{}")}}
	for _, tt := range []struct {
		name   string
		env    []string
		config string // acp.toml
		args   []string
		exit   int
		want   []string
	}{
		{"nothing is set up", nil, "", nil, 1, []string{"✗ model", "Set KIMI_API_KEY"}},
		{"a broken file", nil, "[models.a]\nname = \n", nil, 1, []string{"✗ config", "acp.toml:2", "✗ model"}},
		{"an expired key", modelServer(t, 401), "", nil, 1, []string{"✗ server    the key is not accepted: HTTP 401", "→ set KIMI_API_KEY"}},
		{"a wrong address", modelAt("http://127.0.0.1:1/v1"), "", nil, 1, []string{"✗ server", "→ set KIMI_BASE_URL"}},
		{"all is good", modelServer(t, 200, says, calls), "", nil, 0, []string{"✓ server", "✓ answer", "✓ tools", "✓ clock", "✓ commands", "✓ git", "✓ folder", "in order"}},
		{"offline", modelAt("http://127.0.0.1:1/v1"), "", []string{"--offline"}, 0, []string{"- server", "in order"}},
		{"another model", modelAt("http://127.0.0.1:1/v1"), "", []string{"--offline", "--model", "kimi-k3"}, 0, []string{"kimi-k3, from --model"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := command(t, tt.env, append([]string{"doctor", "--width", "120"}, tt.args...)...)
			if tt.config != "" {
				settings(t, cmd, tt.config)
			}
			got := finish(t, cmd)
			if got.exit != tt.exit {
				t.Errorf("exit %d", got.exit)
			}
			for _, want := range tt.want {
				if !strings.Contains(got.stdout, want) {
					t.Errorf("nothing like %q", want)
				}
			}
			if strings.Contains(got.stdout+got.stderr, doctorKey) {
				t.Error("the key is shown")
			}
			if t.Failed() {
				t.Logf("%s%s", got.stdout, got.stderr)
			}
		})
	}
	got := finish(t, command(t, modelAt("http://127.0.0.1:1/v1"), "doctor", "--json"))
	var report struct {
		OK     bool
		Faults int
		Checks []struct{ Name, Status, Detail, Mend string }
	}
	if err := json.Unmarshal([]byte(got.stdout), &report); err != nil {
		t.Fatal(err)
	}
	if got.exit != 1 || report.OK || report.Faults != 1 || len(report.Checks) < 10 {
		t.Errorf("exit %d, %+v", got.exit, report)
	}
}
