package acp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/scripted"
	store "kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

// talked makes a session of that many messages, half of them the model's.
func talked(b *testing.B, sessions *store.Store, cwd string, messages int) string {
	b.Helper()
	s, err := sessions.Create(cwd, "")
	if err != nil {
		b.Fatal(err)
	}
	text := llm.Text(strings.Repeat("words ", 60))
	record := s.Wire()
	used, size := 100, 100_000
	for i := range messages / 2 {
		ask := llm.Text(fmt.Sprintf("question %d", i))
		record.Receive(wire.TurnBegin{UserInput: wire.UserInput{Text: ask.Text}})
		record.Receive(wire.StepBegin{N: 1})
		record.Receive(wire.ContentPart{Part: text})
		record.Receive(wire.StatusUpdate{ContextTokens: &used, MaxContextTokens: &size})
		if i == messages/2-1 { // the end of a turn waits for the disk
			record.Receive(wire.TurnEnd{})
		}
		if err := s.AppendTurn(i, llm.Message{Role: llm.RoleUser, Content: []llm.Part{ask}}); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return s.ID()
}

// BenchmarkLoad loads sessions of several lengths, from the request to the answer.
func BenchmarkLoad(b *testing.B) {
	for _, messages := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint(messages), func(b *testing.B) {
			sessions, cwd := store.NewStore(b.TempDir()), b.TempDir()
			id := talked(b, sessions, cwd, messages)
			load, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "session/load", "params": openIn(id, cwd)})
			if err != nil {
				b.Fatal(err)
			}
			in := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}` + "\n" + string(load) + "\n"
			quiet := slog.New(slog.DiscardHandler)
			o := acp.Options{Logger: quiet, Sessions: sessions, NewSoul: func(s acp.SoulSpec) (soul.Soul, error) {
				return soul.New(soul.Config{SessionID: s.SessionID, Provider: scripted.New(nil, llm.Model{ContextSize: 1000}), Wire: s.Wire, Logger: quiet}), nil
			}}
			for b.Loop() {
				agentIn, editorOut := io.Pipe()
				editorIn, agentOut := io.Pipe()
				over := make(chan error, 1)
				go func() {
					err := acp.Serve(context.Background(), agentIn, agentOut, o, jsonrpc.Options{Logger: quiet})
					_ = agentOut.Close()
					over <- err
				}()
				if _, err := io.WriteString(editorOut, in); err != nil {
					b.Fatal(err)
				}
				lines := bufio.NewReaderSize(editorIn, 1<<20)
				for shown := 0; ; shown++ {
					line, err := lines.ReadBytes('\n')
					if err != nil {
						b.Fatal(err)
					}
					if bytes.Contains(line, []byte(`"id":1,`)) {
						if shown < messages {
							b.Fatalf("%d of %d messages were shown: %s", shown, messages, line)
						}
						break
					}
				}
				_ = editorOut.Close()
				go func() { _, _ = io.Copy(io.Discard, lines) }()
				if err := <-over; err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(messages*b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
