package session

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/llm"
)

// FuzzRestore reads anything as a history. What comes of it is valid for a model, can
// be written, and is the same when it is read again.
func FuzzRestore(f *testing.F) {
	kimi, err := os.ReadFile("testdata/kimi/context.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(kimi)
	f.Add(kimi[:len(kimi)/2])
	f.Add([]byte(`{"role":"user","conte{"role": "_checkpoint", "id": 100}` + "\n"))
	f.Add([]byte(`{"role":"assistant","content":[{"type":"x"}],"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]}` + "\n" + `{"role":"tool","content":null,"tool_call_id":"b"}`))
	f.Add([]byte("\x00\x00{\"role\":\"user\",\"content\":\"a\tb\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		first := restoreText(t, string(data), 1<<16, 1<<12)
		if !valid(first.Messages) {
			t.Fatalf("the history is not valid: %s", texts(first.Messages))
		}
		if first.Counted < 0 || first.Counted > len(first.Messages) {
			t.Fatalf("%d of %d messages are counted", first.Counted, len(first.Messages))
		}
		var lines []byte
		for _, m := range first.Messages {
			if lines, err = appendMessage(lines, m); err != nil {
				t.Fatal(err)
			}
		}
		if bytes.Count(lines, []byte{'\n'}) != len(first.Messages) {
			t.Fatalf("%d messages became other lines: %q", len(first.Messages), lines)
		}
		again := restoreText(t, string(lines))
		if texts(again.Messages) != texts(first.Messages) || len(again.Skipped) > 0 {
			t.Fatalf("%q became %q, reported %q", texts(first.Messages), texts(again.Messages), again.Skipped)
		}
	})
}

// FuzzPlain holds the quick way to read a message against the usual one.
func FuzzPlain(f *testing.F) {
	f.Add([]byte(`{"role":"user","content":"a\"b\u00e9"}`))
	f.Add([]byte(`{"role":"tool","content":"","tool_call_id":"x"}`))
	f.Add([]byte(`{"role":"assistant","content":"\\","content":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, ok := decodePlain(data)
		if !ok {
			return
		}
		var want llm.Message
		if err := want.UnmarshalJSON(data); err != nil {
			t.Fatalf("%q was read as %+v, and is not valid: %v", data, got, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: %s", data, diff)
		}
	})
}

// FuzzState reads anything as settings. What comes of it is written and read alike.
func FuzzState(f *testing.F) {
	kimi, err := os.ReadFile("testdata/kimi/state.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(kimi))
	f.Add(`{"wire_mtime":1e30,"custom_title":"\u2028"}`)
	f.Fuzz(func(t *testing.T, data string) {
		st := defaultState()
		if json.Unmarshal([]byte(data), &st) != nil {
			return
		}
		once := st.encode()
		var back State
		if err := json.Unmarshal(once, &back); err != nil {
			t.Fatalf("%v in %s", err, once)
		}
		if twice := back.encode(); !bytes.Equal(once, twice) {
			t.Fatalf("%s became %s", once, twice)
		}
	})
}
