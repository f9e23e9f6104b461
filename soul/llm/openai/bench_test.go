package openai

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"kimi-acp/soul/llm"
)

// canned is an HTTP transport that answers with the same body.
type canned []byte

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": {"text/event-stream"}},
		Body:       io.NopCloser(bytes.NewReader(c)),
	}, nil
}

// cannedStream is an answer of n pieces of text as vendors send it.
func cannedStream(n int) []byte {
	var b bytes.Buffer
	const head = `data: {"id":"chatcmpl-6712a9","object":"chat.completion.chunk","created":1753000000,"model":"kimi-k2","choices":[{"index":0,"delta":`
	for i := range n {
		fmt.Fprintf(&b, head+`{"content":" word %d"},"finish_reason":null}]}`+"\n\n", i%1000)
	}
	b.WriteString(head + `{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	return b.Bytes()
}

func BenchmarkStream(b *testing.B) {
	const n = 10000
	p, err := New(Config{BaseURL: "http://model.test/v1", Model: llm.Model{Name: "m"}, HTTPClient: &http.Client{Transport: canned(cannedStream(n))}})
	if err != nil {
		b.Fatal(err)
	}
	req := &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Part{llm.Text("hi")}}}}
	b.ReportAllocs()
	for b.Loop() {
		got := 0
		for _, err := range p.Stream(b.Context(), req) {
			if err != nil {
				b.Fatal(err)
			}
			got++
		}
		if got != n+2 {
			b.Fatalf("%d deltas, want %d", got, n+2)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "deltas/s")
}

func BenchmarkChunk(b *testing.B) {
	line := cannedStream(1)
	line = line[len("data: "):bytes.IndexByte(line, '\n')]
	var c chunk
	b.Run("fast", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !fastChunk(line, &c) {
				b.Fatal("the fast path gave up")
			}
		}
	})
	b.Run("general", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := decodeChunk(line, &c); err != nil {
				b.Fatal(err)
			}
		}
	})
}
