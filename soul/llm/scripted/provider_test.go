package scripted_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/scripted"
)

var model = llm.Model{Name: "scripted_echo", ContextSize: 100000}

// transcript runs one call and prints its deltas a line each, and its error last.
func transcript(ctx context.Context, p llm.Provider, req *llm.Request) string {
	var b strings.Builder
	for d, err := range p.Stream(ctx, req) {
		if err != nil {
			fmt.Fprintln(&b, describe(err))
			continue
		}
		switch d.Kind {
		case llm.DeltaText:
			fmt.Fprintf(&b, "text %q\n", d.Text)
		case llm.DeltaThink:
			fmt.Fprintf(&b, "think %q\n", d.Text)
		case llm.DeltaPart:
			fmt.Fprintf(&b, "part %s %q %s\n", d.Part.Type, d.Part.Media.URL, optional(d.Part.Media.ID))
		case llm.DeltaCall:
			fmt.Fprintf(&b, "call %d %q %q %s %s\n", d.Index, d.Call.ID, d.Call.Name, optional(d.Call.Arguments), d.Call.Extras)
		case llm.DeltaCallPart:
			fmt.Fprintf(&b, "callpart %d %s\n", d.Index, optional(d.Arguments))
		case llm.DeltaUsage:
			fmt.Fprintf(&b, "usage %+v\n", d.Usage)
		case llm.DeltaID:
			fmt.Fprintf(&b, "id %q\n", d.Text)
		case llm.DeltaFinish:
			fmt.Fprintf(&b, "finish %s\n", d.Finish)
		}
	}
	return b.String()
}

func describe(err error) string {
	var e *llm.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("error kind=%d status=%d %s", e.Kind, e.Status, e.Message)
	}
	return "error " + err.Error()
}

func optional(s *string) string {
	if s == nil {
		return "nil"
	}
	return fmt.Sprintf("%q", *s)
}

func TestScripts(t *testing.T) {
	lines := func(l ...string) string { return strings.Join(l, "\n") + "\n" }
	for _, tt := range []struct {
		name, script, want string
	}{
		{"text", "text: Hello", lines(`text "Hello"`, "finish stop")},
		{"only one space is dropped", "text:  x", lines(`text " x"`, "finish stop")},
		{"no space", "text:x", lines(`text "x"`, "finish stop")},
		{"quotes", "text: \"a b \"\ntext: 'c'\ntext: \"d'\ntext: \"\ntext: \\n", lines(`text "a b "`, `text "c"`, `text "\"d'"`, `text "\""`, `text "\\n"`, "finish stop")},
		{"skipped lines", "\n# note: x\n```yaml\necho\nECHO\n  \n\ttext: a  \n```", lines(`text "a"`, "finish stop")},
		{"kind is lower-cased", "TEXT : a", lines(`text "a"`, "finish stop")},
		{"python line ends", "text: a\vtext: b\u2028text: c\r\ntext: d\x1dtext: e\u0085text: f\rtext: g", lines(
			`text "a"`, `text "b"`, `text "c"`, `text "d"`, `text "e"`, `text "f"`, `text "g"`, "finish stop")},
		{"empty text is a part", "text:", lines(`text ""`, "finish stop")},
		{"id, last wins", "id: a\nid: 'b c'\ntext: x", lines(`id "b c"`, `text "x"`, "finish stop")},
		{"usage object", `usage: {"input_other": 10, "output": 2}` + "\ntext: x", lines(`text "x"`, "usage {InputOther:10 Output:2 InputCacheRead:0 InputCacheCreation:0}", "finish stop")},
		{"usage tokens", "usage: input_other=1_0, output=+2,input_cache_read=3.9 input_cache_creation=true\ntext: x", lines(
			`text "x"`, "usage {InputOther:10 Output:2 InputCacheRead:3 InputCacheCreation:1}", "finish stop")},
		{"usage strings", `usage: {"output": " 7 ", "input_other": false}` + "\ntext: x", lines(`text "x"`, "usage {InputOther:0 Output:7 InputCacheRead:0 InputCacheCreation:0}", "finish stop")},
		{"media", "image_url: https://e/x.png\naudio_url: \"https://e/a\"\nvideo_url: {\"url\":\"u\",\"id\":\"i\"}\nimage_url: {\"url\":\"v\",\"id\":null}", lines(
			`part image_url "https://e/x.png" nil`, `part audio_url "https://e/a" nil`, `part video_url "u" "i"`, `part image_url "v" nil`, "finish stop")},
		{"call", `tool_call: {"id":"c1","name":"Read","arguments":"{}","extras":{"a":1}}`, lines(`call 0 "c1" "Read" "{}" {"a":1}`, "finish tool_calls")},
		{"call of function", `tool_call: {"id":"c1","name":"","function":{"name":"Read","arguments":"x","extras":{}}}`, lines(`call 0 "c1" "Read" "x" {}`, "finish tool_calls")},
		{"call of tokens", "tool_call: id=c1 name=Read arguments=none", lines(`call 0 "c1" "Read" nil `, "finish tool_calls")},
		{"calls in pieces", lines(
			"text: go", "tool_call: id=a name=A", `tool_call_part: {"arguments_part": "{\"x\""}`, `tool_call_part: ":1}"`,
			"tool_call: id=b name=B", "tool_call_part: null", "tool_call_part:", "tool_call_part: NONE", `tool_call_part: {"arguments_part": ""}`, "tool_call_part: raw text",
			`tool_call_part: {"arguments_part": {"k": ["é", 1.0]}}`, `tool_call_part: [1, 2]`), lines(
			`text "go"`, `call 0 "a" "A" nil `, `callpart 0 "{\"x\""`, `callpart 0 ":1}"`,
			`call 1 "b" "B" nil `, "callpart 1 nil", "callpart 1 nil", "callpart 1 nil", "callpart 1 nil", `callpart 1 "raw text"`,
			`callpart 1 "{\"k\":[\"\\u00e9\",1.0]}"`, `callpart 1 "[1,2]"`, "finish tool_calls")},
		{"orphan part", "tool_call: id=a name=A\ntext: x\ntool_call_part: y", lines(`call 0 "a" "A" nil `, `text "x"`, `callpart -1 "y"`, "finish tool_calls")},
		{"finish", "text: x\nfinish: length", lines(`text "x"`, "finish length")},
		{"finish after thinking alone", "think: x\nfinish: content_filter", lines(`think "x"`, "finish content_filter")},

		{"status", "error: 401 Token expired", lines("error kind=1 status=401 Token expired")},
		{"status alone", "error: 429", lines("error kind=4 status=429 Simulated 429 error")},
		{"connection", "error: Connection  gone ", lines("error kind=8 status=0 gone")},
		{"connection alone", "error: connection", lines("error kind=8 status=0 Simulated connection error")},
		{"timeout", "error: timeout", lines("error kind=7 status=0 Simulated timeout error")},
		{"an error prevents all parts", "text: x\nerror: 500 boom", lines("error kind=6 status=500 boom")},
		{"empty error", "error: ", lines(`error kind=0 status=0 Empty error payload at line 1: 'error: '`)},
		{"unknown error", "error: it's", lines(`error kind=0 status=0 Invalid error spec at line 1: expected status code or 'connection'/'timeout', got "it's"`)},
		{"no colon", "\n bad \"it's\"\té\u00a0line", lines(`error kind=0 status=0 Invalid echo DSL at line 2: ' bad "it\'s"\té\xa0line'`)},
		{"unknown kind", "what: x", lines(`error kind=0 status=0 Unknown echo DSL kind 'what' at line 1: 'what: x'`)},
		{"usage null", "usage: output=null\ntext: x", lines("error kind=0 status=0 Usage field 'output' must be an integer, got None")},
		{"usage list", `usage: {"output": [1, {"a": true}, {}, "b"]}`, lines("error kind=0 status=0 Usage field 'output' must be an integer, got [1, {'a': True}, {}, 'b']")},
		{"usage text", "usage: output=x_", lines("error kind=0 status=0 Usage field 'output' must be an integer, got 'x_'")},
		{"usage not an object", "usage: [1]", lines("error kind=0 status=0 usage payload must be an object, got [1]")},
		{"usage empty", "usage:", lines("error kind=0 status=0 usage payload cannot be empty.")},
		{"usage token", "usage: x", lines("error kind=0 status=0 Invalid token 'x' in usage payload.")},
		{"media without url", `image_url: {"id": "x"}`, lines("error kind=0 status=0 image_url requires a url field, got {'id': 'x'}")},
		{"media id", `image_url: {"url": "x", "id": 1}`, lines("error kind=0 status=0 image_url id must be a string when provided.")},
		{"media value", `video_url: 12`, lines("error kind=0 status=0 video_url expects url string or object, got 12")},
		{"media nothing", `video_url:`, lines("error kind=0 status=0 video_url expects url string or object, got None")},
		{"call without id", "tool_call: name=x", lines("error kind=0 status=0 tool_call requires string id and name at line 1: 'tool_call: name=x'")},
		{"call arguments", `tool_call: {"id":"a","name":"b","arguments":{}}`, lines("error kind=0 status=0 tool_call.arguments must be a string at line 1, got dict")},
		{"call part number", "tool_call_part: 12", lines("error kind=0 status=0 tool_call_part must be text, an object or null at line 1, got int")},
		{"finish unknown", "finish: now", lines("error kind=0 status=0 Invalid finish at line 1: expected stop, tool_calls, length or content_filter, got 'now'")},
		{"sleep unknown", "sleep: -1s", lines("error kind=0 status=0 Invalid sleep at line 1: expected a duration from 0s to 1h like 20ms, got '-1s'")},
		{"nothing", "id: x\nsleep: 1ms", lines("error kind=0 status=0 ScriptedEchoChatProvider DSL produced no streamable parts.")},
		{"thinking alone", "think: x\ntext:  ", lines(`think "x"`, `text ""`, "error kind=9 status=0 The API returned a response containing only thinking content without any text or tool calls. This usually indicates the stream was interrupted or the output token budget was exhausted during reasoning.")},
		{"orphan alone", "tool_call_part: x", lines(`callpart -1 "x"`, "error kind=9 status=0 The API returned an empty response.")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := transcript(t.Context(), scripted.New([]string{tt.script}, model), nil)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScriptsAreUsedInOrder(t *testing.T) {
	var trace bytes.Buffer
	p := scripted.New([]string{"text: a", "bad", "text: é<𝄞\x7f"}, model, scripted.WithTrace(&trace))
	var got string
	for range 4 {
		got += transcript(t.Context(), p, nil)
	}
	want := "text \"a\"\nfinish stop\n" +
		"error kind=0 status=0 Invalid echo DSL at line 1: 'bad'\n" +
		"text \"é<𝄞\\x7f\"\nfinish stop\n" +
		"error kind=0 status=0 ScriptedEchoChatProvider exhausted at turn 4.\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantTrace := `SCRIPTED_ECHO TURN 1: "text: a"` + "\n" + `SCRIPTED_ECHO TURN 2: "bad"` + "\n" +
		`SCRIPTED_ECHO TURN 3: "text: \u00e9<\ud834\udd1e\u007f"` + "\n"
	if diff := cmp.Diff(wantTrace, trace.String()); diff != "" {
		t.Error(diff)
	}
	if p.Model() != model {
		t.Errorf("Model() = %+v", p.Model())
	}
}

func TestCallsSideBySideTakeOneScriptEach(t *testing.T) {
	const n = 50
	scripts := make([]string, n)
	for i := range scripts {
		scripts[i] = fmt.Sprintf("text: %d", i)
	}
	p := scripted.New(scripts, model, scripted.WithTrace(io.Discard))
	seen := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { seen[i] = transcript(t.Context(), p, nil) })
	}
	wg.Wait()
	distinct := map[string]bool{}
	for _, s := range seen {
		distinct[s] = true
	}
	if len(distinct) != n {
		t.Errorf("%d of %d scripts were played", len(distinct), n)
	}
}

func TestSleepPausesAndHonoursTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		got := transcript(t.Context(), scripted.New([]string{"text: a\nsleep: 20ms\ntext: b"}, model), nil)
		if got != "text \"a\"\ntext \"b\"\nfinish stop\n" || time.Since(start) != 20*time.Millisecond {
			t.Errorf("after %v: %s", time.Since(start), got)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		got = transcript(ctx, scripted.New([]string{"text: a\nsleep: 1h\ntext: b"}, model), nil)
		if got != "text \"a\"\nerror context deadline exceeded\n" || time.Since(start) != time.Second {
			t.Errorf("after %v: %s", time.Since(start), got)
		}
	})
}

func TestAnEndedContextTakesNoScript(t *testing.T) {
	p := scripted.New([]string{"text: a"}, model)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := transcript(ctx, p, nil); got != "error context canceled\n" {
		t.Error(got)
	}
	if got := transcript(t.Context(), p, nil); got != "text \"a\"\nfinish stop\n" {
		t.Error(got)
	}
}

func TestTheReaderMayStopAnywhere(t *testing.T) {
	const script = "id: i\nusage: output=1\ntext: a\ntool_call: id=c name=N"
	for stop := 1; stop <= 5; stop++ {
		n := 0
		for range scripted.New([]string{script}, model).Stream(t.Context(), nil) {
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("stopped after %d deltas, want %d", n, stop)
		}
	}
}

func TestEcho(t *testing.T) {
	user := llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text("text: a\nte"), llm.Image("x"), llm.Text("xt: b")}}
	for _, tt := range []struct {
		name     string
		messages []llm.Message
		want     string
	}{
		{"parts are joined", []llm.Message{user}, "text \"a\"\ntext \"b\"\nfinish stop\n"},
		{"no history", nil, "error kind=0 status=0 EchoChatProvider requires at least one message in history.\n"},
		{"not the user", []llm.Message{user, {Role: llm.RoleTool}}, "error kind=0 status=0 EchoChatProvider expects the last history message to be user.\n"},
		{"nothing", []llm.Message{{Role: llm.RoleUser, Content: []llm.Part{llm.Text("# x")}}}, "error kind=0 status=0 EchoChatProvider DSL produced no streamable parts.\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := scripted.NewEcho(llm.Model{Name: "echo"})
			if got := transcript(t.Context(), e, &llm.Request{Messages: tt.messages}); got != tt.want {
				t.Errorf("got %s want %s", got, tt.want)
			}
			if e.Model().Name != "echo" {
				t.Errorf("Model() = %+v", e.Model())
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := transcript(ctx, scripted.NewEcho(model), &llm.Request{}); got != "error context canceled\n" {
		t.Error(got)
	}
}

func FuzzScript(f *testing.F) {
	f.Add("text: a\nid: b\nusage: output=1")
	f.Add("tool_call: {\"id\":\"a\",\"name\":\"b\"}\ntool_call_part: {\"arguments_part\":[1,{\"a\":null}]}")
	f.Add("error: 4_01 x\x85image_url: {\"url\":1}")
	f.Add("usage: {\"output\":1e99}")
	f.Fuzz(func(t *testing.T, script string) {
		if strings.Contains(strings.ToLower(script), "sleep") {
			t.Skip("would wait")
		}
		ended := false
		for d, err := range scripted.New([]string{script}, model).Stream(t.Context(), nil) {
			if ended {
				t.Fatal("the sequence went on after its end")
			}
			ended = err != nil || d.Kind == llm.DeltaFinish
		}
		if !ended {
			t.Fatal("the sequence ended without an error and without DeltaFinish")
		}
	})
}
