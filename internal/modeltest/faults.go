package modeltest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// Fault is a way in which a provider goes wrong: the replies that it gives before it
// is well again.
type Fault struct {
	Group   string // what goes wrong, for people
	Name    string // how
	Replies []Reply
	Lasting bool // the last of Replies is repeated for ever
	Stalls  bool // a client needs its watch over silence to get out of it
}

// Faults are the known ways to go wrong in giving an answer, which should have more
// than a hundred bytes and some that are not ASCII, since it is broken at places that
// differ. Those about tools call tool with arguments.
func Faults(answer, tool, arguments string) []Fault {
	all := []Fault{}
	for _, group := range []struct {
		name   string
		faults []Fault
	}{
		{"status", statusFaults()},
		{"connection", connectionFaults(answer)},
		{"silence", stallFaults(answer)},
		{"broken stream", streamFaults(answer)},
		{"empty answer", emptyFaults()},
		{"tool calls", callFaults(tool, arguments)},
		{"conversation too long", overflowFaults()},
	} {
		for _, f := range group.faults {
			f.Group = group.name
			all = append(all, f)
		}
	}
	return all
}

// failure is a reply with a failure status in the form of the API.
func failure(status int, message, kind string) Reply {
	return Reply{Status: status, Body: fmt.Sprintf(`{"error":{"message":%s,"type":%s}}`, text(message), text(kind))}
}

func once(name string, replies ...Reply) Fault { return Fault{Name: name, Replies: replies} }

func statusFaults() []Fault {
	asks := func(value string) Reply {
		r := failure(429, "Too many requests", "rate_limit_reached_error")
		r.Header = http.Header{"Retry-After": {value}}
		return r
	}
	faults := []Fault{
		once("429 without Retry-After", failure(429, "Too many requests", "rate_limit_reached_error")),
		once("429, Retry-After in seconds", asks("0.02")),
		once("429, Retry-After as a date", asks(time.Now().Add(time.Second).UTC().Format(http.TimeFormat))),
		once("429, Retry-After of an hour", asks("3600")),
		{Name: "429 for ever", Replies: []Reply{asks("0.01")}, Lasting: true},
		once("429 for want of credit", failure(429, "You exceeded your current quota", "insufficient_quota")),
	}
	for _, status := range []int{408, 500, 502, 503, 504, 529} {
		faults = append(faults, once(fmt.Sprint(status), failure(status, "something went wrong", "error")))
	}
	html := Reply{Status: 502, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html><h1>Bad Gateway</h1></html>"}
	faults = append(
		faults, once("502, a page of a proxy", html),
		Fault{Name: "500 for ever", Replies: []Reply{failure(500, "oops", "server_error")}, Lasting: true},
	)
	for _, f := range []struct {
		status        int
		message, kind string
	}{
		{400, "messages: field required", "invalid_request_error"},
		{401, "Incorrect API key provided", "invalid_authentication_error"},
		{402, "Insufficient Balance", "error"},
		{403, "your account may not use this", "permission_error"},
		{404, "Not found the model m", "resource_not_found_error"},
		{400, "The request was considered high risk", "content_filter"},
	} {
		name := fmt.Sprint(f.status)
		if f.kind == "content_filter" {
			name += ", content refused"
		}
		faults = append(faults, Fault{Name: name, Replies: []Reply{failure(f.status, f.message, f.kind)}, Lasting: true})
	}
	return faults
}

// connectionFaults break the connection at each class of byte, by its end or a reset.
func connectionFaults(answer string) []Fault {
	whole := Reply{Parts: []Part{TextPieces(answer, 20)}, Usage: &Usage{Prompt: 10, Completion: 5}}
	body := body(whole)
	rune2 := strings.IndexFunc(body, func(r rune) bool { return r >= utf8.RuneSelf })
	half := strings.Index(body[len(body)/2:], "data: ") + len(body)/2
	finish := strings.Index(body, `"finish_reason":"stop"`)
	done := strings.Index(body, "data: [DONE]")
	at := func(n int) Reply {
		r := whole
		r.DropAfter = n
		return r
	}
	var faults []Fault
	for _, f := range []struct {
		name  string
		reply Reply
		whole bool // the answer has come, unless a reset takes it back
	}{
		{"before the response", Reply{Hangup: true}, false},
		{"behind the first byte of the body", at(1), false},
		{"inside the first event's name", at(3), false},
		{"inside the first event", at(30), false},
		{"behind the first event", at(strings.Index(body, "\n\n") + 2), false},
		{"between two events, half of the answer said", at(half), false},
		{"inside an event, half of the answer said", at(half + 60), false},
		{"inside a character", at(rune2 + 1), false},
		{"inside the finish reason", at(finish + 18), false},
		{"behind the finish reason", at(finish + len(`"finish_reason":"stop"}]}`) + 2), true},
		{"inside the end mark", at(done + 8), true},
	} {
		faults = append(faults, once("closed "+f.name, f.reply))
		if !f.whole {
			f.reply.Reset = true
			faults = append(faults, once("reset "+f.name, f.reply))
		}
	}
	return append(
		faults,
		once("broken off twice in a row", at(half), at(60)),
		Fault{Name: "half of the answer, for ever", Replies: []Reply{at(half)}, Lasting: true},
		Fault{Name: "hangs up for ever", Replies: []Reply{{Hangup: true}}, Lasting: true},
	)
}

func stallFaults(answer string) []Fault {
	stalls := func(name string, r Reply) Fault { return Fault{Name: name, Replies: []Reply{r}, Stalls: true} }
	half := halfOf(answer)
	return []Fault{
		stalls("before the response", Reply{Silent: true}),
		stalls("before the first event", Reply{Parts: []Part{Stall()}}),
		stalls("in the middle of the answer", Reply{Parts: []Part{TextPieces(half, 20), Stall()}}),
		once("comments and blank lines in between", Reply{Parts: []Part{Comments(500), TextPieces(half, 20), Lines("", "event: ping", ""), Comments(500), Text(answer[len(half):])}}),
	}
}

func streamFaults(answer string) []Fault {
	half := halfOf(answer)
	cut := func(lines ...string) Reply {
		return Reply{Parts: []Part{TextPieces(half, 20), Lines(lines...)}, NoFinish: true, NoDone: true}
	}
	return []Fault{
		once("an event that is no JSON", cut("data: {broken", "")),
		once("an event of another shape", cut(`data: [1,2]`, "")),
		once("binary rubbish", cut("data: \x00\x01\x02", "")),
		once("a page of HTML with status 200", Reply{Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>please log in</html>"}),
		once("ends without a finish reason", cut("data: [DONE]", "")),
		once("an error event, half of the answer said", cut(`data: {"error":{"message":"The engine is currently overloaded","type":"engine_overloaded_error"}}`, "")),
		once("finish reason error", Reply{Parts: []Part{TextPieces(half, 20)}, Finish: "error"}),
		once("events split into single bytes", Reply{Parts: []Part{TextPieces(answer, 20)}, WriteSize: 1}),
		once("finish, usage and end mark twice", Reply{Parts: []Part{
			TextPieces(answer, 20),
			Twice(Lines(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "", `data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, "")),
			Twice(Lines("data: [DONE]", "")),
		}, NoFinish: true, NoDone: true}),
	}
}

func emptyFaults() []Fault {
	return []Fault{
		once("nothing but a finish reason", Reply{}),
		once("blank text", Reply{Parts: []Part{Text(" \n ")}}),
		once("thinking only", Reply{Parts: []Part{Think("hm")}}),
		once("the end mark only", Reply{NoFinish: true}),
		once("an empty body", Reply{NoFinish: true, NoDone: true}),
		{Name: "empty for ever", Replies: []Reply{{}}, Lasting: true},
	}
}

// callFaults are oddities in the pieces of a tool call. All but the last two make a
// call that can be run.
func callFaults(tool, arguments string) []Fault {
	name, args := string(text(tool)), func(s string) string { return string(text(s)) }
	h := len(arguments) / 2
	one, two := arguments[:h], arguments[h:]
	return []Fault{
		once("pieces without an index", Reply{Parts: []Part{
			Delta(`{"tool_calls":[{"id":"c","type":"function","function":{"name":%s,"arguments":""}}]}`, name),
			Delta(`{"tool_calls":[{"function":{"arguments":%s}}]}`, args(one)),
			Delta(`{"tool_calls":[{"function":{"arguments":%s}}]}`, args(two)),
		}}),
		once("the name in each piece", Reply{Parts: []Part{
			Delta(`{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":%s,"arguments":%s}}]}`, name, args(one)),
			Delta(`{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":%s,"arguments":%s}}]}`, name, args(two)),
		}}),
		once("no id", Reply{Parts: []Part{Delta(`{"tool_calls":[{"index":0,"type":"function","function":{"name":%s,"arguments":%s}}]}`, name, args(arguments))}}),
		once("two calls whose pieces are mixed", Reply{Parts: []Part{
			Delta(`{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":%s,"arguments":%s}},{"index":1,"id":"d","type":"function","function":{"name":%s,"arguments":%s}}]}`, name, args(one), name, args(one)),
			Delta(`{"tool_calls":[{"index":1,"function":{"arguments":%s}},{"index":0,"function":{"arguments":%s}}]}`, args(two), args(two)),
		}}),
		once("the finish reason stop", Reply{Parts: []Part{Call(0, "c", tool, arguments)}, Finish: "stop"}),
		once("the connection breaks inside the arguments", Reply{Parts: []Part{CallPieces(0, "c", tool, arguments, 4)}, DropAfter: 500}, Reply{Parts: []Part{Call(0, "c", tool, arguments)}}),
		once("arguments that are no JSON", Reply{Parts: []Part{Call(0, "c", tool, one)}}),
		once("a tool that there is not", Reply{Parts: []Part{Call(0, "c", "Telepathy", arguments)}}),
	}
}

func overflowFaults() []Fault {
	var faults []Fault
	for _, f := range []struct{ vendor, message, kind string }{
		{"OpenAI", "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", "context_length_exceeded"},
		{"Moonshot", "Invalid request: Your request exceeded model token limit: 131072", "invalid_request_error"},
		{"Anthropic", "prompt is too long: 210000 tokens > 200000 maximum", "invalid_request_error"},
		{"Gemini", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "INVALID_ARGUMENT"},
		{"llama.cpp", "the request exceeds the available context size, try increasing it", "exceed_context_size_error"},
	} {
		faults = append(faults, Fault{Name: f.vendor, Replies: []Reply{failure(400, f.message, f.kind)}, Lasting: true})
	}
	return faults
}

// halfOf gives the first half of a text, to a whole character.
func halfOf(s string) string {
	n := len(s) / 2
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// body is the body that a stream of a model of one letter has.
func body(r Reply) string {
	var w bodyWriter
	s := &stream{w: &w, reply: &r, model: "m", number: 1}
	s.play(context.Background())
	return w.String()
}

// bodyWriter is a response of which the body alone counts.
type bodyWriter struct{ strings.Builder }

func (w *bodyWriter) Header() http.Header { return http.Header{} }

func (w *bodyWriter) WriteHeader(int) {}
