package openai

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// equalChunks gives how what the two decoders read differs.
func equalChunks(a, b *chunk) string {
	type read struct {
		ID, Text, Think, Finish string
		HasThink                bool
		Rest                    [3]bool
	}
	of := func(c *chunk) read {
		return read{string(c.id), c.text, c.think, c.finish, c.hasThink, [3]bool{c.calls != nil, c.usage != nil, c.failure != nil}}
	}
	return cmp.Diff(of(a), of(b))
}

func TestFastChunk(t *testing.T) {
	const long = `{"id":"c-1","object":"chat.completion.chunk","created":1753000000,"model":"k","system_fingerprint":null,"choices":[{"index":0,"delta":{"role":"assistant","content":"a\nb \"é\" \\ \/"},"logprobs":null,"finish_reason":null}],"usage":null}`
	for _, tt := range []struct {
		line string
		fast bool
	}{
		{long, true},
		{`{ "choices" : [ { "delta" : { "reasoning_content" : "a" , "content" : null } } ] } `, true},
		{`{"choices":[{"delta":{"reasoning_content":null,"content":""}}]}`, true},
		{`{"choices":[{"delta":{"content":"\t\r\b\f"}}]}`, true},
		{`{"choices":[{"delta":{"content":"a","tool_calls":null}}],"created":0,"error":null}`, true},
		{`{"choices":[{"delta":{"content":"\u00e9"}}]}`, false},
		{`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, false},
		{`{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}`, false},
		{`{"choices":[{"delta":{"content":"a","content":"b"}}]}`, false},
		{`{"choices":[{"delta":{"Content":"a"}}]}`, false},
		{`{"choices":[{"delta":{"content":["a"]}}]}`, false},
		{`{"choices":[{"delta":{"content":"` + "\xff" + `"}}]}`, false},
		{`{"choices":[{"delta":{"content":"` + "\x01" + `"}}]}`, false},
		{`{"choices":[{"delta":{"content":"a"}}],"usage":{}}`, false},
		{`{"choices":[],"id":"x"}`, false},
		{`{"id":"x"}`, false},
		{`{"id":"x","id":"y","choices":[{"delta":{}}]}`, false},
		{`{"created":01,"choices":[{"delta":{"content":"a"}}]}`, false},
		{`{"choices":[{"delta":{"content":"a"}}]} x`, false},
		{`{"choices":[{"delta":{"content":"a`, false},
		{`{"choices":[{"delta":{"content":"a\`, false},
		{``, false},
	} {
		var fast, general chunk
		if got := fastChunk([]byte(tt.line), &fast); got != tt.fast {
			t.Errorf("fastChunk(%s) = %v", tt.line, got)
		}
		if !tt.fast {
			continue
		}
		if err := decodeChunk([]byte(tt.line), &general); err != nil {
			t.Errorf("%s: %v", tt.line, err)
		}
		if diff := equalChunks(&general, &fast); diff != "" {
			t.Errorf("%s: %s", tt.line, diff)
		}
	}
}

// Whatever the fast path reads, the general decoder reads in the same way.
func FuzzFastChunk(f *testing.F) {
	f.Add([]byte(`{"id":"c-1","object":"chat.completion.chunk","created":1753000000,"model":"k","choices":[{"index":0,"delta":{"role":"assistant","content":"a\n\"é"},"logprobs":null,"finish_reason":null}],"usage":null}`))
	f.Add([]byte(`{"choices":[{"delta":{"reasoning_content":"\\\/\b","content":null}}],"error":null,"message":null}`))
	f.Add([]byte(`{"choices":[{"index":10,"delta":{"content":""},"stop_reason":null,"usage":null}],"service_tier":"x"} `))
	f.Fuzz(func(t *testing.T, line []byte) {
		var fast, general chunk
		if !fastChunk(line, &fast) {
			return
		}
		if err := decodeChunk(line, &general); err != nil {
			t.Fatalf("the general decoder refuses %q: %v", line, err)
		}
		if diff := equalChunks(&general, &fast); diff != "" {
			t.Fatalf("%q: %s", line, diff)
		}
	})
}
