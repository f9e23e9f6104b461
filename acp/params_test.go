package acp

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"kimi-acp/internal/jsonrpc"
)

func TestParseParams(t *testing.T) {
	for raw, want := range map[string]string{
		``: "nothing", `null`: "null", `[]`: "an array", `[{"a":1}]`: "an array", `"a"`: "a string",
		`1`: "a number", `-1`: "a number", `true`: "a boolean", `false`: "a boolean",
	} {
		_, err := parseParams(json.RawMessage(raw))
		var e *jsonrpc.Error
		if !errors.As(err, &e) || e.Code != jsonrpc.CodeInvalidParams || e.Message != "Invalid params: params must be an object, not "+want {
			t.Errorf("%s: %v, want an error that says %q", raw, err, want)
		}
	}
	if p, err := parseParams(json.RawMessage(` {"a":1} `)); err != nil || string(p["a"]) != "1" {
		t.Errorf("%v, %v", p, err)
	}
}

func TestMembers(t *testing.T) {
	p, err := parseParams(json.RawMessage(`{
		"text":"é","empty":"","null":null,"number":5,"object":{"in":true},"array":[1,"b",null],"true":true,"false":false,"Case":"C"
	}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"text": "é", "empty": "", "null": "!", "number": "!", "object": "!", "absent": "!", "case": "!"} {
		got, err := p.text(name)
		if (err != nil) != (want == "!") || err == nil && got != want {
			t.Errorf("text(%s) = %q, %v", name, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("text(%s): %v, want the name", name, err)
		}
		if got := p.optionalText(name); got != strings.TrimSuffix(want, "!") {
			t.Errorf("optionalText(%s) = %q", name, got)
		}
	}
	for name, want := range map[string]int{"array": 3, "text": -1, "null": -1, "object": -1, "absent": -1} {
		items, ok := p.list(name)
		if ok != (want >= 0) || ok && len(items) != want || !ok && items != nil {
			t.Errorf("list(%s) = %s, %v", name, items, ok)
		}
	}
	for name, want := range map[string]bool{"true": true, "false": false, "text": false, "number": false, "null": false, "absent": false, "object": false} {
		if p.flag(name) != want {
			t.Errorf("flag(%s) = %v", name, !want)
		}
	}
	for _, name := range []string{"text", "array", "null", "absent", "true"} {
		if p.sub(name) != nil || p.has(name) {
			t.Errorf("sub(%s) = %v", name, p.sub(name))
		}
	}
	if !p.has("object") || !p.sub("object").flag("in") || p.sub("absent").sub("deeper").flag("x") {
		t.Error("nested objects are not found")
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"short", "short"},
		{strings.Repeat("a", maxEcho), strings.Repeat("a", maxEcho)},
		{strings.Repeat("a", maxEcho+1), strings.Repeat("a", maxEcho) + "…"},
		{strings.Repeat("a", maxEcho-1) + "éé", strings.Repeat("a", maxEcho-1) + "…"},
		{strings.Repeat("\x80", maxEcho+1), "…"}, // no text at all
	} {
		if got := clip(c.in); got != c.want {
			t.Errorf("clip of %d bytes = %q", len(c.in), got)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add(strings.Repeat("😀", 60))
	f.Fuzz(func(t *testing.T, s string) {
		got := clip(s)
		if len(got) > maxEcho+len("…") || utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("clip(%q) = %q", s, got)
		}
	})
}

func FuzzParsePrompt(f *testing.F) {
	for _, s := range []string{
		`[{"type":"text","text":"hi"}]`, `[{"type":"resource_link","uri":"file:///a#L1:2","name":"a"}]`,
		`[{"type":"resource","resource":{"uri":"zed:///agent/selection?path=/a","text":"x\r\n</mention>"}}]`, `[{"type":"image","data":"QUJD","mimeType":"image/png"}]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, prompt string) {
		in, err := parsePrompt(json.RawMessage(prompt), true)
		var e *jsonrpc.Error
		switch {
		case err != nil && (!errors.As(err, &e) || e.Code != jsonrpc.CodeInvalidParams):
			t.Errorf("%v is no error that an editor understands", err)
		case err == nil && len(in.Parts) == 0:
			t.Errorf("%s came to nothing", prompt)
		}
	})
}
