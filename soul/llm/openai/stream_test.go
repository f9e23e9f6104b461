package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/internal/modeltest"
	"kimi-acp/soul/llm"
)

const testKey = "sk-test-0123456789"

// open makes a provider that is closed with the test.
func open(t *testing.T, cfg Config) *Provider {
	t.Helper()
	if cfg.Model.Name == "" {
		cfg.Model = llm.Model{Name: "m", ContextSize: 1000}
	}
	cfg.APIKey = testKey
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func hello() *llm.Request {
	return &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Part{llm.Text("hi")}}}}
}

var kindNames = map[llm.Kind]string{
	llm.KindUnknown: "unknown", llm.KindAuth: "auth", llm.KindPermission: "permission", llm.KindBilling: "billing",
	llm.KindRateLimit: "rate limit", llm.KindOverloaded: "overloaded", llm.KindServer: "server", llm.KindTimeout: "timeout",
	llm.KindConnection: "connection", llm.KindEmpty: "empty", llm.KindMalformed: "malformed", llm.KindStalled: "stalled",
	llm.KindOverflow: "overflow", llm.KindContentFilter: "content filter", llm.KindUnknownModel: "unknown model",
	llm.KindBadRequest: "bad request", llm.KindBadImage: "bad image",
}

var madeUpID = regexp.MustCompile(`^call_[A-Z2-7]{26}$`)

// transcript makes one call and prints its deltas a line each, and its error last.
func transcript(ctx context.Context, p *Provider, req *llm.Request) string {
	var b strings.Builder
	ids := map[string]bool{}
	for d, err := range p.Stream(ctx, req) {
		switch {
		case err != nil:
			b.WriteString(describe(err))
		case d.Kind == llm.DeltaText:
			fmt.Fprintf(&b, "text %q\n", d.Text)
		case d.Kind == llm.DeltaThink:
			fmt.Fprintf(&b, "think %q\n", d.Text)
		case d.Kind == llm.DeltaCall:
			id := d.Call.ID
			if ids[id] {
				id += " (twice)"
			}
			ids[id] = true
			if madeUpID.MatchString(id) {
				id = "<made up>"
			}
			fmt.Fprintf(&b, "call %d %s %s %s\n", d.Index, id, d.Call.Name, quoted(d.Call.Arguments)+string(d.Call.Extras))
		case d.Kind == llm.DeltaCallPart:
			fmt.Fprintf(&b, "part %d %s\n", d.Index, quoted(d.Arguments))
		case d.Kind == llm.DeltaUsage:
			fmt.Fprintf(&b, "usage %d+%d -> %d\n", d.Usage.InputOther, d.Usage.InputCacheRead, d.Usage.Output)
		case d.Kind == llm.DeltaID:
			fmt.Fprintf(&b, "id %s\n", d.Text)
		case d.Kind == llm.DeltaFinish:
			fmt.Fprintf(&b, "finish %s\n", d.Finish)
		}
	}
	return b.String()
}

func describe(err error) string {
	var e *llm.Error
	if !errors.As(err, &e) {
		return "error " + err.Error() + "\n"
	}
	s := kindNames[e.Kind]
	if e.Status != 0 {
		s += fmt.Sprintf(" %d", e.Status)
	}
	if e.RetryAfter != 0 {
		s += fmt.Sprintf(" after %v", e.RetryAfter)
	}
	return s + ": " + e.Message + "\n"
}

func quoted(s *string) string {
	if s == nil {
		return "nil"
	}
	return fmt.Sprintf("%q", *s)
}

func toolDelta(format string, args ...any) modeltest.Part {
	return modeltest.Delta(`{"tool_calls":[`+format+`]}`, args...)
}

func TestStreams(t *testing.T) {
	lines := func(l ...string) string { return strings.Join(l, "\n") + "\n" }
	const id = "id chatcmpl-1"
	raw := modeltest.Lines
	for _, tt := range []struct {
		name  string
		reply modeltest.Reply
		want  string
	}{
		{"text, thinking, usage after finish", modeltest.Reply{
			Parts: []modeltest.Part{modeltest.ThinkPieces("ab", 1), modeltest.TextPieces("Hé llo", 3)},
			Usage: &modeltest.Usage{Prompt: 10, Cached: 4, Completion: 2},
		}, lines(id, `think "a"`, `think "b"`, `text "Hé"`, `text " ll"`, `text "o"`, "usage 6+4 -> 2", "finish stop")},
		{"runes split across writes", modeltest.Reply{
			Parts: []modeltest.Part{modeltest.Text("日本語 \U0001F600 <&>")}, WriteSize: 1,
		}, lines(id, `text "日本語 😀 <&>"`, "finish stop")},
		{
			"escaped runes",
			modeltest.Reply{Parts: []modeltest.Part{modeltest.Delta(`{"content":"\u65e5\ud83d\ude00\n\"\\\/"}`)}},
			lines(id, `text "日😀\n\"\\/"`, "finish stop"),
		},
		{"empty thinking is told once and first", modeltest.Reply{Parts: []modeltest.Part{
			modeltest.Delta(`{"role":"assistant","content":"","reasoning_content":""}`), modeltest.Delta(`{"content":"a","reasoning_content":""}`),
		}}, lines(id, `think ""`, `text "a"`, "finish stop")},
		{
			"no empty thinking after text",
			modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("a"), modeltest.Think("")}},
			lines(id, `text "a"`, "finish stop"),
		},
		{"other names and forms", modeltest.Reply{Parts: []modeltest.Part{
			modeltest.Delta(`{"reasoning":"r","content":null}`), modeltest.Delta(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`),
			modeltest.Delta(`{"refusal":"no","tool_calls":null}`),
		}}, lines(id, `think "r"`, `text "ab"`, `text "no"`, "finish stop")},
		{"length", modeltest.Reply{Parts: []modeltest.Part{modeltest.Think("a")}, Finish: "length"}, lines(id, `think "a"`, "finish length")},
		{"filtered", modeltest.Reply{Finish: "content_filter"}, lines(id, "finish content_filter")},
		{"unknown finish", modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("a")}, Finish: "eos"}, lines(id, `text "a"`, "finish stop")},
		{
			"failed finish",
			modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("a")}, Finish: "network_error"},
			lines(id, `text "a"`, "server: the provider failed in the middle of its answer"),
		},
		{
			"no capacity finish",
			modeltest.Reply{Finish: "insufficient_system_resource"},
			lines(id, "overloaded: the provider ran out of capacity in the middle of its answer"),
		},
		{"finish before the last delta", modeltest.Reply{Parts: []modeltest.Part{
			raw(`data: {"choices":[{"delta":{"content":"a"},"finish_reason":"length"}]}`), modeltest.Text("b"),
		}, NoFinish: true}, lines(`text "a"`, id, `text "b"`, "finish length")},
		{"no blank after the colon, no [DONE], no last line end", modeltest.Reply{
			Body:   "data:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\ndata:{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}",
			Header: http.Header{"Content-Type": {"text/event-stream"}},
		}, lines(`text "a"`, "finish stop")},
		{"comments and fields", modeltest.Reply{Parts: []modeltest.Part{
			modeltest.Comments(2000), raw("event: message", "id: 1", "retry: 3", "data:", "data: "), modeltest.Text("a"), modeltest.Comments(400),
		}}, lines(id, `text "a"`, "finish stop")},
		{"usage in the choice, cached at the top", modeltest.Reply{Parts: []modeltest.Part{
			raw(`data: {"choices":[{"delta":{"content":"a"},"usage":{"prompt_tokens":9,"completion_tokens":3,"cached_tokens":5}}]}`),
		}}, lines(`text "a"`, id, "usage 4+5 -> 3", "finish stop")},
		{"the last usage wins, strange ones are passed over", modeltest.Reply{Parts: []modeltest.Part{
			modeltest.Text("a"), raw(`data: {"choices":[],"usage":{"prompt_tokens":1}}`, `data: {"choices":[],"usage":{"prompt_tokens":7,"cached_tokens":9}}`, `data: {"choices":[],"usage":{"prompt_tokens":"x"}}`),
		}}, lines(id, `text "a"`, "usage 0+9 -> 0", "finish stop")},
		{"answer in one piece", modeltest.Reply{
			Body: "{\n \"id\":\"x\",\"choices\":[{\"message\":{\"content\":\"a\",\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"N\",\"arguments\":\"{}\"}}]},\n\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":1}}",
		}, lines("id x", `text "a"`, `call 0 c N "{}"`, "usage 1+0 -> 0", "finish tool_calls")},

		{
			"EOF without finish",
			modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("a")}, NoFinish: true, NoDone: true},
			lines(id, `text "a"`, "connection: the answer broke off before its end"),
		},
		{
			"[DONE] without finish",
			modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("a")}, NoFinish: true},
			lines(id, `text "a"`, "malformed: the answer ended without a finish reason"),
		},
		{"empty body", modeltest.Reply{NoFinish: true, NoDone: true}, lines("empty: the provider sent an empty body")},
		{"comments only", modeltest.Reply{Parts: []modeltest.Part{modeltest.Comments(3)}, NoFinish: true, NoDone: true}, lines("empty: the provider sent an empty body")},
		{"nothing said", modeltest.Reply{Parts: []modeltest.Part{modeltest.Text(" \n")}}, lines(id, `text " \n"`, "empty: the answer holds no text and no tool call")},
		{"thinking only", modeltest.Reply{Parts: []modeltest.Part{modeltest.Think("a")}}, lines(id, `think "a"`, "empty: the answer holds thinking only, no text and no tool call")},
		{"JSON error with 200", modeltest.Reply{Body: `{"error":{"message":"slow down","code":"429"}}`}, lines("rate limit 429: slow down")},
		{"HTML with 200", modeltest.Reply{Body: "<html>\n<p>Log in"}, lines(`malformed: the provider sent something that is no stream of events: "<html> <p>Log in"`)},
		{
			"error event",
			modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("a"), raw(`data: {"error":{"message":"boom","type":"server_error"}}`), modeltest.Stall()}},
			lines(id, `text "a"`, "server: boom"),
		},
		{"error event with a blank", modeltest.Reply{Parts: []modeltest.Part{raw(`data: { "error": {"message":"Overloaded","type":"overloaded_error"}}`)}}, lines("overloaded: Overloaded")},
		{"error event of text", modeltest.Reply{Parts: []modeltest.Part{raw(`data: {"error":"no"}`)}}, lines("server: no")},
		{"error event at the top", modeltest.Reply{Parts: []modeltest.Part{raw("event: error", `data: {"code":503,"message":"later"}`)}}, lines("overloaded 503: later")},
		{
			"error event without a message",
			modeltest.Reply{Parts: []modeltest.Part{raw(`data: {"error":{"x":1}}`)}},
			lines(`server: the provider reported an error: "{ \"error\":{\"x\":1}}"`),
		},
		{
			"error after text and comments, not as an event",
			modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("a"), modeltest.Comments(2), raw(`{"error":{"message":"x","type":"rate_limit_error","code":429}}`)}, NoFinish: true, NoDone: true},
			lines(id, `text "a"`, "rate limit 429: x"),
		},
		{
			"EOF within an event",
			modeltest.Reply{Body: `data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\ndata: {\"cho"},
			lines(`text "a"`, "connection: the answer broke off before its end"),
		},
		{
			"broken JSON",
			modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("a"), raw("data: {\"choices\":[{")}},
			lines(id, `text "a"`, `malformed: the provider sent an event that cannot be read: "{ \"choices\":[{"`),
		},
		{
			"dropped connection",
			modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("a"), modeltest.Text("b")}, DropAfter: 200},
			lines(id, `text "a"`, "connection: the connection to the provider failed: unexpected EOF"),
		},
		{"whole although the connection drops", modeltest.Reply{Parts: []modeltest.Part{
			raw(`data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`), modeltest.Text("bbbbbbbbbbbbbbbbbbbbbb"),
		}, DropAfter: 80}, lines(`text "a"`, "finish stop")},
		{
			"endless line",
			modeltest.Reply{Parts: []modeltest.Part{raw("data: " + strings.Repeat("x", maxLine-5))}},
			lines("malformed: the provider sent a line of more than 8388608 bytes"),
		},
		{
			"long line",
			modeltest.Reply{Parts: []modeltest.Part{modeltest.Text(strings.Repeat("x", 3*readSize))}},
			lines(id, `text "`+strings.Repeat("x", 3*readSize)+`"`, "finish stop"),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t)
			s.Push(tt.reply)
			p := open(t, Config{BaseURL: s.URL()})
			if diff := cmp.Diff(tt.want, transcript(t.Context(), p, hello())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestToolCalls(t *testing.T) {
	lines := func(l ...string) string { return strings.Join(l, "\n") + "\nfinish tool_calls\n" }
	for _, tt := range []struct {
		name  string
		parts []modeltest.Part
		want  string
	}{
		{"whole", []modeltest.Part{modeltest.Call(0, "a", "A", `{"x":1}`)}, lines(`call 0 a A "{\"x\":1}"`)},
		{
			"text and calls",
			[]modeltest.Part{modeltest.Text("t"), modeltest.CallPieces(0, "a", "A", `{"é":1}`, 3), modeltest.Text("u")},
			lines(`text "t"`, `call 0 a A "{\"é"`, `part 0 "\":1"`, `part 0 "}"`, `text "u"`),
		},
		{"side by side, counted from anywhere", []modeltest.Part{
			toolDelta(`{"index":7,"id":"a","function":{"name":"A","arguments":""}},{"index":3,"id":"b","function":{"name":"B","arguments":""}}`),
			toolDelta(`{"index":3,"function":{"arguments":"{"}}`), toolDelta(`{"index":7,"function":{"arguments":"{}"}}`), toolDelta(`{"index":3,"function":{"arguments":"}"}}`),
		}, lines(`call 0 a A nil`, `call 1 b B "{"`, `part 0 "{}"`, `part 1 "}"`)},
		{"no arguments", []modeltest.Part{toolDelta(`{"index":0,"id":"a","function":{"name":"A"}}`)}, lines("call 0 a A nil")},
		{"null arguments", []modeltest.Part{toolDelta(`{"index":0,"id":"a","function":{"name":"A","arguments":null}}`)}, lines("call 0 a A nil")},
		{"object in place of text", []modeltest.Part{toolDelta(`{"index":0,"id":"a","function":{"name":"A","arguments":{"x": [1, null]}}}`)}, lines(`call 0 a A "{\"x\":[1,null]}"`)},
		{"empty arguments between", []modeltest.Part{
			toolDelta(`{"index":0,"id":"a","function":{"name":"A","arguments":"{"}}`), toolDelta(`{"index":0,"function":{"arguments":""}}`),
			toolDelta(`{"index":0}`), toolDelta(`{"index":0,"function":null}`), toolDelta(`{"index":0,"function":{"arguments":"}"}}`),
		}, lines(`call 0 a A "{"`, `part 0 "}"`)},
		{"id and name one after the other", []modeltest.Part{
			toolDelta(`{"index":0,"id":"a"}`), toolDelta(`{"index":0,"function":{"name":"Re"}}`), toolDelta(`{"index":0,"function":{"name":"ad"}}`), toolDelta(`{"index":0,"function":{"arguments":"{}"}}`),
			toolDelta(`{"index":0,"function":{"arguments":" "}}`),
		}, lines(`call 0 a Read "{} "`)},
		{
			"arguments before the name",
			[]modeltest.Part{toolDelta(`{"index":0,"function":{"arguments":"{\"x\""}}`), toolDelta(`{"index":0,"id":"a","function":{"name":"A","arguments":":1}"}}`)},
			lines(`call 0 a A "{\"x\":1}"`),
		},
		{"name sent again and again", []modeltest.Part{
			toolDelta(`{"index":0,"id":"a","function":{"name":"A","arguments":""}}`), toolDelta(`{"index":0,"id":"a","function":{"name":"A","arguments":"{\"x\":"}}`),
			toolDelta(`{"index":0,"id":"a","function":{"name":"A","arguments":"{}}"}}`), toolDelta(`{"index":0,"id":"a","function":{"name":"A","arguments":""}}`),
		}, lines(`call 0 a A "{\"x\":"`, `part 0 "{}}"`)},
		{"the same event twice", []modeltest.Part{modeltest.Twice(modeltest.Call(0, "a", "A", `{"x":1}`))}, lines(`call 0 a A "{\"x\":1}"`)},
		{
			"index reused with a new id",
			[]modeltest.Part{modeltest.Call(0, "a", "A", `{"x":1}`), modeltest.CallPieces(0, "b", "B", `{"y":2}`, 4)},
			lines(`call 0 a A "{\"x\":1}"`, `call 1 b B "{\"y\""`, `part 1 ":2}"`),
		},
		{
			"index reused with no id",
			[]modeltest.Part{modeltest.Call(0, "", "A", `{"x":1}`), modeltest.Call(0, "", "A", `{"x":2}`)},
			lines(`call 0 <made up> A "{\"x\":1}"`, `call 1 <made up> A "{\"x\":2}"`),
		},
		{"a new id with each piece", []modeltest.Part{
			toolDelta(`{"index":0,"id":"a","function":{"name":"A","arguments":""}}`), toolDelta(`{"index":0,"id":"b","function":{"arguments":"{\"}"}}`), toolDelta(`{"index":0,"id":"c","function":{"arguments":"\"}"}}`),
		}, lines(`call 0 a A "{\"}"`, `part 0 "\"}"`)},
		{"no index", []modeltest.Part{
			toolDelta(`{"id":"a","function":{"name":"A","arguments":"{"}}`), toolDelta(`{"function":{"arguments":"}"}}`),
			toolDelta(`{"id":"b","function":{"name":"B","arguments":"["}}`), toolDelta(`{"id":"a","function":{"arguments":"!"}}`), toolDelta(`{"id":"b","function":{"arguments":"]"}}`),
		}, lines(`call 0 a A "{"`, `part 0 "}"`, `call 1 b B "["`, `part 0 "!"`, `part 1 "]"`)},
		{
			"no index and no id in one event",
			[]modeltest.Part{toolDelta(`{"function":{"name":"A"}},{"function":{"name":"B","arguments":{}}}`)},
			lines(`call 0 <made up> A nil`, `call 1 <made up> B "{}"`),
		},
		{
			"negative index",
			[]modeltest.Part{toolDelta(`{"index":-1,"id":"a","function":{"name":"A","arguments":"{"}}`), toolDelta(`{"index":-1,"function":{"arguments":"}"}}`)},
			lines(`call 0 a A "{"`, `part 0 "}"`),
		},
		{
			"one id for all",
			[]modeltest.Part{modeltest.Call(0, "a", "A", `{"x":1}`), modeltest.Call(1, "a", "A", `{"x":2}`)},
			lines(`call 0 a A "{\"x\":1}"`, `call 1 <made up> A "{\"x\":2}"`),
		},
		{
			"placeholder arguments",
			[]modeltest.Part{modeltest.Call(0, "a", "A", "{}"), toolDelta(`{"index":0,"function":{"arguments":"{\"x\":"}}`), toolDelta(`{"index":0,"function":{"arguments":"1}"}}`)},
			lines(`call 0 a A "{\"x\":"`, `part 0 "1}"`),
		},
		{
			"signed call",
			[]modeltest.Part{toolDelta(`{"index":0,"id":"a","function":{"name":"A","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}`)},
			lines(`call 0 a A "{}"{"extra_content":{"google":{"thought_signature":"s"}}}`),
		},
		{"nothing but an index", []modeltest.Part{modeltest.Call(0, "a", "A", "{}"), toolDelta(`{"index":1}`)}, lines(`call 0 a A "{}"`)},
		{
			"string in the arguments",
			[]modeltest.Part{modeltest.CallPieces(0, "a", "A", `{"x":"}\"\\"}`, 1), modeltest.Call(0, "", "B", `{"y":1}`)},
			lines(`call 0 a A "{"`, `part 0 "\""`, `part 0 "x"`, `part 0 "\""`, `part 0 ":"`, `part 0 "\""`, `part 0 "}"`, `part 0 "\\"`,
				`part 0 "\""`, `part 0 "\\"`, `part 0 "\\"`, `part 0 "\""`, `part 0 "}"`, `call 1 <made up> B "{\"y\":1}"`),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t)
			s.Push(modeltest.Reply{Parts: tt.parts, Finish: "stop"})
			p := open(t, Config{BaseURL: s.URL()})
			if diff := cmp.Diff("id chatcmpl-1\n"+tt.want, transcript(t.Context(), p, hello())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestToolCallsThatCannotBe(t *testing.T) {
	many := make([]modeltest.Part, maxCalls+1)
	for i := range many {
		many[i] = modeltest.Call(i, "", "A", "")
	}
	for _, tt := range []struct {
		name  string
		reply modeltest.Reply
		want  string
	}{
		{"no name", modeltest.Reply{Parts: []modeltest.Part{toolDelta(`{"index":0,"id":"a","function":{"arguments":"{}"}}`)}}, "malformed: the provider sent a tool call without a name\n"},
		{"no name, no end", modeltest.Reply{Parts: []modeltest.Part{modeltest.Call(0, "a", "", strings.Repeat("x", maxHeld+1))}}, "malformed: the provider sent a tool call without a name\n"},
		{"too many", modeltest.Reply{Parts: many}, "malformed: the answer has more than 256 tool calls\n"},
		{"promised only", modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("a")}, Finish: "tool_calls"}, "text \"a\"\nfinish stop\n"},
		{"none at all", modeltest.Reply{Finish: "tool_calls"}, "empty: the answer holds no text and no tool call\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t)
			s.Push(tt.reply)
			p := open(t, Config{BaseURL: s.URL()})
			if diff := cmp.Diff("id chatcmpl-1\n"+tt.want, transcript(t.Context(), p, hello())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnAnswerIsBounded(t *testing.T) {
	a := answer{emit: func(llm.Delta) error { return nil }, size: maxAnswer}
	if got := describe(a.add([]byte("{}"))); got != "malformed: the answer has more than 67108864 bytes\n" {
		t.Error(got)
	}
}
