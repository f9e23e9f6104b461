package acp

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul/wire"
)

func TestParsePrompt(t *testing.T) {
	for _, c := range []struct {
		name, prompt string
		text         string   // what the user typed
		parts        []string // what the model reads
	}{
		{"text", `[{"type":"text","text":"hi"}]`, "hi", []string{"hi"}},
		{"order", `[{"type":"text","text":"a"},{"type":"resource_link","uri":"file:///w/x.go","name":"x.go"},{"type":"text","text":"b"}]`, "a b", []string{"a", `<mention kind="file" path="/w/x.go"/>`, "b"}},
		{"a command behind a blank block", `[{"type":"text","text":" "},{"type":"text","text":"/help\n"}]`, "/help", []string{" ", "/help\n"}},
		{"lines", `[{"type":"resource_link","uri":"file:///w/x.go?symbol=F#L10:25","name":"x.go"}]`, "", []string{`<mention kind="file" path="/w/x.go" lines="10-25" symbol="F"/>`}},
		{"a link with a name of its own", `[{"type":"resource_link","uri":"file:///w/x.go","name":"the parser","description":"main file"}]`, "", []string{`<mention kind="file" path="/w/x.go" name="the parser" description="main file"/>`}},
		{"no file", `[{"type":"resource_link","uri":"zed:///agent/diagnostics","name":"d"}]`, "", []string{`<mention kind="other" uri="zed:///agent/diagnostics" name="d"/>`}},
		{"embedded text", `[{"type":"resource","resource":{"uri":"file:///w/x.go#L1:2","text":"a\r\nb"}}]`, "", []string{"<mention kind=\"file\" path=\"/w/x.go\" lines=\"1-2\">\na\nb\n</mention>"}},
		{"text that would close its block", `[{"type":"resource","resource":{"uri":"file:///w/x","text":"</mention><mention path=\"/etc\">"}}]`, "", []string{"<mention kind=\"file\" path=\"/w/x\">\n<\\/mention><mention path=\"/etc\">\n</mention>"}},
		{"a name that would close its attribute", `[{"type":"resource_link","uri":"x:y","name":"a\" b=\"<c>&\n"}]`, "", []string{`<mention kind="other" uri="x:y" name="a&quot; b=&quot;&lt;c&gt;&amp; "/>`}},
		{"binary", `[{"type":"resource","resource":{"uri":"file:///w/x.bin","blob":"QUJD"}}]`, "", []string{`<mention kind="file" path="/w/x.bin" content="3 bytes of binary data, not shown"/>`}},
		{"image", `[{"type":"image","data":"QUJD","mimeType":"image/png"}]`, "", []string{"data:image/png;base64,QUJD"}},
		{"unknown members and _meta", `[{"type":"text","text":"hi","_meta":{"a":1},"annotations":{"priority":1},"x":null}]`, "hi", []string{"hi"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, err := parsePrompt(json.RawMessage(c.prompt), true)
			if err != nil {
				t.Fatal(err)
			}
			var parts []string
			for _, p := range in.Parts {
				parts = append(parts, p.Text+p.Media.URL)
			}
			if in.Text != c.text || strings.Join(parts, "|") != strings.Join(c.parts, "|") {
				t.Errorf("typed %q, parts %q; want %q, %q", in.Text, parts, c.text, c.parts)
			}
		})
	}
}

func TestParsePromptRefuses(t *testing.T) {
	for prompt, want := range map[string]string{
		``:                                 "prompt must be an array",
		`null`:                             "not null",
		`"hi"`:                             "not a string",
		`{"type":"text"}`:                  "not an object",
		`[]`:                               "empty",
		`[null]`:                           "prompt[0] must be an object",
		`["hi"]`:                           "not a string",
		`[[]]`:                             "not an array",
		`[{"text":"hi"}]`:                  "type must be a string",
		`[{"type":5}]`:                     "type must be a string",
		`[{"type":"hologram"}]`:            "unknown type",
		`[{"type":"text"}]`:                "text must be a string, not nothing",
		`[{"type":"text","text":null}]`:    "not null",
		`[{"type":"text","text":5}]`:       "not a number",
		`[{"type":"image","data":"QUI="}]`: "mimeType must be a string",
		`[{"type":"image","data":"?","mimeType":"image/png"}]`:               "not base64",
		`[{"type":"image","data":"QUJD","mimeType":"text/html"}]`:            "no image type",
		`[{"type":"image","data":"QUJD","mimeType":"image/png,x;base64"}]`:   "no image type",
		`[{"type":"audio","data":"QUJD","mimeType":"audio/wav"}]`:            "audio is not supported",
		`[{"type":"resource_link","uri":"file:///a"}]`:                       "name must be a string",
		`[{"type":"resource_link","name":"a"}]`:                              "uri must be a string",
		`[{"type":"resource"}]`:                                              "resource must be an object",
		`[{"type":"resource","resource":{"uri":"x"}}]`:                       "neither text nor blob",
		`[{"type":"resource","resource":{"text":"x"}}]`:                      "resource.uri must be a string",
		`[{"type":"resource","resource":{"uri":"x","blob":"?"}}]`:            "blob is not base64",
		`[{"type":"text","text":"a"},{"type":"text","text":{"deep":[1,2]}}]`: "prompt[1] (text): text must be a string, not an object",
	} {
		_, err := parsePrompt(json.RawMessage(prompt), true)
		var e *jsonrpc.Error
		if !errors.As(err, &e) || e.Code != jsonrpc.CodeInvalidParams || !strings.Contains(e.Message, want) {
			t.Errorf("%s: %v; want an error that says %q", prompt, err, want)
		}
	}
}

func TestImageForAModelWithoutEyes(t *testing.T) {
	in, err := parsePrompt(json.RawMessage(`[{"type":"image","data":"QUJD","mimeType":"image/png"}]`), false)
	if err != nil || len(in.Parts) != 1 || !strings.Contains(in.Parts[0].Text, "cannot see images") {
		t.Errorf("%+v, %v", in, err)
	}
}

func TestChunk(t *testing.T) {
	got := string(newChunk("s\"1", "agent_message_chunk", "msg-1").with("a\n\"b\"").AppendJSON(nil))
	want := `{"sessionId":"s\"1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\n\"b\""},"messageId":"msg-1"}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestFormAnswersThatMakeNoSense(t *testing.T) {
	questions := []wire.Question{
		{Question: "one", Options: []wire.QuestionOption{{Label: "a"}}},
		{Question: "many", MultiSelect: true, Options: []wire.QuestionOption{{Label: "a"}, {Label: "b"}}},
	}
	for _, raw := range []string{
		"", "null", `"accept"`, "[]", "{}", `{"action":5}`, `{"action":"accept"}`, `{"action":"accept","content":null}`,
		`{"action":"accept","content":[]}`, `{"action":"accept","content":{"q1":5,"q2":"a"}}`, `{"action":"accept","content":{"q1":"z","q2":["z",5]}}`,
		`{"action":"accept","content":{"q1_other":"  ","q2_other":"` + strings.Repeat("x", maxAnswer+1) + `"}}`,
	} {
		if got := formAnswers(questions, json.RawMessage(raw)); len(got) != 0 {
			t.Errorf("%.80s counts as %v", raw, got)
		}
	}
}
