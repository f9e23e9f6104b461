//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kimi-acp/internal/acptest"
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
		messages := r.Chat.Messages
		if strings.Contains(messages[len(messages)-1].Text(), "stream") {
			return modeltest.Reply{Parts: []modeltest.Part{flood}}
		}
		if strings.Contains(messages[len(messages)-1].Text(), "command") {
			return modeltest.Reply{Parts: []modeltest.Part{modeltest.Call(0, "command", "Shell", `{"command":"trap '' TERM; echo hung; sleep 1000"}`)}}
		}
		reply := modeltest.Reply{}
		for i := range 3 {
			reply.Parts = append(reply.Parts, modeltest.Call(i, fmt.Sprint("read_", i), "ReadFile", fmt.Sprintf(`{"path":"%d.txt"}`, i)))
		}
		return reply
	})
	c := start(b, []string{"KIMI_BASE_URL=" + model.URL(), "KIMI_API_KEY=of-no-use", "KIMI_MODEL_NAME=served", "KIMI_MODEL_MAX_CONTEXT_SIZE=10000000", "KIMI_SHARE_DIR=" + b.TempDir()})
	reads := make(chan struct{}, 100)
	c.Handle("fs/read_text_file", func(ctx context.Context, _ json.RawMessage) (any, error) {
		reads <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	c.Initialize(acptest.Capabilities{ReadTextFile: true})
	open := func() *acptest.Session {
		se := c.NewSession(b.TempDir())
		c.Request("session/set_mode", map[string]any{"sessionId": se.ID, "modeId": "yolo"}).Result(nil)
		return se
	}
	streaming, reading, running := open(), open(), open()
	cancel := func(se *acptest.Session, turn *acptest.Turn) time.Duration {
		began := time.Now()
		se.Cancel()
		if got := turn.Wait(); got != "cancelled" {
			b.Fatalf("ended with %s", got)
		}
		return time.Since(began)
	}
	var whileStreaming, whileReading, whileRunning []time.Duration
	for b.Loop() {
		runs := running.Prompt(acptest.Text("command"))
		runs.Until("the command's output", func(u acptest.Update) bool { return strings.Contains(string(u.Raw), `hung\n`) })
		waits := reading.Prompt(acptest.Text("read"))
		for range 3 {
			<-reads
		}
		flows := streaming.Prompt(acptest.Text("stream"))
		pieces := 0
		flows.Until("a stream at full speed", func(acptest.Update) bool {
			pieces++
			return pieces == 2000
		})
		whileReading = append(whileReading, cancel(reading, waits))
		whileRunning = append(whileRunning, cancel(running, runs))
		whileStreaming = append(whileStreaming, cancel(streaming, flows))
	}
	for name, all := range map[string][]time.Duration{"streaming": whileStreaming, "three-reads": whileReading, "command": whileRunning} {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2])/float64(time.Millisecond), name+"-median-ms")
		b.ReportMetric(float64(all[len(all)*99/100])/float64(time.Millisecond), name+"-p99-ms")
	}
}
