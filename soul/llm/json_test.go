package llm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ptr[T any](v T) *T { return &v }

func TestPartJSON(t *testing.T) {
	for _, tt := range []struct {
		name string
		part Part
		want string
	}{
		{"text", Text("a <b> & \"c\"\n"), `{"type":"text","text":"a <b> & \"c\"\n"}`},
		{"empty text", Text(""), `{"type":"text","text":""}`},
		{"think", Think("hm"), `{"type":"think","think":"hm","encrypted":null}`},
		{"signed think", Part{Type: PartThink, Encrypted: ptr("s")}, `{"type":"think","think":"","encrypted":"s"}`},
		{"image", Image("data:x"), `{"type":"image_url","image_url":{"url":"data:x","id":null}}`},
		{
			"audio",
			Part{Type: PartAudio, Media: Media{URL: "u", ID: ptr("1")}},
			`{"type":"audio_url","audio_url":{"url":"u","id":"1"}}`,
		},
		{"video", Part{Type: PartVideo, Media: Media{URL: "u"}}, `{"type":"video_url","video_url":{"url":"u","id":null}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.part.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			var back Part
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.part, back); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPartJSONAbsentNullableKeys(t *testing.T) {
	for in, want := range map[string]Part{
		`{"type":"think","think":"a"}`:                         Think("a"),
		`{"type":"image_url","image_url":{"url":"u"},"x":[1]}`: Image("u"),
	} {
		var got Part
		if err := json.Unmarshal([]byte(in), &got); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
}

func TestPartJSONErrors(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"hologram"}`:                          `unknown type "hologram"`,
		`{"type":"` + strings.Repeat("x", 1000) + `"}`: strings.Repeat("x", 64) + "…",
		`{}`:                          `unknown type ""`,
		`null`:                        `unknown type ""`,
		`{"type":"text"}`:             `"text" is missing`,
		`{"type":"text","text":null}`: `"text" is missing`,
		`{"type":"text","text":1}`:    `cannot unmarshal number`,
		`{"type":"think"}`:            `"think" is missing`,
		`{"type":"image_url","audio_url":{"url":"u"}}`:      `image_url part: "url" is missing`,
		`{"type":"video_url","video_url":{"id":"u"}}`:       `video_url part: "url" is missing`,
		`{"type":"audio_url","audio_url":{"url":["nope"]}}`: `cannot unmarshal array`,
		`[]`: `cannot unmarshal array`,
	} {
		var p Part
		if err := json.Unmarshal([]byte(in), &p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: error %v, want one with %q", in, err, want)
		}
	}
	if _, err := (Part{Type: "hologram"}).MarshalJSON(); err == nil || !strings.Contains(err.Error(), "hologram") {
		t.Errorf("marshal: error %v, want one that names the type", err)
	}
}

func TestToolCallJSON(t *testing.T) {
	for _, tt := range []struct {
		name string
		call ToolCall
		want string
	}{
		{
			"bare",
			ToolCall{ID: "c", Name: "Shell"},
			`{"type":"function","id":"c","function":{"name":"Shell","arguments":null},"extras":null}`,
		},
		{
			"full",
			ToolCall{ID: "c", Name: "Shell", Arguments: ptr(`{"a": 1}`), Extras: json.RawMessage(`{"k":[1.50,2]}`)},
			`{"type":"function","id":"c","function":{"name":"Shell","arguments":"{\"a\": 1}"},"extras":{"k":[1.50,2]}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.call.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			var back ToolCall
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.call, back); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

func TestToolCallJSONErrors(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"macro","id":"c","function":{"name":"x"}}`: `unknown type "macro"`,
		`{"function":{"name":"x"}}`:                         `"id" is missing`,
		`{"id":"c","function":{}}`:                          `"name" is missing`,
		`{"id":"c","function":{"name":"x"},"extras":[]}`:    `not an object`,
		`{"id":1}`: `cannot unmarshal number`,
	} {
		var c ToolCall
		if err := json.Unmarshal([]byte(in), &c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", in, err, want)
		}
	}
	for _, extras := range []string{`{`, `[]`} {
		if _, err := (ToolCall{Extras: json.RawMessage(extras)}).MarshalJSON(); err == nil {
			t.Errorf("extras %s were accepted", extras)
		}
	}
}

func TestMessageJSON(t *testing.T) {
	for _, tt := range []struct {
		name string
		msg  Message
		want string
	}{
		{"one text", Message{Role: RoleUser, Content: []Part{Text("hé\u2028<")}}, "{\"role\":\"user\",\"content\":\"hé\u2028<\"}"},
		{"nothing", Message{Role: RoleAssistant, Content: []Part{}}, `{"role":"assistant","content":[]}`},
		{
			"two texts",
			Message{Role: RoleUser, Content: []Part{Text("a"), Text("b")}},
			`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`,
		},
		{
			"one think",
			Message{Role: RoleAssistant, Content: []Part{Think("a")}},
			`{"role":"assistant","content":[{"type":"think","think":"a","encrypted":null}]}`,
		},
		{
			"calls",
			Message{Role: RoleAssistant, Name: "n", Content: []Part{Text("")}, ToolCalls: []ToolCall{
				{ID: "1", Name: "A"},
				{ID: "2", Name: "B", Arguments: ptr("{}"), Extras: json.RawMessage(`{"x":1}`)},
			}},
			`{"role":"assistant","name":"n","content":"","tool_calls":[` +
				`{"type":"function","id":"1","function":{"name":"A"}},` +
				`{"type":"function","id":"2","function":{"name":"B","arguments":"{}"},"extras":{"x":1}}]}`,
		},
		{
			"result",
			Message{Role: RoleTool, Content: []Part{Text("ok"), Image("u")}, ToolCallID: "1"},
			`{"role":"tool","content":[{"type":"text","text":"ok"},{"type":"image_url","image_url":{"url":"u","id":null}}],` +
				`"tool_call_id":"1"}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withTokens := tt.msg
			withTokens.Tokens = 7
			got, err := withTokens.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			var back Message
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.msg, back); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMessageJSONLenient(t *testing.T) {
	for in, want := range map[string]Message{
		`{"role":"assistant"}`: {Role: RoleAssistant},
		`{"role":"user","content":null,"name":null,"tool_calls":null,"tool_call_id":null,"partial":true}`: {Role: RoleUser},
	} {
		var got Message
		if err := json.Unmarshal([]byte(in), &got); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
}

func TestMessageJSONErrors(t *testing.T) {
	for in, want := range map[string]string{
		`{"role":"_checkpoint","id":1}`:                     `unknown role "_checkpoint"`,
		`{"content":"a"}`:                                   `unknown role ""`,
		`{"role":"user","content":3}`:                       `content`,
		`{"role":"user","content":[{"type":"smell"}]}`:      `unknown type "smell"`,
		`{"role":"assistant","tool_calls":[{"id":"only"}]}`: `"name" is missing`,
		`[]`: `message`,
	} {
		var m Message
		if err := json.Unmarshal([]byte(in), &m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", in, err, want)
		}
	}
	for name, m := range map[string]Message{
		"role":  {Role: "oracle"},
		"part":  {Role: RoleUser, Content: []Part{{Type: "smell"}}},
		"calls": {Role: RoleAssistant, ToolCalls: []ToolCall{{Extras: json.RawMessage("1")}}},
	} {
		if got, err := m.MarshalJSON(); err == nil {
			t.Errorf("%s: no error but %s", name, got)
		}
	}
}

// FuzzMessage checks that what is read can be written, and reads the same again.
func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"role":"user","content":"hi"}`))
	f.Add([]byte(`{"role":"assistant","content":[{"type":"think","think":"a","encrypted":"b"}],"tool_calls":[{"id":"1","function":{"name":"n"}}]}`))
	f.Add([]byte(`{"role":"tool","content":[{"type":"video_url","video_url":{"url":"u"}}],"tool_call_id":"1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m Message
		if json.Unmarshal(data, &m) != nil {
			return
		}
		out, err := m.MarshalJSON()
		if err != nil {
			t.Fatalf("written: %v", err)
		}
		var back Message
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("read back: %v\n%s", err, out)
		}
		again, err := back.MarshalJSON()
		if err != nil || string(again) != string(out) {
			t.Fatalf("not stable (%v)\n%s\n%s", err, out, again)
		}
	})
}
