package jsonrpc

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"kimi-acp/internal/jsonstring"
)

// delta is a streamed piece of text, as small as they come.
type delta string

func (d delta) AppendJSON(dst []byte) []byte {
	return append(jsonstring.Append(append(dst, `{"sessionId":"s1","text":`...), string(d)), '}')
}

func BenchmarkNotify(b *testing.B) {
	r, w := io.Pipe()
	c := newConn(r, io.Discard, HandlerFunc(func(*Call) {}), Options{Dialect: ACP})
	ended := make(chan error, 1)
	go func() { ended <- c.Run(context.Background()) }()
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Notify("session/update", delta("hello ")); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	w.Close()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRead(b *testing.B) {
	line := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","text":"hello "}}` + "\n"
	seen := 0
	c := newConn(strings.NewReader(strings.Repeat(line, b.N)), io.Discard,
		HandlerFunc(func(*Call) { seen++ }), Options{Dialect: ACP})
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	b.ResetTimer()
	if err := c.Run(context.Background()); err != nil {
		b.Fatal(err)
	}
	if seen != b.N {
		b.Fatalf("handled %d of %d", seen, b.N)
	}
}

func BenchmarkReadImage(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","method":"session/prompt","params":{"data":"` + strings.Repeat("QUJD", 4<<20) + `"}}` + "\n")
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		seen := 0
		c := newConn(bytes.NewReader(line), io.Discard, HandlerFunc(func(*Call) { seen++ }), Options{Dialect: ACP})
		if err := c.Run(context.Background()); err != nil || seen != 1 {
			b.Fatal(seen, err)
		}
	}
}
