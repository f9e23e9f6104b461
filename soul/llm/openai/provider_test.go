package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kimi-acp/internal/modeltest"
	"kimi-acp/soul/llm"
)

func TestCancelClosesTheResponse(t *testing.T) {
	s := modeltest.New(t)
	p := open(t, Config{BaseURL: s.URL()})
	for name, parts := range map[string][]modeltest.Part{
		"before the first delta": {modeltest.Stall()},
		"between deltas":         {modeltest.Text("a"), modeltest.Stall()},
		"after the finish":       {modeltest.Lines(`data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`), modeltest.Stall()},
	} {
		t.Run(name, func(t *testing.T) {
			s.Push(modeltest.Reply{Parts: parts})
			n := len(s.Requests()) + 1
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var got string
			var wg sync.WaitGroup
			wg.Go(func() { got = transcript(ctx, p, hello()) })
			r, err := s.Await(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			cancel()
			if !r.Gone() {
				t.Error("the server did not see the response closed")
			}
			wg.Wait()
			if !strings.HasSuffix(got, "error context canceled\n") {
				t.Error(got)
			}
		})
	}
}

// A cancel must reach the server even while the reader is busy with a delta.
func TestCancelWhileTheReaderIsBusy(t *testing.T) {
	s := modeltest.New(t)
	s.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("a"), modeltest.Stall()}})
	p := open(t, Config{BaseURL: s.URL()})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for d, err := range p.Stream(ctx, hello()) {
		if d.Kind == llm.DeltaText {
			cancel()
			if !s.Requests()[0].Gone() {
				t.Error("the server did not see the response closed")
			}
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("the sequence ended with %v", last)
	}
}

func TestStoppingClosesTheResponse(t *testing.T) {
	s := modeltest.New(t)
	s.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Think("t"), modeltest.Text("a"), modeltest.Call(0, "a", "A", "[]"), modeltest.Text("b"), modeltest.Stall()}})
	p := open(t, Config{BaseURL: s.URL()})
	for d := range p.Stream(t.Context(), hello()) {
		if d.Text == "b" {
			break
		}
	}
	if !s.Requests()[0].Gone() {
		t.Error("the server did not see the response closed")
	}
}

func TestTheReaderMayStopAtAnyDelta(t *testing.T) {
	s := modeltest.New(t)
	s.Answer(func(*modeltest.Request) modeltest.Reply {
		return modeltest.Reply{
			Parts: []modeltest.Part{modeltest.Think("t"), modeltest.Text("a"), modeltest.CallPieces(0, "a", "A", "[]", 1), modeltest.Call(1, "b", "B", "")},
			Usage: &modeltest.Usage{Prompt: 1},
		}
	})
	p := open(t, Config{BaseURL: s.URL()})
	const all = 8
	for stop := 1; stop <= all+1; stop++ {
		n := 0
		for _, err := range p.Stream(t.Context(), hello()) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == stop {
				break
			}
		}
		if n != min(stop, all) {
			t.Errorf("%d deltas up to delta %d", n, stop)
		}
	}
}

func TestDeadline(t *testing.T) {
	s := modeltest.New(t)
	p := open(t, Config{BaseURL: s.URL()})
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if got := transcript(ctx, p, hello()); got != "error context deadline exceeded\n" {
		t.Error(got)
	}
}

// paced is an HTTP transport that answers with pieces of a body, each after a
// pause, and is then silent until the request ends.
type paced struct {
	pause  time.Duration
	pieces []string
	status int
	ctx    context.Context // the request's
}

func (p *paced) RoundTrip(r *http.Request) (*http.Response, error) {
	p.ctx = r.Context()
	return &http.Response{StatusCode: p.status, Body: p}, nil
}

func (p *paced) Read(b []byte) (int, error) {
	var next <-chan time.Time // never, when nothing is left
	if len(p.pieces) > 0 {
		next = time.After(p.pause)
	}
	select {
	case <-next:
		n := copy(b, p.pieces[0])
		p.pieces = p.pieces[1:]
		return n, nil
	case <-p.ctx.Done():
		return 0, p.ctx.Err()
	}
}

func (p *paced) Close() error { return nil }

func TestSilence(t *testing.T) {
	const text = `data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n"
	const finish = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	pings := slices.Repeat([]string{": ping\n\n"}, 1000)
	for _, tt := range []struct {
		name   string
		pause  time.Duration
		body   []string
		want   string
		after  time.Duration
		status int // 0: 200
	}{
		{"from the start", 0, nil, "stalled: the provider went silent in the middle of its answer\n", 10 * time.Second, 0},
		{"after a delta", time.Second, []string{text}, "text \"a\"\nstalled: the provider went silent in the middle of its answer\n", 11 * time.Second, 0},
		{"within a line", time.Second, []string{text[:9]}, "stalled: the provider went silent in the middle of its answer\n", 11 * time.Second, 0},
		{"comments are signs of life", 4 * time.Second, []string{": a\n", ": b\n", text, finish, "data: [DONE]\n\n"}, "text \"a\"\nfinish stop\n", 20*time.Second + drainTimeout, 0},
		{"a pause of just too long", 11 * time.Second, []string{text}, "stalled: the provider went silent in the middle of its answer\n", 10 * time.Second, 0},
		{"after the finish reason", time.Second, []string{text, finish}, "text \"a\"\nfinish stop\n", 2*time.Second + tailTimeout, 0},
		{"comments after the finish reason", time.Second, append([]string{text, finish}, pings...), "text \"a\"\nfinish stop\n", 2*time.Second + tailTimeout, 0},
		{"comments after the end", 100 * time.Millisecond, append([]string{text, finish, "data: [DONE]\n\n"}, pings...), "text \"a\"\nfinish stop\n", 300*time.Millisecond + drainTimeout, 0},
		{"in the body of a failure", time.Second, []string{"bo", "om"}, "server 500: boom\n", 12 * time.Second, http.StatusInternalServerError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				transport := &paced{pause: tt.pause, pieces: tt.body, status: max(tt.status, http.StatusOK)}
				p := open(t, Config{BaseURL: "http://model.test", HTTPClient: &http.Client{Transport: transport}, IdleTimeout: 10 * time.Second})
				start := time.Now()
				if got := transcript(t.Context(), p, hello()); got != tt.want {
					t.Errorf("got %swant %s", got, tt.want)
				}
				if took := time.Since(start); took != tt.after {
					t.Errorf("took %v, want %v", took, tt.after)
				}
			})
		})
	}
}

// A reader that takes its time is not the provider's silence.
func TestASlowReaderIsNoStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, Config{BaseURL: "http://model.test", HTTPClient: &http.Client{Transport: canned(cannedStream(3))}, IdleTimeout: time.Second})
		n := 0
		for _, err := range p.Stream(t.Context(), hello()) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			time.Sleep(time.Hour)
		}
		if n != 5 {
			t.Errorf("%d deltas, want 5", n)
		}
	})
}

func TestTheKeyStaysWithItsOrigin(t *testing.T) {
	var stolen http.Header
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen = r.Header }))
	defer thief.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := modeltest.New(t)
		p := open(t, Config{BaseURL: s.URL()})
		s.Push(modeltest.Reply{Status: status, Header: http.Header{"Location": {thief.URL + "/v1/chat/completions"}}})
		want := fmt.Sprintf("bad request %d: the provider redirects to %s, which is not followed; set base_url to the new address\n", status, thief.URL)
		if got := transcript(t.Context(), p, hello()); got != want {
			t.Errorf("got %swant %s", got, want)
		}
	}
	if stolen != nil {
		t.Errorf("another origin was sent %v", stolen)
	}
}

func TestRedirectsWithinTheOrigin(t *testing.T) {
	const path = "/v1/chat/completions"
	var mu sync.Mutex
	var seen []string
	mux := http.NewServeMux()
	mux.HandleFunc("/old"+path, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, path, http.StatusPermanentRedirect) })
	mux.HandleFunc("/get"+path, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, path, http.StatusSeeOther) })
	mux.HandleFunc("/circle"+path, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/circle"+path, http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/none"+path, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen = append(seen, r.Method+" "+r.Header.Get("Authorization")+" "+string(body[:12]))
		mu.Unlock()
		_, _ = w.Write(cannedStream(1))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	for base, want := range map[string]string{
		"/old":    "id chatcmpl-6712a9\ntext \" word 0\"\nfinish stop\n",
		"/get":    "bad request 303: the provider redirects to /v1/chat/completions with another method; set base_url to the new address\n",
		"/circle": "bad request 307: the provider redirects in a circle\n",
		"/none":   "unknown 304: Not Modified\n",
	} {
		p := open(t, Config{BaseURL: server.URL + base + "/v1"})
		if got := transcript(t.Context(), p, hello()); got != want {
			t.Errorf("%s: got %swant %s", base, got, want)
		}
	}
	if len(seen) != 1 || seen[0] != "POST Bearer "+testKey+` {"messages":` {
		t.Errorf("the redirected request came as %q", seen)
	}
}

func TestConnectionsServeTheNextCall(t *testing.T) {
	s := modeltest.New(t)
	p := open(t, Config{BaseURL: s.URL()})
	for i := range 3 {
		s.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("a")}})
		reused := false
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { reused = c.Reused }})
		if got := transcript(ctx, p, hello()); !strings.HasSuffix(got, "finish stop\n") {
			t.Fatal(got)
		}
		if reused != (i > 0) {
			t.Errorf("call %d: connection reused: %v", i+1, reused)
		}
	}
}

func TestCallsSideBySide(t *testing.T) {
	s := modeltest.New(t)
	s.Answer(func(r *modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Parts: []modeltest.Part{modeltest.TextPieces(r.Chat.Messages[0].Text(), 1)}}
	})
	p := open(t, Config{BaseURL: s.URL()})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			said := strings.Repeat(string(rune('a'+i)), 50)
			req := &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Part{llm.Text(said)}}}}
			var got bytes.Buffer
			for d, err := range p.Stream(t.Context(), req) {
				if err != nil {
					t.Error(err)
				}
				if d.Kind == llm.DeltaText {
					got.WriteString(d.Text)
				}
			}
			if got.String() != said {
				t.Errorf("asked %s, got %s", said, got.String())
			}
		})
	}
	wg.Wait()
}

func TestTheClientIsCopied(t *testing.T) {
	mine := &http.Client{Transport: canned(cannedStream(1))}
	p := open(t, Config{BaseURL: "http://model.test", HTTPClient: mine})
	if mine.CheckRedirect != nil || p.http == mine {
		t.Error("the caller's HTTP client was changed")
	}
}
