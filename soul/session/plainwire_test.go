package session

import (
	"reflect"
	"testing"

	"kimi-acp/soul/wire"
)

// The short way reads what the long way reads, or nothing.
func FuzzDecodePlainWire(f *testing.F) {
	for _, message := range []string{
		`{"type": "TurnBegin", "payload": {"user_input": "hi \"there\" \u2014 —"}}`,
		`{"type": "TurnBegin", "payload": {"user_input": [{"type": "text", "text": "x"}]}}`,
		`{"type": "TurnBegin", "payload": {"user_input": "x", "more": 1}}`,
		`{"type": "ContentPart", "payload": {"type": "text", "text": "a\nb"}}`,
		`{"type": "ContentPart", "payload": {"type": "text", "text": "a", "type": "think"}}`,
		`{"type": "StatusUpdate", "payload": {"context_usage": 0.5, "context_tokens": 7, "max_context_tokens": null}}`,
		`{"type": "StatusUpdate", "payload": {"context_tokens": "7"}}`,
		`{"type": "TurnEnd", "payload": {}}`, `{"type": "TurnEnd", "payload": {"x": 1}}`, `{"type": "TurnEnd"`,
	} {
		f.Add([]byte(message))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		got, ok := decodePlainWire(message)
		if !ok {
			return
		}
		want, err := wire.Decode(message)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q was read as %+v, want %+v, %v", message, got, want, err)
		}
	})
}
