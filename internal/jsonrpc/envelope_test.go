package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
)

func TestScanEnvelopeOfCutMessages(t *testing.T) {
	tests := []struct{ data, id, method, cut string }{
		{`{"id":5,"method":"m","params":{"id":6`, `5`, `"m"`, "params"},
		{`{"id":5,"method":"m","params":[[{"a":"]"}],`, `5`, `"m"`, "params"},
		{`{"id":5`, ``, ``, "id"},
		{`{"id":5,`, `5`, ``, ""},
		{`{"id":"5`, ``, ``, "id"},
		{`{"id":"5\`, ``, ``, "id"},
		{`{"id":"5\"`, ``, ``, "id"},
		{`{"id":"\\","method":"\"\\\"","params":1`, `"\\"`, `"\"\\\""`, "params"},
		{`{"id":"5"`, `"5"`, ``, ""},
		{`{"id":"5","resu`, `"5"`, ``, ""},
		{`{"id":"5","result"`, `"5"`, ``, "result"},
		{`{"id":"5","result" : `, `"5"`, ``, "result"},
		{"{\"id\"\t:\r\n 5 ,\"error\":tru", `5`, ``, "error"},
		{`{"\u0069d":5,"\x":6,"error":`, `5`, ``, "error"},
		{`{`, ``, ``, ""},
		{``, ``, ``, ""},
		{`["id",5]`, ``, ``, ""},
		{`{"id",5}`, ``, ``, "id"},
		{`{"id":,"a":1}`, ``, ``, "id"},
	}
	for _, tt := range tests {
		e, cut := scanEnvelope([]byte(tt.data))
		if string(e.id) != tt.id || string(e.method) != tt.method || cut != tt.cut {
			t.Errorf("%s: id %s, method %s, cut %q", tt.data, e.id, e.method, cut)
		}
	}
}

// The scanner agrees with encoding/json on every object.
func FuzzEnvelope(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":[1,{"id":2}]}`,
		`{"id" : "a\"b", "ID":2, "id":{"x":[]}, "result":null}`,
		`{"\u0069d":-1.5e3,"error":{"code":1,"message":"}"}}`,
		`{"a":1`, `[]`, `{}`, `{"id":tru`, `{"id"`, `{{{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, _ := scanEnvelope(data)
		var want map[string]json.RawMessage
		if json.Unmarshal(data, &want) != nil || want == nil {
			return // it must not panic, no more
		}
		for _, name := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
			if got := *e.member(name); !bytes.Equal(got, want[name]) || (got == nil) != (want[name] == nil) {
				t.Errorf("%s: %s is %q, want %q", data, name, got, want[name])
			}
		}
	})
}

// Whatever comes in, each line that goes out is one response: nothing was asked
// for but replies.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		ping + "\n{\n", "[]\n\n{}\n", `{"id":"a","method":"a"}` + "\n" + `{"jsonrpc":"2.0","id":null,"method":"boom"}`,
		"\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"a","params":"` + strings.Repeat("x", 300) + `"}`,
		"Content-Length: 40\r\n\r\n" + `{"jsonrpc":"2.0","id":1,"method":"none"}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":[]}}`,
		`{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}`, "{\"id\":\"\xff\",\"method\":\"\\ud800\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, d := range []Dialect{ACP, Wire, LSP} {
			for _, framing := range []Framing{Newline, ContentLength} {
				var out bytes.Buffer
				o := Options{Dialect: d, Framing: framing, MaxMessage: 256}
				err := newConn(bytes.NewReader(input), &out, echo{d}, o).Run(context.Background())
				if err != nil && framing == Newline {
					t.Fatalf("Run: %v", err)
				}
				checkResponses(t, framing, out.Bytes())
			}
		}
	})
}

func checkResponses(t *testing.T, framing Framing, output []byte) {
	t.Helper()
	frames := framing.newFramer(bytes.NewReader(output), 1<<20)
	for {
		f, err := frames.next()
		if err != nil {
			return
		}
		e, _ := scanEnvelope(f.data)
		if !json.Valid(f.data) || e.version == nil || e.id == nil || e.method != nil || (e.result == nil) == (e.failure == nil) {
			t.Fatalf("sent %q", f.data)
		}
	}
}
