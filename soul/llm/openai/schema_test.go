package openai

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"kimi-acp/soul/llm"
)

func TestTypedSchema(t *testing.T) {
	property := func(schema string) string { return `{"properties":{"p":` + schema + `}}` }
	for _, tt := range []struct{ name, in, want string }{
		{"the root stays, and so does the order", `{"z":1,"properties":{"b":{"type":"string"},"a":{"type":["string","null"]}},"a":2}`, ""},
		{"no object", `true`, ""},
		{"an empty schema", property(`{}`), property(`{"type":"string"}`)},
		{"only a description", property(`{"description":"é <b> \"q\""}`), property(`{"description":"é <b> \"q\"","type":"string"}`)},
		{"a name that is escaped", `{"properties":{"a\"\n":{}}}`, `{"properties":{"a\"\n":{"type":"string"}}}`},
		{"no schemas", `{"properties":{"a":true,"b":null},"items":false,"additionalProperties":false,"anyOf":3}`, ""},
		{"left to others", property(`{"anyOf":[{"type":"null"}]}`), ""},
		{"references", property(`{"$ref":"#/$defs/x"}`), ""},
		{"alternatives", property(`{"oneOf":[{},{"const":1}],"allOf":[{"minimum":0}]}`), property(`{"oneOf":[{"type":"string"},{"const":1,"type":"integer"}],"allOf":[{"minimum":0,"type":"number"}]}`)},
		{"items", property(`{"items":{}}`), property(`{"items":{"type":"string"},"type":"array"}`)},
		{"items one by one", property(`{"items":[{},{"enum":[true]}]}`), property(`{"items":[{"type":"string"},{"enum":[true],"type":"boolean"}],"type":"array"}`)},
		{"objects", property(`{"additionalProperties":{}}`), property(`{"additionalProperties":{"type":"string"},"type":"object"}`)},
		{"a property named properties", property(`{"properties":{"properties":{},"type":{"const":"x"}}}`), property(`{"properties":{"properties":{"type":"string"},"type":{"const":"x","type":"string"}},"type":"object"}`)},
		{"definitions", `{"$defs":{"d":{"properties":{"p":{"minItems":1}}}}}`, `{"$defs":{"d":{"properties":{"p":{"minItems":1,"type":"array"}},"type":"object"}}}`},
		{"integers", property(`{"enum":[1,2]}`), property(`{"enum":[1,2],"type":"integer"}`)},
		{"numbers", property(`{"enum":[1,2.5,3e1]}`), property(`{"enum":[1,2.5,3e1],"type":"number"}`)},
		{"mixed values", property(`{"enum":["a",1]}`), property(`{"enum":["a",1],"type":"string"}`)},
		{"values go before keywords", property(`{"minimum":1,"enum":["a"]}`), property(`{"minimum":1,"enum":["a"],"type":"string"}`)},
		{"no values", property(`{"enum":[],"required":[]}`), property(`{"enum":[],"required":[],"type":"object"}`)},
		{"other values", `{"anyOf":[{"const":null},{"const":{}},{"const":[]}]}`, `{"anyOf":[{"const":null,"type":"null"},{"const":{},"type":"object"},{"const":[],"type":"array"}]}`},
		{"text keywords", property(`{"maxLength":3}`), property(`{"maxLength":3,"type":"string"}`)},
	} {
		want := tt.want
		if want == "" {
			want = tt.in
		}
		if got := string(typedSchema([]byte(tt.in))); got != want {
			t.Errorf("%s: got  %s\nwant %s", tt.name, got, want)
		}
	}
}

func TestDeepSchemasStay(t *testing.T) {
	deep := func(n int, end string) string {
		return strings.Repeat(`{"type":"array","items":`, n) + end + strings.Repeat(`}`, n)
	}
	if got, want := string(typedSchema([]byte(deep(maxSchemaDepth-1, "{}")))), deep(maxSchemaDepth-1, `{"type":"string"}`); got != want {
		t.Errorf("got %s", got)
	}
	if in := deep(maxSchemaDepth, "{}"); string(typedSchema([]byte(in))) != in {
		t.Error("a schema beyond the depth was changed")
	}
}

func TestToolsOfTheDialects(t *testing.T) {
	tools := []llm.ToolSpec{{Name: "A", Parameters: json.RawMessage(`{"type": "object", "properties": {"b": {}, "a": {}}}`)}, {Name: "B"}}
	for dialect, want := range map[Dialect]string{
		DialectOpenAI: `{"type":"object","properties":{"b":{},"a":{}}}`,
		DialectKimi:   `{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}}}`,
	} {
		cfg := &open(t, Config{BaseURL: "http://x", Dialect: dialect}).cfg
		body, err := encodeRequest(cfg, &llm.Request{Tools: tools})
		if err != nil || !bytes.Contains(body, []byte(`"parameters":`+want+`}`)) {
			t.Errorf("dialect %d: %s (%v)", dialect, body, err)
		}
	}
	if string(tools[0].Parameters) != `{"type": "object", "properties": {"b": {}, "a": {}}}` {
		t.Errorf("the caller's schema was changed: %s", tools[0].Parameters)
	}
}

// What is typed is JSON, and typed already.
func FuzzTypedSchema(f *testing.F) {
	f.Add([]byte(`{"properties":{"a":{"enum":[1,2.0]},"b":{"items":[{}]}},"$defs":{"\u0000":{}}}`))
	f.Add([]byte(`{"anyOf":[{"a":1,"a":2},[],null],"additionalProperties":{}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) {
			return
		}
		once := typedSchema(in)
		if !json.Valid(once) {
			t.Fatalf("%s became %s", in, once)
		}
		if twice := typedSchema(once); !bytes.Equal(once, twice) {
			t.Fatalf("%s, typed once more, became %s", once, twice)
		}
	})
}
