// Package modeltest is a model provider for tests, benchmarks and the demo: an
// HTTP server on loopback that speaks OpenAI chat completions, plays scripted
// replies and can be as nasty as real providers are. It also judges what it is
// sent, so that an invalid conversation fails the test that made it.
//
// It must not know the code that it tests: requests are decoded and checked with
// types of its own.
package modeltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
)

// maxBody bounds a request's body, in bytes.
const maxBody = 64 << 20

// TB is the part of testing.TB that New needs.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Server answers each request with the next queued Reply. All methods may be
// called at any time, side by side.
type Server struct {
	http    *http.Server
	addr    string
	served  chan struct{}  // closed when the accept loop has ended
	closing chan struct{}  // closed by Close: releases gates and stalls
	running sync.WaitGroup // handlers
	report  func(format string, args ...any)

	mu       sync.Mutex
	closed   bool                 // guarded by mu: no handler begins any more
	replies  []Reply              // guarded by mu
	answer   func(*Request) Reply // guarded by mu; nil: none
	requests []*Request           // guarded by mu, in order of arrival
	keep     int                  // guarded by mu; of requests, 0: all
	count    int                  // guarded by mu; of all requests there were
	arrived  chan struct{}        // guarded by mu; closed and replaced when a request comes
}

// New starts a server that ends with the test. A request that is invalid, or
// for which no reply is queued, fails the test.
func New(t TB) *Server {
	t.Helper()
	s, err := Start("127.0.0.1:0")
	if err != nil {
		t.Fatalf("start the fake model server: %v", err)
	}
	s.report = t.Errorf
	t.Cleanup(s.Close)
	return s
}

// Start starts a server on a TCP address, as `127.0.0.1:0`. The caller closes it.
func Start(addr string) (*Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	s := &Server{
		addr:    l.Addr().String(),
		served:  make(chan struct{}),
		closing: make(chan struct{}),
		arrived: make(chan struct{}),
		report:  func(string, ...any) {},
	}
	s.http = &http.Server{Handler: s}
	go func() { // ends with Close, which waits for served
		defer close(s.served)
		_ = s.http.Serve(l) // always ErrServerClosed, or the end of the listener
	}()
	return s, nil
}

// URL is the base URL to configure, without a final slash.
func (s *Server) URL() string { return "http://" + s.addr + "/v1" }

// Close breaks all connections, releases gates and stalls, and waits until
// every handler has ended. It may be called more than once.
func (s *Server) Close() {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if first {
		close(s.closing)
		_ = s.http.Close()
	}
	<-s.served
	s.running.Wait()
}

// Push queues replies.
func (s *Server) Push(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, replies...)
}

// Answer sets what makes a reply when none is queued. It may be called for
// several requests at once.
func (s *Server) Answer(f func(*Request) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

// Keep has the server remember the last n requests only, which bounds what a long run
// takes. Zero, as at the start, is all.
func (s *Server) Keep(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep = n
	s.forget()
}

// forget drops what is not to be remembered. The lock is held.
func (s *Server) forget() {
	if more := len(s.requests) - s.keep; s.keep > 0 && more > 0 {
		s.requests = slices.Clone(s.requests[more:])
	}
}

// Requests gives the requests so far that are remembered, the first one first.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Await gives request n, from 1, once it has come, or ctx's error. One that was
// forgotten since is nil.
func (s *Server) Await(ctx context.Context, n int) (*Request, error) {
	for {
		s.mu.Lock()
		arrived := s.arrived
		var r *Request
		come := s.count >= n
		if at := n - 1 - (s.count - len(s.requests)); come && at >= 0 {
			r = s.requests[at]
		}
		s.mu.Unlock()
		if come {
			return r, nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for request %d: %w", n, ctx.Err())
		}
	}
}

// ServeHTTP answers one request. The list of models is empty and is no Request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.begin() {
		return
	}
	defer s.running.Done()
	if r.URL.Path == "/v1/models" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		// Asked for in passing, at a time of the client's choosing: it does not count.
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[]}`) // a client that has left needs none
		return
	}

	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, http.StatusBadRequest, fmt.Errorf("read the request: %w", err))
		return
	}
	req := &Request{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body, done: make(chan struct{})}
	status := http.StatusBadRequest
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
		status = http.StatusNotFound
		req.Invalid = fmt.Errorf("no route %s %s", r.Method, r.URL.Path)
	} else if req.Invalid = decode(body, &req.Chat); req.Invalid == nil {
		req.Invalid = Check(&req.Chat)
	}
	reply, err := s.take(req)
	defer req.end(r.Context())

	switch {
	case req.Invalid != nil:
		s.report("modeltest: request %d is invalid: %v", req.Number, req.Invalid)
		refuse(w, status, req.Invalid)
	case err != nil:
		s.report("modeltest: %v", err)
		refuse(w, http.StatusInternalServerError, err)
	default:
		st := &stream{w: w, closing: s.closing, reply: &reply, model: req.Chat.Model, number: req.Number}
		st.play(r.Context())
	}
}

// begin counts a handler in, unless the server is closed.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.running.Add(1)
	}
	return !s.closed
}

// take records a request and finds its reply. An invalid request takes none.
func (s *Server) take(req *Request) (Reply, error) {
	s.mu.Lock()
	s.requests = append(s.requests, req)
	s.count++
	req.Number = s.count
	s.forget()
	close(s.arrived)
	s.arrived = make(chan struct{})
	answer := s.answer
	var reply Reply
	queued := req.Invalid == nil && len(s.replies) > 0
	if queued {
		reply = s.replies[0]
		s.replies = s.replies[1:]
	}
	s.mu.Unlock()

	switch {
	case queued || req.Invalid != nil:
		return reply, nil
	case answer != nil:
		return answer(req), nil
	default:
		return reply, fmt.Errorf("no reply is queued for request %d", req.Number)
	}
}

// refuse answers with an error in the form of the API.
func refuse(w http.ResponseWriter, status int, err error) {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		status = http.StatusRequestEntityTooLarge
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that has gone away needs no answer.
	_, _ = fmt.Fprintf(w, `{"error":{"message":%s,"type":"invalid_request_error"}}`, text(err.Error()))
}
