package wire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// file is a Writer that counts its writes and fails at some of them.
type file struct {
	bytes.Buffer
	writes int
	fails  map[int]int // write (from 1) → bytes that are written before it fails
	short  bool        // fail without an error
}

var errDisk = errors.New("no space left")

func (f *file) Write(p []byte) (int, error) {
	f.writes++
	n, fails := f.fails[f.writes]
	if !fails {
		return f.Buffer.Write(p)
	}
	f.Buffer.Write(p[:n])
	if f.short {
		return n, nil
	}
	return n, errDisk
}

// clock gives times a quarter of a second apart.
func clock() func() time.Time {
	now := time.Unix(1_700_000_000, 0)
	return func() time.Time {
		t := now
		now = now.Add(250 * time.Millisecond)
		return t
	}
}

func TestRecorderBytes(t *testing.T) {
	var f file
	w := wire.New()
	w.Attach(wire.Merged, wire.NewRecorder(&f, wire.Recording{Empty: true, Now: clock()}))
	for _, e := range []wire.Event{
		wire.TurnBegin{UserInput: wire.UserInput{Text: `a,b:"c\",{x:1}<é>`}},
		wire.StepBegin{N: 1},
		text("one, "),
		wire.ToolProgress{Name: "t"},
		text("two: \\"),
		wire.StatusUpdate{ContextUsage: ptr(0.5)},
		wire.Notification{Payload: json.RawMessage(`{"a" : [1 , {}], "b,": []}`)},
		wire.TurnEnd{},
	} {
		w.Send(e)
	}
	w.Close()
	want := `{"type": "metadata", "protocol_version": "1.10"}
{"timestamp": 1700000000.0, "message": {"type": "TurnBegin", "payload": {"user_input": "a,b:\"c\\\",{x:1}<é>"}}}
{"timestamp": 1700000000.25, "message": {"type": "StepBegin", "payload": {"n": 1}}}
{"timestamp": 1700000000.5, "message": {"type": "ContentPart", "payload": {"type": "text", "text": "one, two: \\"}}}
{"timestamp": 1700000000.75, "message": {"type": "StatusUpdate", "payload": {"context_usage": 0.5, "context_tokens": null, "max_context_tokens": null, "token_usage": null, "message_id": null, "plan_mode": null, "mcp_status": null}}}
{"timestamp": 1700000001.0, "message": {"type": "Notification", "payload": {"id": "", "category": "", "type": "", "source_kind": "", "source_id": "", "title": "", "body": "", "severity": "", "created_at": 0, "payload": {"a": [1, {}], "b,": []}}}}
{"timestamp": 1700000001.25, "message": {"type": "TurnEnd", "payload": {}}}
`
	if diff := cmp.Diff(want, f.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if lines := strings.Count(want, "\n"); f.writes != lines {
		t.Errorf("%d writes for %d lines", f.writes, lines)
	}
}

func TestRecorderGoesOnWithAFile(t *testing.T) {
	var f file
	r := wire.NewRecorder(&f, wire.Recording{Now: clock()})
	r.Receive(wire.ToolProgress{})
	r.Receive(wire.TurnEnd{})
	want := `{"timestamp": 1700000000.0, "message": {"type": "TurnEnd", "payload": {}}}` + "\n"
	if f.String() != want {
		t.Errorf("got %q, want %q", f.String(), want)
	}
}

func TestRecorderClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f file
		wire.NewRecorder(&f, wire.Recording{}).Receive(wire.TurnEnd{})
		if want := `{"timestamp": 946684800.0, `; !strings.HasPrefix(f.String(), want) {
			t.Errorf("got %s, want it to begin with %s", f.String(), want)
		}
	})
}

func TestRecorderAfterAFailure(t *testing.T) {
	begin, end := wire.TurnBegin{}, wire.TurnEnd{}
	step := func(n int) wire.StepBegin { return wire.StepBegin{N: n} }
	bad := wire.ContentPart{Part: llm.Part{Type: "odour"}}
	for _, tt := range []struct {
		name   string
		empty  bool
		fails  map[int]int
		short  bool
		send   []wire.Event
		want   []string // what the file holds, shortened
		failed []string // what was reported, shortened
	}{
		{
			name: "the rest of the turn", fails: map[int]int{2: 0},
			send:   []wire.Event{begin, step(1), step(2), end, begin, step(3), end},
			want:   []string{"TurnBegin", "TurnBegin", "StepBegin 3", "TurnEnd"},
			failed: []string{"record StepBegin: no space left"},
		},
		{
			name: "a torn line is ended", fails: map[int]int{1: 9},
			send:   []wire.Event{begin, step(1), end, begin, end},
			want:   []string{`{"timesta`, "TurnBegin", "TurnEnd"},
			failed: []string{"record TurnBegin: no space left"},
		},
		{
			name: "a short write is a failure", fails: map[int]int{1: 9}, short: true,
			send:   []wire.Event{begin, end, begin},
			want:   []string{`{"timesta`, "TurnBegin"},
			failed: []string{"record TurnBegin: short write"},
		},
		{
			name: "each turn is reported", fails: map[int]int{1: 0, 2: 0},
			send:   []wire.Event{begin, end, begin, end, begin},
			want:   []string{"TurnBegin"},
			failed: []string{"record TurnBegin: no space left", "record TurnBegin: no space left"},
		},
		{
			name: "an inner turn does not end it", fails: map[int]int{1: 0},
			send:   []wire.Event{begin, begin, end, step(1), end, begin},
			want:   []string{"TurnBegin"},
			failed: []string{"record TurnBegin: no space left"},
		},
		{
			name: "a turn whose end fails is over", fails: map[int]int{2: 0},
			send:   []wire.Event{begin, end, step(1)},
			want:   []string{"TurnBegin", "StepBegin 1"},
			failed: []string{"record TurnEnd: no space left"},
		},
		{
			name: "before the turn", fails: map[int]int{1: 0},
			send:   []wire.Event{wire.HookTriggered{}, begin, end, begin},
			want:   []string{"TurnBegin"},
			failed: []string{"record HookTriggered: no space left"},
		},
		{
			name: "the header comes later", empty: true, fails: map[int]int{1: 3},
			send:   []wire.Event{begin, end, begin},
			want:   []string{`{"t`, "metadata", "TurnBegin"},
			failed: []string{"record TurnBegin: no space left"},
		},
		{
			name:   "a message without a form",
			send:   []wire.Event{begin, bad, end, begin},
			want:   []string{"TurnBegin", "TurnBegin"},
			failed: []string{`record ContentPart: encode ContentPart: content part: unknown type "odour"`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &file{fails: tt.fails, short: tt.short}
			var failed []string
			r := wire.NewRecorder(f, wire.Recording{
				Empty: tt.empty, Now: clock(),
				Failed: func(err error) { failed = append(failed, err.Error()) },
			})
			for _, e := range tt.send {
				r.Receive(e)
			}
			if diff := cmp.Diff(tt.want, shortened(f.String())); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.failed, failed); diff != "" {
				t.Errorf("reports (-want +got):\n%s", diff)
			}
		})
	}
	r := wire.NewRecorder(&file{fails: map[int]int{1: 0}}, wire.Recording{})
	r.Receive(begin) // without a callback
}

// shortened gives the type of each line, and the step's number.
func shortened(lines string) []string {
	var out []string
	for line := range strings.Lines(lines) {
		line = strings.TrimSuffix(line, "\n")
		var record struct {
			Type    string `json:"type"`
			Message struct {
				Type    string `json:"type"`
				Payload struct {
					N json.Number `json:"n"`
				} `json:"payload"`
			} `json:"message"`
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			out = append(out, line)
			continue
		}
		out = append(out, strings.TrimSpace(record.Type+record.Message.Type+" "+record.Message.Payload.N.String()))
	}
	return out
}

func TestRecorderSkipsServedTools(t *testing.T) {
	var f file
	w := wire.New()
	w.Attach(wire.Merged, wire.NewRecorder(&f, wire.Recording{}))
	w.HandleTools(&handler{})
	if _, err := w.CallTool(t.Context(), wire.ToolCallRequest{ID: "1", Name: "mine"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.Attach(wire.Raw, wire.ViewFunc(func(wire.Message) { cancel() }))
	if _, err := w.CallTool(ctx, wire.ToolCallRequest{ID: "2", Name: "theirs"}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ToolCallRequest"}, shortened(f.String())); diff != "" || !strings.Contains(f.String(), "theirs") {
		t.Errorf("recorded %s", f.String())
	}
}

// TestRecorderLinesMeanTheSame checks on any text that the spacing changes the form
// and not the value, and that it is one line.
func TestRecorderLinesMeanTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[\\",:{}\[\] a]*`)).Draw(t, "text")
		data, err := json.Marshal(map[string]any{s: []any{s, 1.5, nil, map[string]any{}}})
		if err != nil {
			t.Fatal(err)
		}
		m := wire.Notification{Title: s, Payload: data}
		var f file
		wire.NewRecorder(&f, wire.Recording{}).Receive(m)
		line, err := f.ReadString('\n')
		if err != nil || f.Len() != 0 {
			t.Fatalf("not one line: %q", line)
		}
		var record struct {
			Message json.RawMessage `json:"message"`
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		back, err := wire.Decode(record.Message)
		if err != nil {
			t.Fatal(err)
		}
		want, errWant := wire.Encode(m)
		got, errGot := wire.Encode(back)
		if errWant != nil || errGot != nil || !bytes.Equal(want, got) {
			t.Fatalf("got %s (%v), want %s (%v)", got, errGot, want, errWant)
		}
	})
}
