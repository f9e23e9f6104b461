package modeltest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/internal/modeltest"
)

const hello = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`

func client(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// post sends a request and gives the status, the body and what failed.
func post(ctx context.Context, t *testing.T, s *modeltest.Server, body string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client(t).Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

func chunk(n int, choices string) string {
	return fmt.Sprintf(`data: {"id":"chatcmpl-%d","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":%s`, n, choices)
}

func delta(n int, d string) string {
	return chunk(n, `[{"index":0,"delta":`+d+`,"finish_reason":null}]}`) + "\n\n"
}

func TestReplies(t *testing.T) {
	open := make(chan struct{})
	close(open)
	end := func(n int, reason string) string {
		return chunk(n, `[{"index":0,"delta":{},"finish_reason":"`+reason+`"}]}`) + "\n\ndata: [DONE]\n\n"
	}
	for _, tt := range []struct {
		name  string
		reply modeltest.Reply
		want  string
	}{
		{"zero", modeltest.Reply{}, end(1, "stop")},
		{
			"pieces end at whole runes",
			modeltest.Reply{Parts: []modeltest.Part{modeltest.ThinkPieces("aéb", 2), modeltest.Text("x")}},
			delta(1, `{"reasoning_content":"aé"}`) + delta(1, `{"reasoning_content":"b"}`) + delta(1, `{"content":"x"}`) + end(1, "stop"),
		},
		{
			"call",
			modeltest.Reply{Parts: []modeltest.Part{modeltest.CallPieces(2, "c", "N", "{}", 1)}},
			delta(1, `{"tool_calls":[{"index":2,"id":"c","type":"function","function":{"name":"N","arguments":""}}]}`) +
				delta(1, `{"tool_calls":[{"index":2,"function":{"arguments":"{"}}]}`) +
				delta(1, `{"tool_calls":[{"index":2,"function":{"arguments":"}"}}]}`) + end(1, "tool_calls"),
		},
		{
			"bare lines",
			modeltest.Reply{Parts: []modeltest.Part{modeltest.Gate(open), modeltest.Twice(modeltest.Comments(1)), modeltest.Lines("{")}, NoFinish: true, NoDone: true},
			": keep-alive\n: keep-alive\n{\n",
		},
		{
			"usage",
			modeltest.Reply{Usage: &modeltest.Usage{Prompt: 3, Cached: 1, Completion: 2}, Finish: "length", WriteSize: 7},
			strings.TrimSuffix(end(1, "length"), "data: [DONE]\n\n") +
				chunk(1, `[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"prompt_tokens_details":{"cached_tokens":1}}}`) + "\n\ndata: [DONE]\n\n",
		},
		{
			"twice",
			modeltest.Reply{Parts: []modeltest.Part{modeltest.Twice(modeltest.TextPieces("ab", 1))}},
			delta(1, `{"content":"a"}`) + delta(1, `{"content":"a"}`) + delta(1, `{"content":"b"}`) + delta(1, `{"content":"b"}`) + end(1, "stop"),
		},
		{"body", modeltest.Reply{Body: "{}"}, "{}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.New(t)
			s.Push(tt.reply)
			status, got, err := post(t.Context(), t, s, hello)
			if status != 200 || err != nil {
				t.Errorf("status %d, %v", status, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStatusAndHeader(t *testing.T) {
	s := modeltest.New(t)
	s.Push(modeltest.Reply{Status: 429, Header: http.Header{"Retry-After": {"3"}, "Content-Type": {"text/plain"}}, Body: "slow down"})
	resp, err := client(t).Post(s.URL()+"/chat/completions", "application/json", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "3" || resp.Header.Get("Content-Type") != "text/plain" || string(body) != "slow down" || err != nil {
		t.Errorf("%d %v %s %v", resp.StatusCode, resp.Header, body, err)
	}
}

func TestDropAfterBreaksTheConnection(t *testing.T) {
	s := modeltest.New(t)
	s.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("hello")}, DropAfter: 10, WriteSize: 4})
	if _, got, err := post(t.Context(), t, s, hello); got != `data: {"id` || err == nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestRequestsAreRecorded(t *testing.T) {
	s := modeltest.New(t)
	s.Answer(func(r *modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Body: fmt.Sprint(r.Number)}
	})
	for _, want := range []string{"1", "2"} {
		if _, got, err := post(t.Context(), t, s, hello); got != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	all := s.Requests()
	if len(all) != 2 || string(all[1].Body) != hello || all[1].Chat.Messages[0].Text() != "hi" || all[1].Gone() {
		t.Errorf("%+v", all)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Await(ctx, 3); err == nil {
		t.Error("Await gave a request that never came")
	}
}

func TestOldRequestsAreForgotten(t *testing.T) {
	s := modeltest.New(t)
	s.Answer(func(r *modeltest.Request) modeltest.Reply { return modeltest.Reply{Body: fmt.Sprint(r.Number)} })
	s.Keep(2)
	for range 3 {
		if _, _, err := post(t.Context(), t, s, hello); err != nil {
			t.Fatal(err)
		}
	}
	if all := s.Requests(); len(all) != 2 || all[0].Number != 2 || all[1].Number != 3 {
		t.Errorf("%d are remembered", len(all))
	}
	for n, want := range map[int]bool{1: false, 2: true, 3: true} {
		if r, err := s.Await(t.Context(), n); err != nil || (r != nil) != want || r != nil && r.Number != n {
			t.Errorf("request %d: %+v, %v", n, r, err)
		}
	}
}

func TestAStallEndsWhenTheClientLeaves(t *testing.T) {
	s := modeltest.New(t)
	s.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("a"), modeltest.Stall()}})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, _, err := post(ctx, t, s, hello); err == nil {
			t.Error("the stalled reply ended")
		}
	})
	r, err := s.Await(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if !r.Gone() {
		t.Error("the server did not see the client leave")
	}
	wg.Wait()
}

func TestCloseReleasesAStall(t *testing.T) {
	s, err := modeltest.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Stall()}})
	var wg sync.WaitGroup
	wg.Go(func() { _, _, _ = post(t.Context(), t, s, hello) })
	r, err := s.Await(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	s.Close()
	<-r.Done()
	wg.Wait()
	if _, err := modeltest.Start("no such address"); err == nil {
		t.Error("Start took a bad address")
	}
}

// failures is a TB that keeps what would fail the test.
type failures struct {
	testing.TB
	mu    sync.Mutex
	texts []string
}

func (f *failures) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

func TestBadRequestsFailTheTest(t *testing.T) {
	tb := &failures{TB: t}
	s := modeltest.New(tb)
	for _, tt := range []struct {
		body   string
		status int
		want   string
	}{
		{`{`, 400, `{"error":{"message":"decode the request: unexpected end of JSON input","type":"invalid_request_error"}}`},
		{`{"model":"m"}`, 400, `{"error":{"message":"messages are missing","type":"invalid_request_error"}}`},
		{hello, 500, `{"error":{"message":"no reply is queued for request 3","type":"invalid_request_error"}}`},
	} {
		status, got, err := post(t.Context(), t, s, tt.body)
		if status != tt.status || got != tt.want || err != nil {
			t.Errorf("got %d %s %v, want %d %s", status, got, err, tt.status, tt.want)
		}
	}
	resp, err := client(t).Get(s.URL() + "/embeddings")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 404 {
		t.Errorf("status %d for an unknown path", resp.StatusCode)
	}
	want := []string{
		"modeltest: request 1 is invalid: decode the request: unexpected end of JSON input",
		"modeltest: request 2 is invalid: messages are missing",
		"modeltest: no reply is queued for request 3",
		"modeltest: request 4 is invalid: no route GET /v1/embeddings",
	}
	if diff := cmp.Diff(want, tb.texts); diff != "" {
		t.Error(diff)
	}
}

func TestListOfModelsIsNoRequest(t *testing.T) {
	s := modeltest.New(t)
	resp, err := http.Get(s.URL() + "/models")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK || string(body) != `{"object":"list","data":[]}` {
		t.Errorf("%d %s, %v", resp.StatusCode, body, err)
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests are counted", n)
	}
}
