//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/internal/modeltest"
)

// BenchmarkCancel measures how long a cancel is waited for, in three sessions of one
// program at the same time: in one the model streams as fast as it can, in one three
// tools hang because the editor does not answer, in one a command hangs that does not
// heed SIGTERM. It reports medians and 99th percentiles in milliseconds.
func BenchmarkCancel(b *testing.B) {
	model := modeltest.New(b)
	model.Keep(1)
	flood := modeltest.TextPieces(strings.Repeat("word ", 400_000), 5)
	model.Answer(func(r *modeltest.Request) modeltest.Reply {
		asked := r.Chat.Messages[len(r.Chat.Messages)-1].Text()
		switch {
		case strings.Contains(asked, "stream-now"):
			return modeltest.Reply{Parts: []modeltest.Part{flood}}
		case strings.Contains(asked, "run-it"):
			return modeltest.Reply{Parts: []modeltest.Part{modeltest.Call(0, "command", "Shell", `{"command":"trap '' TERM; echo hung; sleep 1000"}`)}}
		}
		reply := modeltest.Reply{}
		for i := range 3 {
			reply.Parts = append(reply.Parts, modeltest.Call(i, fmt.Sprint("read_", i), "ReadFile", fmt.Sprintf(`{"path":"%d.txt"}`, i)))
		}
		return reply
	})
	e := newQuickEditor(b, "KIMI_BASE_URL="+model.URL(), "KIMI_API_KEY=of-no-use", "KIMI_MODEL_NAME=served", "KIMI_MODEL_MAX_CONTEXT_SIZE=10000000", "KIMI_SHARE_DIR="+b.TempDir())
	streaming, reading, running := e.open(b), e.open(b), e.open(b)
	var whileStreaming, whileReading, whileRunning []time.Duration
	for b.Loop() {
		select { // what was said of the command before
		case <-e.commands:
		default:
		}
		runs := e.prompt(b, running, "run-it")
		<-e.commands
		reads := e.prompt(b, reading, "read-them")
		for range 3 {
			<-e.reads
		}
		flows := e.prompt(b, streaming, "stream-now")
		for range 2000 {
			<-e.pieces
		}
		whileReading = append(whileReading, e.cancel(b, reading, reads))
		whileRunning = append(whileRunning, e.cancel(b, running, runs))
		whileStreaming = append(whileStreaming, e.cancel(b, streaming, flows))
	}
	for name, all := range map[string][]time.Duration{"streaming": whileStreaming, "three-reads": whileReading, "command": whileRunning} {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2])/float64(time.Millisecond), name+"-median-ms")
		b.ReportMetric(float64(all[len(all)*99/100])/float64(time.Millisecond), name+"-p99-ms")
	}
}

// quickEditor is an editor that judges nothing, so that its own work does not count.
type quickEditor struct {
	conn     *jsonrpc.Conn
	pieces   chan struct{} // has something in it once a piece of an answer has come
	commands chan struct{} // as pieces, for the output of a command
	reads    chan struct{} // of each read that came, and is not answered
}

func newQuickEditor(b *testing.B, env ...string) *quickEditor {
	b.Helper()
	cmd := exec.Command(program(b))
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.TempDir()}, env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	e := &quickEditor{pieces: make(chan struct{}, 1), commands: make(chan struct{}, 1), reads: make(chan struct{}, 3)}
	e.conn = jsonrpc.NewConn(out, in, e, jsonrpc.Options{Dialect: jsonrpc.ACP, Framing: jsonrpc.Newline})
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- e.conn.Run(context.Background()) }()
	b.Cleanup(func() {
		_ = in.Close() // fails only if the program has ended
		<-served       // how the connection ended is of no interest
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	e.call(b, "initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{"fs": map[string]any{"readTextFile": true}}}, nil)
	return e
}

// Handle takes what the program sends.
func (e *quickEditor) Handle(call *jsonrpc.Call) {
	note := func(c chan struct{}) {
		select {
		case c <- struct{}{}:
		default:
		}
	}
	switch {
	case call.Method() == "fs/read_text_file":
		e.reads <- struct{}{}
		call.Go(func(ctx context.Context) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
	case bytes.Contains(call.Params(), []byte(`"agent_message_chunk"`)):
		note(e.pieces)
	case bytes.Contains(call.Params(), []byte(`hung\n`)):
		note(e.commands)
	}
}

func (e *quickEditor) call(b *testing.B, method string, params, result any) {
	b.Helper()
	if err := e.conn.Call(b.Context(), method, params, result); err != nil {
		b.Fatal(err)
	}
}

// open opens a session in which nothing is asked for.
func (e *quickEditor) open(b *testing.B) (id string) {
	b.Helper()
	var made struct{ SessionID string }
	e.call(b, "session/new", map[string]any{"cwd": b.TempDir(), "mcpServers": []any{}}, &made)
	e.call(b, "session/set_mode", map[string]any{"sessionId": made.SessionID, "modeId": "yolo"}, nil)
	return made.SessionID
}

func (e *quickEditor) prompt(b *testing.B, session, text string) *jsonrpc.Pending {
	b.Helper()
	turn, err := e.conn.Start("session/prompt", map[string]any{"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}}})
	if err != nil {
		b.Fatal(err)
	}
	return turn
}

// cancel cancels a turn and gives how long its answer took.
func (e *quickEditor) cancel(b *testing.B, session string, turn *jsonrpc.Pending) time.Duration {
	b.Helper()
	began := time.Now()
	if err := e.conn.Notify("session/cancel", map[string]any{"sessionId": session}); err != nil {
		b.Fatal(err)
	}
	raw, err := turn.Wait(b.Context())
	took := time.Since(began)
	var ended struct{ StopReason string }
	if err == nil {
		err = json.Unmarshal(raw, &ended)
	}
	if err != nil || ended.StopReason != "cancelled" {
		b.Fatalf("ended with %q, %v", ended.StopReason, err)
	}
	return took
}
