package acp_test

import (
	"errors"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/soul"
	"kimi-acp/soul/kernel"
	"kimi-acp/soul/llm"
	store "kimi-acp/soul/session"
)

// swapping is a stage whose sessions can run here, in a program, in one that does not
// start, and in one that is not there.
func swapping(share string, heard *listener) stage {
	sessions := store.NewStore(share)
	s := stage{scripts: []string{"text: First, here.", "text: Here again."}}
	s.options.Sessions = sessions
	s.options.Kernels = func() acp.Kernels {
		return acp.Kernels{Default: "builtin", Offered: []acp.KernelChoice{{ID: "builtin", Name: "Built-in"}, {ID: "sidecar", Name: "Sidecar"}, {ID: "broken", Name: "Broken"}, {ID: "missing", Name: "Missing"}}}
	}
	s.newSoul = func(spec acp.SoulSpec, p llm.Provider) (soul.Soul, error) {
		switch spec.Kernel {
		case "builtin":
			return heard.soul(spec, p)
		case "missing":
			return nil, errors.New("it is not on this machine")
		}
		exe, err := os.Executable()
		return kernel.New(kernel.Config{
			Wire: spec.Wire, Tools: spec.Executor.Specs(), Sessions: sessions,
			Program: kernel.Program{Kind: kernel.Custom, Args: []string{exe, "--session", "{session}"}},
			Launch:  kernel.Launch{WorkDir: spec.Roots[0], SessionID: kernel.SessionID(spec.SessionID), Environ: append(os.Environ(), kernelEnv+"="+spec.Kernel)},
			Logger:  slog.New(slog.DiscardHandler),
		}), err
	}
	return s
}

// The kernel of a session is swapped between its turns. Each knows what was said with the
// other; one that does not run changes nothing.
func TestKernelIsSwappedBetweenTurns(t *testing.T) {
	share, heard := t.TempDir(), &listener{}
	s := swapping(share, heard)
	session, c, o := open(t, s)
	const offered = "(builtin,sidecar,broken,missing)"
	if got, want := brief(o.ConfigOptions), modeOption+" kernel=builtin"+offered; got != want {
		t.Errorf("options %s, want %s", got, want)
	}
	say := func(words, want string) {
		t.Helper()
		turn := session.Prompt(acptest.Text(words))
		if got := turn.Wait(); got != "end_turn" || !strings.Contains(turn.Text(), want) {
			t.Fatalf("%q: ended with %s, and said %q", words, got, turn.Text())
		}
	}
	request := func(kernel string) *acptest.Call {
		return c.Request("session/set_config_option", map[string]any{"sessionId": session.ID, "configId": "kernel", "value": kernel})
	}
	swap := func(kernel string) {
		t.Helper()
		var r openedSession
		request(kernel).Result(&r)
		if got, want := brief(r.ConfigOptions), modeOption+" kernel="+kernel+offered; got != want {
			t.Errorf("options %s, want %s", got, want)
		}
	}
	say("One", "First, here.")
	for kernel, why := range map[string]string{"broken": "could not be started: it ended with code 3.", "missing": "it is not on this machine."} {
		if e := request(kernel).Fails(-32603); !strings.Contains(e.Message, why) || !strings.HasSuffix(e.Message, "The session goes on in the kernel that it had.") {
			t.Errorf("%s is refused with %q", kernel, e.Message)
		}
	}
	c.Misuse("session/set_config_option", map[string]any{"sessionId": session.ID, "configId": "kernel", "value": "other"}).Fails(-32602)

	// A prompt right behind the swap runs in the new kernel.
	swapped := request("sidecar")
	say("Two", "Written.")
	swapped.Result(nil)
	r, err := s.options.Sessions.Read("", kernel.SessionID(session.ID))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	h, err := r.History()
	if err != nil || len(h.Messages) != 2 || h.Messages[0].Content[0].Text != "One" || h.Messages[1].Content[0].Text != "First, here." {
		t.Errorf("the sidecar was given %+v, %v", h.Messages, err)
	}

	swap("builtin")
	say("Three", "Here again.")
	want := `user [One]
assistant [First, here.]
user [Two]
assistant [I will write it.] +edit
tool [<system>RESULT</system>] for edit
assistant [Written.]
user [Three]
`
	if got := regexp.MustCompile(`<system>.*</system>`).ReplaceAllString(heard.last(), "<system>RESULT</system>"); got != want {
		t.Errorf("the model was told\n%s", got)
	}

	// What was chosen holds when the session is loaded again.
	swap("sidecar")
	c.Request("session/close", map[string]any{"sessionId": session.ID}).Result(nil)
	c.Close()
	c = s.serve(t)
	c.Initialize(both)
	loaded := c.LoadSession(session.ID, r.WorkDir())
	if !strings.Contains(string(loaded.Opened), `"currentValue":"sidecar"`) {
		t.Errorf("loaded with %s", loaded.Opened)
	}
	turn := loaded.Prompt(acptest.Text("Four"))
	if got := turn.Wait(); got != "end_turn" || !strings.Contains(turn.Text(), "Written.") {
		t.Errorf("ended with %s, and said %q", got, turn.Text())
	}
	c.Request("session/close", map[string]any{"sessionId": session.ID}).Result(nil) // and wait for the program's end
}

// While a turn runs the kernel stays.
func TestKernelIsNotSwappedWithinATurn(t *testing.T) {
	s := swapping(t.TempDir(), &listener{})
	s.scripts = []string{`tool_call: {"id":"run","name":"Shell","arguments":"{\"command\":\"sleep 300\"}"}`}
	session, c, _ := open(t, s)
	turn := session.Prompt(acptest.Text("Run it"))
	turn.Until("the command runs", func(u acptest.Update) bool { return u.Status == "in_progress" })
	e := c.Request("session/set_config_option", map[string]any{"sessionId": session.ID, "configId": "kernel", "value": "sidecar"}).Fails(-32600)
	if !strings.Contains(e.Message, "A prompt of this session runs") {
		t.Errorf("refused with %q", e.Message)
	}
	session.Cancel()
	if got := turn.Wait(); got != "cancelled" {
		t.Errorf("the turn ended with %s", got)
	}
}

// Without a place where sessions are kept there is no way from one kernel to another.
func TestKernelsAreNotOfferedWithoutFiles(t *testing.T) {
	s := swapping(t.TempDir(), &listener{})
	s.options.Sessions, s.unkept = nil, true
	_, _, o := open(t, s)
	if got := brief(o.ConfigOptions); got != modeOption {
		t.Errorf("options %s", got)
	}
}

// What an editor passes of MCP servers is for whoever makes the soul; what cannot be one
// is left out.
func TestMCPServersOfTheEditor(t *testing.T) {
	var got []soul.MCPServer
	s := stage{newSoul: func(spec acp.SoulSpec, p llm.Provider) (soul.Soul, error) {
		got = spec.MCP
		return builtin(spec, p)
	}}
	c := s.serve(t)
	c.Initialize(both)
	c.Misuse("session/new", map[string]any{"cwd": t.TempDir(), "mcpServers": []any{
		map[string]any{"name": "a", "command": "/bin/npx", "args": []string{"x"}, "env": []any{map[string]any{"name": "K", "value": "V"}}},
		map[string]any{"type": "http", "name": "b", "url": "https://b", "headers": []any{map[string]any{"name": "H", "value": "V"}}},
		map[string]any{"type": "sse", "name": "c", "url": "https://c", "headers": []any{}},
		map[string]any{"name": "neither", "args": []string{}, "env": []any{}},
		map[string]any{"command": "nameless"},
		"nonsense",
	}}).Result(nil)
	none := map[string]string{}
	want := []soul.MCPServer{
		{Name: "a", Command: "/bin/npx", Args: []string{"x"}, Env: map[string]string{"K": "V"}, Headers: none},
		{Name: "b", URL: "https://b", Headers: map[string]string{"H": "V"}, Env: none},
		{Name: "c", URL: "https://c", SSE: true, Env: none, Headers: none},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
