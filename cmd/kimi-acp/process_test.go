//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/modeltest"
)

// Tests of the whole program, started as an editor starts it. The numbers in their
// names are those of the conformance checklist for agents, and of bugs that were
// reported of other agents (Peer…).

var built acptest.Program

// TestMain removes the program that tests have built.
func TestMain(m *testing.M) { os.Exit(built.Run(m)) }

// program gives the path of the program under test, built once.
func program(t testing.TB) string {
	t.Helper()
	return built.Path(t)
}

// playing is an environment in which the model plays scripts.
func playing(t *testing.T, scripts ...string) []string {
	t.Helper()
	raw, err := json.Marshal(scripts)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "scripts.json")
	if err := os.WriteFile(file, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	return []string{"KIMI_MODEL_NAME=_scripted_echo", "KIMI_SCRIPTED_ECHO_SCRIPTS=" + file}
}

// runs is a script that calls the tool Shell.
func runs(t *testing.T, command string) string {
	t.Helper()
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	call, err := json.Marshal(map[string]string{"id": "s", "name": "Shell", "arguments": string(args)})
	if err != nil {
		t.Fatal(err)
	}
	return "tool_call: " + string(call)
}

// start plays an editor in front of the program.
func start(t testing.TB, env []string, args ...string) *acptest.Client {
	t.Helper()
	return acptest.Start(t, acptest.Process{Path: program(t), Args: args, Env: env, Dir: t.TempDir()})
}

// Standard output holds nothing but messages, whatever there is to complain of:
// the editor's side reads all of it, and takes nothing else.
func Test001StandardOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string][]string{
		"debug":                         {"KIMI_DEBUG=1"},
		"settings that cannot be used":  {"KIMI_DEBUG=perhaps", "KIMI_SHARE_DIR=relative", "KIMI_MODEL_MAX_CONTEXT_SIZE=many"},
		"a share folder that is a file": {"KIMI_DEBUG=1", "KIMI_SHARE_DIR=" + file},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, append(playing(t, runs(t, "echo out; echo err >&2"), "text: done"), env...))
			c.Initialize(acptest.Capabilities{})
			turn := c.NewSession(t.TempDir()).Prompt(acptest.Text("go"))
			if got := turn.Wait(); got != "end_turn" || turn.Text() != "done" {
				t.Errorf("ended with %s, said %q", got, turn.Text())
			}
			c.Raw([]byte("{bad json\n"))
			if got := c.Exit(); got != 0 {
				t.Errorf("exit status %d", got)
			}
			if name != "debug" && c.Stderr() == "" {
				t.Error("nothing was said on standard error")
			}
		})
	}
}

func Test001BadArguments(t *testing.T) {
	for _, args := range [][]string{{"--bogus"}, {"acp", "--bogus"}, {"acp", "extra"}, {"dance"}} {
		cmd := exec.CommandContext(t.Context(), program(t), args...)
		out, err := cmd.Output()
		if cmd.ProcessState.ExitCode() != 2 || len(out) != 0 {
			t.Errorf("%v: %v, standard output %q", args, err, out)
		}
	}
}

// A model that is not set is told of when a session is asked for, not before.
func TestNothingIsSet(t *testing.T) {
	c := start(t, nil)
	c.Initialize(acptest.Capabilities{})
	e := c.Request("session/new", map[string]any{"cwd": t.TempDir(), "mcpServers": []any{}}).Fails(-32000)
	if !strings.Contains(e.Message, "KIMI_API_KEY") {
		t.Errorf("said %q", e.Message)
	}
}

// The key of the provider is in no log, no error and no command's environment,
// also when the provider repeats it.
func Test022TheKeyStaysSecret(t *testing.T) {
	const key = "sk-HUSH-0123456789abcdef"
	server := modeltest.New(t)
	server.Push(
		modeltest.Reply{Parts: []modeltest.Part{modeltest.Call(0, "s", "Shell", `{"command":"env"}`)}},
		modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("done")}},
		modeltest.Reply{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: ` + key + `"}}`},
	)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // a list of models, which it does not have
			http.NotFound(w, r)
			return
		}
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	share := filepath.Join(t.TempDir(), "share")
	c := start(t, []string{"KIMI_API_KEY=" + key, "KIMI_MODEL_NAME=m", "KIMI_BASE_URL=" + front.URL + "/v1", "KIMI_SHARE_DIR=" + share, "KIMI_DEBUG=1", "MINE=kept"})
	c.Initialize(acptest.Capabilities{})
	s := c.NewSession(t.TempDir())
	turn := s.Prompt(acptest.Text("go"))
	turn.Wait()
	if env := turn.Calls()[0].Text(); !strings.Contains(env, "MINE=kept") {
		t.Errorf("the command's environment is %s", env)
	}
	s.Prompt(acptest.Text("again")).Fails(-32000)
	if got := server.Requests()[0].Header.Get("Authorization"); got != "Bearer "+key {
		t.Errorf("the provider got %q", got)
	}
	if got := c.Exit(); got != 0 {
		t.Errorf("exit status %d", got)
	}
	texts := map[string]string{"standard error": c.Stderr(), "the connection": c.Transcript()}
	err := filepath.WalkDir(share, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		texts[path] = string(data)
		return err
	})
	if err != nil || len(texts) < 3 {
		t.Errorf("%d texts, %v; want a log among them", len(texts), err)
	}
	for where, text := range texts {
		if strings.Contains(text, key) {
			t.Errorf("%s holds the key", where)
		}
	}
}

// Files of ours that are broken, or cannot be, do not keep the program from
// starting.
func TestPeer69BrokenState(t *testing.T) {
	prepare := map[string]func(t *testing.T, share string){
		"a file in its place": func(t *testing.T, share string) { put(t, share, "x") },
		"broken settings": func(t *testing.T, share string) {
			put(t, filepath.Join(share, "config.toml"), "\ufeff[[[")
			put(t, filepath.Join(share, "acp.toml"), "{}")
			put(t, filepath.Join(share, "kimi.json"), `{"work_dirs":[{`)
		},
		"folders where files are wanted": func(t *testing.T, share string) {
			put(t, filepath.Join(share, "config.toml", "x"), "")
			put(t, filepath.Join(share, "acp.toml", "x"), "")
		},
		"files where folders are wanted": func(t *testing.T, share string) {
			put(t, filepath.Join(share, "logs"), "")
			put(t, filepath.Join(share, "acp"), "")
			put(t, filepath.Join(share, "sessions"), "")
		},
	}
	for name, f := range prepare {
		t.Run(name, func(t *testing.T) {
			share := filepath.Join(t.TempDir(), "share")
			f(t, share)
			works(t, append(playing(t, "text: hi"), "KIMI_SHARE_DIR="+share))
		})
	}
	for name, home := range map[string]string{"no home": "HOME=", "a relative one": "HOME=x", "one that is not there": "HOME=/no/such/folder"} {
		t.Run(name, func(t *testing.T) { works(t, append(playing(t, "text: hi"), home)) })
	}
}

// put makes a file, and the folders above it.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// works takes the program through one turn, and out.
func works(t *testing.T, env []string) {
	t.Helper()
	c := start(t, env)
	c.Initialize(acptest.Capabilities{})
	turn := c.NewSession(t.TempDir()).Prompt(acptest.Text("go"))
	if got := turn.Wait(); got != "end_turn" || turn.Text() != "hi" {
		t.Errorf("ended with %s, said %q", got, turn.Text())
	}
	if got := c.Exit(); got != 0 {
		t.Errorf("exit status %d", got)
	}
}

// Variables with line breaks, such as exported functions, reach commands unchanged.
func TestPeer70EnvironmentWithLineBreaks(t *testing.T) {
	c := start(t, append(playing(t, runs(t, `printf '<%s>' "$X"; env | grep -A2 BASH_FUNC_greet`), "text: done"), "X=a\nb\n", "BASH_FUNC_greet%%=() { echo hi\n}"))
	c.Initialize(acptest.Capabilities{})
	turn := c.NewSession(t.TempDir()).Prompt(acptest.Text("go"))
	turn.Wait()
	if got := turn.Calls()[0].Text(); !strings.Contains(got, "<a\nb\n>") || !strings.Contains(got, "BASH_FUNC_greet%%=() {") {
		t.Errorf("the command printed %q", got)
	}
}

// Text is UTF-8, whatever the locale says.
func TestPeer82LocaleC(t *testing.T) {
	const text = "名前 é😀"
	c := start(t, append(playing(t, "text: "+text+"\n"+runs(t, "printf '%s' '"+text+"'"), "text: done"), "LANG=C", "LC_ALL=C"))
	c.Initialize(acptest.Capabilities{})
	turn := c.NewSession(t.TempDir()).Prompt(acptest.Text(text))
	turn.Wait()
	if got, out := turn.Text(), turn.Calls()[0].Text(); got != text+"done" || !strings.Contains(out, text) {
		t.Errorf("said %q, printed %q", got, out)
	}
}
