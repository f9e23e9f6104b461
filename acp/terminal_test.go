package acp_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"kimi-acp/internal/acptest"
)

// terminals is an editor's side of the terminal methods, and what was asked of it.
type terminals struct {
	output string
	exit   string        // the answer to wait_for_exit; "": it comes with kill
	silent string        // a method that is not answered
	late   chan struct{} // if not nil, a terminal is made once this is closed
	made   chan struct{} // closed when a terminal was asked for

	editor *acptest.Client
	create map[string]any
	killed chan struct{}
}

func (m *terminals) serve(c *acptest.Client) {
	m.editor, m.made, m.killed = c, make(chan struct{}), make(chan struct{})
	for _, method := range []string{"create", "output", "wait_for_exit", "kill", "release"} {
		c.Handle("terminal/"+method, func(ctx context.Context, params json.RawMessage) (any, error) {
			if m.silent == method {
				if method == "create" {
					close(m.made)
				}
				return nil, acptest.ErrSilent
			}
			return m.answer(ctx, method, params)
		})
	}
}

func (m *terminals) answer(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case "create":
		if err := json.Unmarshal(params, &m.create); err != nil {
			return nil, err
		}
		close(m.made)
		if m.late != nil {
			<-m.late
		}
		return map[string]string{"terminalId": "term-1"}, nil
	case "wait_for_exit":
		if m.exit == "" {
			select {
			case <-m.killed:
			case <-ctx.Done():
			}
			return map[string]any{"exitCode": nil, "signal": "SIGKILL"}, nil
		}
		return json.RawMessage(m.exit), nil
	case "output":
		return map[string]any{"output": m.output, "truncated": false}, nil
	case "kill":
		close(m.killed)
	}
	return struct{}{}, nil
}

// calls gives the terminal methods that were called, in their order on the wire:
// what serves them runs side by side.
func (m *terminals) calls(t *testing.T) string {
	t.Helper()
	var all []string
	for _, call := range fromAgent(t, m.editor) {
		if method, ok := strings.CutPrefix(call.Method, "terminal/"); ok {
			all = append(all, method)
		}
	}
	return strings.Join(all, " ")
}

var shellCall = []string{`tool_call: {"id":"sh","name":"Shell","arguments":"{\"command\":\"make all\",\"timeout\":5}"}`, "text: done"}

var withTerminal = acptest.Capabilities{Terminal: true}

func TestCommandRunsInTheEditorsTerminal(t *testing.T) {
	for _, c := range []struct {
		name, exit, status, tells string
	}{
		{"success", `{"exitCode":0}`, "completed", "executed successfully"},
		{"failure", `{"exitCode":3}`, "failed", "exit code 3"},
		{"a signal", `{"signal":"SIGSEGV"}`, "failed", "SIGSEGV"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &terminals{output: "\x1b[31mred\x1b[0m\n", exit: c.exit}
			e := stage{scripts: shellCall}.serve(t)
			m.serve(e)
			e.Initialize(withTerminal)
			s := e.NewSession(t.TempDir())
			turn := s.Prompt(acptest.Text("go"))
			if got := turn.Wait(); got != "end_turn" {
				t.Errorf("ended with %s", got)
			}
			if got := m.calls(t); got != "create wait_for_exit output release" {
				t.Errorf("the editor was asked for %s", got)
			}
			if m.create["cwd"] != s.Cwd || m.create["outputByteLimit"] == nil || !slices.Equal(toStrings(m.create["args"]), []string{"-c", "make all"}) {
				t.Errorf("the terminal was made with %v", m.create)
			}
			call := turn.Calls()[0]
			if call.Status != c.status || !strings.Contains(string(call.RawOutput), c.tells) {
				t.Errorf("the call ends as %s with %s", call.Status, call.RawOutput)
			}
			if got := string(mustJSON(t, call.Content)); !strings.Contains(got, `"terminalId":"term-1"`) || strings.Contains(got, "red") {
				t.Errorf("the call shows %s", got)
			}
		})
	}
}

func TestTerminalTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &terminals{output: "partly\n"}
		e := stage{scripts: shellCall}.serve(t)
		m.serve(e)
		e.Initialize(withTerminal)
		turn := e.NewSession(os.TempDir()).Prompt(acptest.Text("go"))
		if got := turn.Wait(); got != "end_turn" {
			t.Errorf("ended with %s", got)
		}
		if got := m.calls(t); got != "create wait_for_exit kill output release" {
			t.Errorf("the editor was asked for %s", got)
		}
		if out := string(turn.Calls()[0].RawOutput); !strings.Contains(out, "5 s") {
			t.Errorf("the result does not tell of the time-out: %s", out)
		}
		e.Close()
	})
}

func TestTerminalIsReleasedAfterCancel(t *testing.T) {
	m := &terminals{output: "partly\n"}
	e := stage{scripts: shellCall}.serve(t)
	m.serve(e)
	e.Initialize(withTerminal)
	s := e.NewSession(t.TempDir())
	turn := s.Prompt(acptest.Text("go"))
	turn.Until("the terminal", func(u acptest.Update) bool { return strings.Contains(string(u.Raw), "term-1") })
	s.Cancel()
	if got := turn.Wait(); got != "cancelled" {
		t.Errorf("ended with %s", got)
	}
	if got := m.calls(t); got != "create wait_for_exit kill output release" {
		t.Errorf("the editor was asked for %s", got)
	}
}

// An editor that never says which terminal it made does not hold a cancel up for
// long.
func TestCancelWhileTheTerminalIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &terminals{silent: "create"}
		e := stage{scripts: shellCall}.serve(t)
		m.serve(e)
		e.Initialize(withTerminal)
		s := e.NewSession(os.TempDir())
		turn := s.Prompt(acptest.Text("go"))
		<-m.made
		s.Cancel()
		if got := turn.Wait(); got != "cancelled" {
			t.Errorf("ended with %s", got)
		}
		if got := m.calls(t); got != "create" {
			t.Errorf("the editor was asked for %s", got)
		}
		e.Close()
	})
}

// A terminal that is made when nobody waits for it any more is not left running.
func TestTerminalThatIsMadeTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &terminals{late: make(chan struct{})}
		e := stage{scripts: shellCall}.serve(t)
		m.serve(e)
		e.Initialize(withTerminal)
		s := e.NewSession(os.TempDir())
		turn := s.Prompt(acptest.Text("go"))
		<-m.made
		s.Cancel()
		if got := turn.Wait(); got != "cancelled" {
			t.Errorf("ended with %s", got)
		}
		close(m.late)
		synctest.Wait()
		if got := m.calls(t); got != "create release" {
			t.Errorf("the editor was asked for %s", got)
		}
		e.Close()
	})
}

func TestEditorWithoutTerminalsThatShowsThem(t *testing.T) {
	e := stage{scripts: []string{`tool_call: {"id":"sh","name":"Shell","arguments":"{\"command\":\"printf 'a\\\\303'; printf '\\\\251b'; exit 2\"}"}`, "text: done"}}.serve(t)
	e.Initialize(acptest.Capabilities{Meta: map[string]any{"terminal_output": true}})
	s := e.NewSession(t.TempDir())
	turn := s.Prompt(acptest.Text("go"))
	if got := turn.Wait(); got != "end_turn" {
		t.Fatalf("ended with %s", got)
	}
	var info, exit, data string
	for _, u := range turn.Updates() {
		var meta struct {
			Meta struct {
				Info   json.RawMessage `json:"terminal_info"`
				Output struct {
					Data string `json:"data"`
				} `json:"terminal_output"`
				Exit json.RawMessage `json:"terminal_exit"`
			} `json:"_meta"`
		}
		if err := json.Unmarshal(u.Raw, &meta); err != nil {
			t.Fatal(err)
		}
		info, exit, data = info+string(meta.Meta.Info), exit+string(meta.Meta.Exit), data+meta.Meta.Output.Data
	}
	if !strings.Contains(info, `"cwd":"`+s.Cwd+`"`) || data != "aéb" || !strings.Contains(exit, `"exit_code":2`) {
		t.Errorf("info %s, data %q, exit %s", info, data, exit)
	}
}

// Models use the ids of their calls again; a terminal that is shown must be a new
// one each time.
func TestShownTerminalsAreNotMixedUp(t *testing.T) {
	e := stage{scripts: []string{shell("sh", "echo one"), "text: done", shell("sh", "echo two"), "text: done"}}.serve(t)
	e.Initialize(acptest.Capabilities{Meta: map[string]any{"terminal_output": true}})
	s := e.NewSession(t.TempDir())
	shown := map[string]string{}
	for range 2 {
		turn := s.Prompt(acptest.Text("go"))
		turn.Wait()
		for _, u := range turn.Updates() {
			var update struct {
				Meta struct {
					Output struct {
						ID   string `json:"terminal_id"`
						Data string `json:"data"`
					} `json:"terminal_output"`
				} `json:"_meta"`
			}
			if err := json.Unmarshal(u.Raw, &update); err != nil {
				t.Fatal(err)
			}
			if out := update.Meta.Output; out.Data != "" {
				shown[out.ID] += out.Data
			}
		}
	}
	if len(shown) != 2 {
		t.Errorf("two commands are shown as %q", shown)
	}
}

// A command of which nobody knows how it ended is not shown as one that went well.
func TestShownTerminalOfACommandThatDidNotStart(t *testing.T) {
	e := stage{scripts: []string{shell("sh", "echo one"), "text: done"}}.serve(t)
	e.Initialize(acptest.Capabilities{Meta: map[string]any{"terminal_output": true}})
	s := e.NewSession(t.TempDir())
	if err := os.Remove(s.Cwd); err != nil {
		t.Fatal(err)
	}
	turn := s.Prompt(acptest.Text("go"))
	turn.Wait()
	exit := turn.Until("the exit", func(u acptest.Update) bool { return strings.Contains(string(u.Raw), "terminal_exit") })
	if !strings.Contains(string(exit.Raw), `"exit_code":null`) {
		t.Errorf("shown as %s", exit.Raw)
	}
}

func toStrings(v any) (out []string) {
	list, _ := v.([]any)
	for _, item := range list {
		s, _ := item.(string)
		out = append(out, s)
	}
	return out
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
