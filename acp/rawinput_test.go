package acp

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestRawInput(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{`{"a":"plain","b":1.50}`, ""},
		{`{"a":"\u00e9\n\\"}`, ""},
		{`{"a":"\ud83d\ude00"}`, ""},
		{`{"a":"\\ud83d"}`, ""},
		{`{"a":"\ud83d"}`, `{"a":"\ufffd"}`},
		{`{"a":"\uDE00x"}`, `{"a":"\ufffdx"}`},
		{`{"a":"\ud83d\ud83d\ude00"}`, `{"a":"\ufffd\ud83d\ude00"}`},
		{`{"a":"\ud83dx\ude00","b":"\ud83d\n"}`, `{"a":"\ufffdx\ufffd","b":"\ufffd\n"}`},
	} {
		if c.want == "" {
			c.want = c.args
		}
		if got := string(rawInput(json.RawMessage(c.args))); got != c.want {
			t.Errorf("%s becomes %s, want %s", c.args, got, c.want)
		}
	}
}

func FuzzRawInput(f *testing.F) {
	f.Add([]byte(`{"a":"\ud83d\\\ude00"}`))
	f.Add([]byte(`"\ud83d\ud83d\ude00"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		var before, after any
		_ = json.Unmarshal(raw, &before)
		got := rawInput(raw)
		if err := json.Unmarshal(got, &after); err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%s becomes %s, %v", raw, got, err)
		}
		if again := rawInput(got); string(again) != string(got) {
			t.Errorf("%s becomes %s, then %s", raw, got, again)
		}
	})
}
