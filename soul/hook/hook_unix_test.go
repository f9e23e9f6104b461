//go:build unix

package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kimi-acp/internal/proc"
	"kimi-acp/soul/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// place is a session's folder and the user's own, and what hooks decided there.
type place struct {
	*Hooks
	root, home string
	trusted    bool

	mu   sync.Mutex
	told []wire.Event
}

func at(t *testing.T, hooks ...Hook) *place {
	t.Helper()
	p := &place{root: t.TempDir(), home: t.TempDir(), trusted: true}
	for i := range hooks {
		if hooks[i].Timeout == 0 {
			hooks[i].Timeout = time.Minute
		}
	}
	runner := proc.NewRunner(proc.Options{})
	p.Hooks = New(Options{
		Hooks: func() []Hook { return hooks }, Runner: runner, SessionID: "s", Roots: []string{p.root}, Home: p.home,
		Environ: []string{"PATH=bin:" + filepath.Join(p.root, "bin") + ":" + os.Getenv("PATH")}, Trusted: func() bool { return p.trusted },
		Send: func(m wire.Event) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.told = append(p.told, m)
		},
		Logger: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() {
		p.Close()
		runner.Close()
	})
	return p
}

func TestAsk(t *testing.T) {
	deny := `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"use rg"}}`
	for name, c := range map[string]struct {
		hooks []Hook
		block bool
		why   string
	}{
		"none":                    {nil, false, ""},
		"allows":                  {[]Hook{{Line: "echo fine"}}, false, ""},
		"the code 2":              {[]Hook{{Line: "echo out; echo ' not that ' >&2; exit 2"}}, true, "not that"},
		"the code 2 and no word":  {[]Hook{{Line: "exit 2"}}, true, ""},
		"denies":                  {[]Hook{{Line: "echo '" + deny + "'"}}, true, "use rg"},
		"denies, and fails":       {[]Hook{{Line: "echo '" + deny + "'; exit 1"}}, false, ""},
		"allows in JSON":          {[]Hook{{Line: `echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`}}, false, ""},
		"another shape":           {[]Hook{{Line: `echo '{"hookSpecificOutput":[1]}'`}}, false, ""},
		"fails":                   {[]Hook{{Line: "echo broken >&2; exit 1"}}, false, ""},
		"is not there":            {[]Hook{{Line: "./no-such-hook"}}, false, ""},
		"fails, and is to agree":  {[]Hook{{Line: "echo broken >&2; exit 1", FailClosed: true}}, true, "A hook that has to agree failed: it ended with the code 1: broken"},
		"too long":                {[]Hook{{Line: "sleep 60 & sleep 60", Timeout: 100 * time.Millisecond}}, false, ""},
		"too long, and to agree":  {[]Hook{{Line: "sleep 60", Timeout: 100 * time.Millisecond, FailClosed: true}}, true, "A hook that has to agree failed: it took longer than 100ms"},
		"one of three is against": {[]Hook{{Line: "true"}, {Line: "echo no >&2; exit 2"}, {Line: "exit 1"}}, true, "no"},
		"another event":           {[]Hook{{Event: "Stop", Line: "exit 2"}}, false, ""},
		"another target":          {[]Hook{{Matcher: "^Write", Line: "exit 2"}}, false, ""},
		"its target":              {[]Hook{{Matcher: "Write|Sh", Line: "exit 2"}}, true, ""},
		"no expression":           {[]Hook{{Matcher: "(", Line: "exit 2"}}, false, ""},
		"much to say":             {[]Hook{{Line: "head -c 300000 /dev/zero | tr '\\0' x; head -c 300000 /dev/zero | tr '\\0' y >&2; exit 2"}}, true, strings.Repeat("y", maxWhy)},
		"does not read":           {[]Hook{{Line: "exec <&-; exit 2"}}, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range c.hooks {
				if c.hooks[i].Event == "" {
					c.hooks[i].Event = "PreToolUse"
				}
			}
			p := at(t, c.hooks...)
			block, why := p.Ask(t.Context(), "PreToolUse", "Shell", map[string]any{"tool_name": strings.Repeat("x", 200_000)})
			if block != c.block || why != c.why {
				t.Errorf("block %v, %.300q; want %v, %.300q", block, why, c.block, c.why)
			}
			if n := len(p.told); n != 0 && n != 2 {
				t.Errorf("told %v", p.told)
			}
		})
	}
}

func TestWhatHooksRead(t *testing.T) {
	p := at(t, Hook{Event: "Stop", Line: "cat > read.json"}, Hook{Event: "Stop", Line: "cat > read.json"})
	p.Ask(t.Context(), "Stop", "", map[string]any{"stop_hook_active": false})
	raw, err := os.ReadFile(filepath.Join(p.root, "read.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if json.Unmarshal(raw, &got) != nil || got["hook_event_name"] != "Stop" || got["session_id"] != "s" || got["cwd"] != p.root || got["stop_hook_active"] != false {
		t.Errorf("read %s", raw)
	}
	if first, ok := p.told[0].(wire.HookTriggered); !ok || first.HookCount != 1 {
		t.Errorf("told %+v; of two with the same line one runs", p.told[0])
	}
}

// TestWorkspaceThatIsNotTrusted holds a hook to the user's own folder and programs, so
// that a file of the workspace that has the name of the hook's is not run.
func TestWorkspaceThatIsNotTrusted(t *testing.T) {
	p := at(t, Hook{Event: "Stop", Line: "./hook.sh >&2; echo $PWD $PATH >&2; exit 2"})
	for _, name := range []string{"hook.sh", "bin/cat"} {
		path := filepath.Join(p.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho ran\n"), 0o700); err != nil { //nolint:gosec // it is a program
			t.Fatal(err)
		}
	}
	_, why := p.Ask(t.Context(), "Stop", "", nil)
	if !strings.HasPrefix(why, "ran\n"+p.root+" "+filepath.Join(p.root, "bin")+":") {
		t.Errorf("trusted: %q", why)
	}
	p.trusted = false
	_, why = p.Ask(t.Context(), "Stop", "", nil)
	if strings.Contains(why, "ran\n") || strings.Contains(why, p.root) || strings.Contains(why, " bin:") || !strings.Contains(why, p.home+" ") {
		t.Errorf("not trusted: %q", why)
	}
}

func TestTellAndClose(t *testing.T) {
	p := at(t, Hook{Event: "PostToolUse", Line: "cat > told"})
	p.Tell("Other", "", nil)
	p.Tell("PostToolUse", "Shell", nil)
	p.Close() // waits for it
	if _, err := os.Stat(filepath.Join(p.root, "told")); err != nil {
		t.Error(err)
	}
	p = at(t, Hook{Event: "PostToolUse", Line: "exec sleep 60"})
	for range maxTold {
		p.room <- struct{}{}
	}
	p.Tell("PostToolUse", "Shell", nil)
	if len(p.told) != 0 {
		t.Errorf("told %v where no room was left", p.told)
	}
}

func TestCancelledAsk(t *testing.T) {
	p := at(t, Hook{Event: "Stop", Line: "exec sleep 60"}, Hook{Event: "Closed", Line: "exec sleep 60", FailClosed: true})
	for event, want := range map[string]bool{"Stop": false, "Closed": true} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		if block, _ := p.Ask(ctx, event, "", nil); block != want {
			t.Errorf("%s: block %v, want %v", event, block, want)
		}
	}
}

func TestLeave(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "left")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	p := at(t, Hook{Event: "SessionEnd", Line: "cat > '" + pipe + "'"})
	p.Leave("SessionEnd", "exit", map[string]any{"reason": "exit"})
	raw, err := os.ReadFile(pipe) // waits for the hook
	if err != nil || !bytes.Contains(raw, []byte(`"reason":"exit"`)) {
		t.Errorf("read %s, %v", raw, err)
	}
}

// What hooks write at the beginning of a session and to a prompt is for the model, once;
// what they write elsewhere, or when they fail or block, is not.
func TestWhatHooksSay(t *testing.T) {
	for name, c := range map[string]struct {
		event string
		hooks []Hook
		want  string
	}{
		"to a prompt":            {userPromptSubmit, []Hook{{Line: "echo on branch x"}}, "on branch x"},
		"at the start":           {sessionStart, []Hook{{Line: "echo welcome"}}, "welcome"},
		"two":                    {userPromptSubmit, []Hook{{Line: "echo one"}, {Line: "echo two"}}, "one\ntwo"},
		"in JSON":                {userPromptSubmit, []Hook{{Line: `echo '{"hookSpecificOutput":{"additionalContext":"on branch y"}}'`}}, "on branch y"},
		"JSON that is a verdict": {userPromptSubmit, []Hook{{Line: `echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`}}, ""},
		"another event":          {"Stop", []Hook{{Line: "echo no"}}, ""},
		"fails":                  {userPromptSubmit, []Hook{{Line: "echo no; exit 1"}}, ""},
		"another one blocks":     {userPromptSubmit, []Hook{{Line: "echo no"}, {Line: "exit 2"}}, ""},
		"too much":               {userPromptSubmit, []Hook{{Line: "head -c 60000 /dev/zero | tr '\\0' x"}}, strings.Repeat("x", maxSaid) + "\n(cut off)"},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range c.hooks {
				c.hooks[i].Event = c.event
			}
			p := at(t, c.hooks...)
			p.Ask(t.Context(), c.event, "", nil)
			if got := p.Said(); got != c.want {
				t.Errorf("said %.200q, want %.200q", got, c.want)
			}
			if got := p.Said(); got != "" {
				t.Errorf("said again %.200q", got)
			}
		})
	}
}
