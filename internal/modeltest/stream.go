package modeltest

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
)

// stream writes one reply.
type stream struct {
	w       http.ResponseWriter
	closing <-chan struct{}
	reply   *Reply
	model   string
	number  int
	sent    int // bytes of the body
}

// play writes the whole reply. It ends early when ctx ends, which is the
// request's, or the server closes, and aborts the connection where the reply
// says so.
func (s *stream) play(ctx context.Context) {
	switch {
	case s.reply.Hangup:
		s.abort()
	case s.reply.Silent:
		s.wait(ctx, Stall())
		return
	}
	h := s.w.Header()
	if s.reply.Body == "" && s.reply.Status < 300 {
		h.Set("Content-Type", "text/event-stream")
	} else {
		h.Set("Content-Type", "application/json")
	}
	maps.Copy(h, s.reply.Header)
	status := s.reply.Status
	if status == 0 {
		status = http.StatusOK
	}
	s.w.WriteHeader(status)
	s.flush()
	if s.reply.Body != "" || status >= 300 {
		s.write(s.reply.Body)
		return
	}
	s.parts(ctx)
}

func (s *stream) parts(ctx context.Context) {
	finish := "stop"
	for _, p := range s.reply.Parts {
		if p.call {
			finish = "tool_calls"
		}
		if !s.wait(ctx, p) {
			return
		}
		for _, d := range p.deltas {
			s.chunk(fmt.Sprintf(`[{"index":0,"delta":%s,"finish_reason":null}]`, d), "")
		}
		for _, l := range p.lines {
			s.write(l + "\n")
		}
	}
	if s.reply.Finish != "" {
		finish = s.reply.Finish
	}
	if !s.reply.NoFinish {
		s.chunk(fmt.Sprintf(`[{"index":0,"delta":{},"finish_reason":%s}]`, text(finish)), "")
	}
	if u := s.reply.Usage; u != nil {
		s.chunk("[]", fmt.Sprintf(
			`,"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`,
			u.Prompt, u.Completion, u.Prompt+u.Completion, u.Cached))
	}
	if !s.reply.NoDone {
		s.write("data: [DONE]\n\n")
	}
}

// wait holds the reply at a gate or a stall; false means that it is over.
func (s *stream) wait(ctx context.Context, p Part) bool {
	gate := p.gate
	if gate == nil && !p.stall {
		return ctx.Err() == nil
	}
	select { // a stall has no gate: a nil channel never speaks
	case <-gate:
		return true
	case <-ctx.Done():
		return false
	case <-s.closing:
		return false
	}
}

func (s *stream) chunk(choices, more string) {
	s.write(fmt.Sprintf(`data: {"id":"chatcmpl-%d","object":"chat.completion.chunk","created":1700000000,"model":%s,"choices":%s%s}`+"\n\n",
		s.number, text(s.model), choices, more))
}

// write sends text in pieces of WriteSize and breaks the connection after
// DropAfter bytes. A client that has left is noticed by its context.
func (s *stream) write(text string) {
	for len(text) > 0 {
		n := len(text)
		if s.reply.WriteSize > 0 {
			n = min(n, s.reply.WriteSize)
		}
		drop := s.reply.DropAfter > 0 && s.sent+n >= s.reply.DropAfter
		if drop {
			n = s.reply.DropAfter - s.sent
		}
		written, _ := s.w.Write([]byte(text[:n]))
		s.flush()
		s.sent += written
		if drop {
			s.abort()
		}
		text = text[n:]
	}
}

// abort breaks the connection and does not return.
func (s *stream) abort() {
	if s.reply.Reset {
		conn, _, err := http.NewResponseController(s.w).Hijack()
		if err == nil {
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // fails only when the connection is gone
			}
			_ = conn.Close()
		}
	}
	panic(http.ErrAbortHandler) // the server's way to break a connection
}

func (s *stream) flush() {
	_ = http.NewResponseController(s.w).Flush() // fails only when the client has left
}
