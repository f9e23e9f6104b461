package wirecmd

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"kimi-acp/internal/screen"
	"kimi-acp/soul/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// recording is what the sessions of these tests hold, in kimi-cli's form.
const recording = `{"type": "metadata", "protocol_version": "1.10"}
{"timestamp": 0, "message": {"type": "TurnBegin", "payload": {"user_input": "look <b>"}}}
{"timestamp": 0, "message": {"type": "ToolCall", "payload": {"type": "function", "id": "a", "function": {"name": "Shell", "arguments": "{\"command\": \"ls\"}"}, "extras": null}}}
{"timestamp": 0, "message": {"type": "ToolResult", "payload": {"tool_call_id": "a", "return_value": {"is_error": true, "output": "1\n2\n3\n4\n5\n6\n7\n", "message": "It failed.", "display": [], "extras": null}}}}
{"timestamp": 0, "message": {"type": "ToolCallRequest", "payload": {"id": "q", "name": "ext", "arguments": "{}"}}}
{"timestamp": 0, "message": {"type": "TurnEnd", "payload": {}}}
`

// newStore makes a session with a recording.
func newStore(t *testing.T, text string) (st *session.Store, path string) {
	t.Helper()
	st = session.NewStore(t.TempDir())
	s, err := st.Create("/proj", "talk-1")
	check(t, err)
	check(t, s.Close())
	r, err := st.Read("", "talk-1")
	check(t, err)
	check(t, r.Close())
	path = filepath.Join(r.Dir(), "wire.jsonl")
	check(t, os.WriteFile(path, []byte(text), 0o600))
	return st, path
}

func options(st *session.Store, out, errs io.Writer) Options {
	return Options{Store: st, Out: out, Err: errs, Screen: func(columns int) *screen.Screen { return screen.New(out, false, columns) }}
}

func run(t *testing.T, st *session.Store, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = Run(t.Context(), args, options(st, &stdout, &stderr))
	return code, stdout.String(), stderr.String()
}

func TestLog(t *testing.T) {
	st, _ := newStore(t, recording+"nonsense\n"+`{"timestamp": 0, "message": {"type": "Hologram", "payload": {"n": 1}}}`+"\n")
	tests := []struct{ line, want string }{
		{"log talk --width 60", `     2  --:--:--.---  TurnBegin         {"user_input": "loo…
     3  --:--:--.---  ToolCall          {"type": "function"…
     4  --:--:--.---  ToolResult        {"tool_call_id": "a…
     5  --:--:--.---  ToolCallRequest   {"id": "q", "name":…
     6  --:--:--.---  TurnEnd           {}
     7  --:--:--.---  (damaged)         it holds no message…
     8  --:--:--.---  Hologram          unknown message typ…
`},
		{"log talk --type TurnEnd,TurnBegin --json", `{"type": "TurnBegin", "payload": {"user_input": "look <b>"}}
{"type": "TurnEnd", "payload": {}}
`},
		{"log --count talk --type TurnEnd,Hologram", "" +
			"      1          41 bytes  Hologram\n" +
			"      1          34 bytes  TurnEnd\n" +
			"      2          75 bytes  in all\n"},
	}
	for _, tt := range tests {
		code, out, errs := run(t, st, strings.Fields(tt.line)...)
		if diff := cmp.Diff(tt.want, out); diff != "" || code != 0 || errs != "" {
			t.Errorf("%s: code %d, %s\n%s", tt.line, code, errs, diff)
		}
	}
}

func TestReplay(t *testing.T) {
	st, path := newStore(t, recording)
	code, out, errs := run(t, st, "replay", "talk", "--width", "60")
	want := "\n▌ You\n  look <b>\n\n▌ Tool  `ls`\n  ✗ It failed.\n  1\n  2\n  3\n  4\n  5\n  … 2 more lines\n\n  — the turn ended\n"
	if diff := cmp.Diff(want, out); diff != "" || code != 0 {
		t.Errorf("code %d, %s\n%s", code, errs, diff)
	}
	_, out, _ = run(t, st, "replay", "talk", "--json")
	lines := strings.SplitAfter(out, "\n")
	if lines[0] != `{"jsonrpc":"2.0","method":"event","params":{"type":"TurnBegin","payload":{"user_input":"look <b>"}}}`+"\n" {
		t.Errorf("began with %s", lines[0])
	}
	if lines[3] != `{"jsonrpc":"2.0","method":"request","id":"q","params":{"type":"ToolCallRequest","payload":{"id":"q","name":"ext","arguments":"{}"}}}`+"\n" {
		t.Errorf("a request is %s", lines[3])
	}
	check(t, os.WriteFile(path, []byte(recording+"nonsense\n"), 0o600))
	if code, _, errs := run(t, st, "replay", "talk", "--json"); code != 1 || !strings.Contains(errs, "1 lines hold no message") {
		t.Errorf("with a damaged line: code %d, %s", code, errs)
	}
}

func TestFollow(t *testing.T) {
	st, path := newStore(t, recording)
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	done := make(chan int)
	go func() {
		done <- Run(ctx, []string{"log", "talk", "--follow", "--json", "--type", "TurnEnd"}, options(st, out, io.Discard))
	}()
	lines := json.NewDecoder(in)
	var m struct{ Type string }
	check(t, lines.Decode(&m))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	check(t, err)
	_, err = f.WriteString(strings.SplitAfterN(recording, "\n", 2)[1])
	check(t, err)
	check(t, f.Close())
	check(t, lines.Decode(&m))
	if m.Type != "TurnEnd" {
		t.Errorf("followed %q", m.Type)
	}
	stop()
	if code := <-done; code != 0 {
		t.Errorf("it ended with %d", code)
	}
}

func TestUsage(t *testing.T) {
	st, _ := newStore(t, recording)
	tests := []struct {
		line string
		code int
		errs string
	}{
		{"", 2, "Usage: kimi-acp wire COMMAND"},
		{"serve", 2, "Usage: kimi-acp wire COMMAND"},
		{"help", 0, ""},
		{"log", 2, "name one session"},
		{"log a b", 2, "name one session"},
		{"log nobody", 1, `there is no session "nobody"`},
		{"log talk --count --follow", 1, "contradict"},
		{"log --nonsense", 2, "flag provided but not defined"},
		{"replay --help", 0, "Usage: kimi-acp wire replay"},
	}
	for _, tt := range tests {
		code, _, errs := run(t, st, strings.Fields(tt.line)...)
		if code != tt.code || !strings.Contains(errs, tt.errs) || tt.errs == "" && errs != "" {
			t.Errorf("%q: code %d, %q; want %d, %q", tt.line, code, errs, tt.code, tt.errs)
		}
	}
}
