package tool

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseArguments(t *testing.T) {
	for _, c := range []struct{ name, in, want, err string }{
		{"empty", "", "{}", ""},
		{"blanks", " \n\t", "{}", ""},
		{"null", "null", "{}", ""},
		{"object", ` {"a": 1} `, `{"a": 1}`, ""},
		{"big number", `{"n":9007199254740993}`, `{"n":9007199254740993}`, ""},
		{"raw newline and tab", "{\"a\":\"x\ny\tz\r\"}", `{"a":"x\ny\tz\r"}`, ""},
		{"raw escape character", "{\"a\":\"\x1b[0m\"}", `{"a":"\u001b[0m"}`, ""},
		{"backslash before a raw newline", "{\"a\":\"x\\\ny\"}", `{"a":"x\\\ny"}`, ""},
		{"escapes are left alone", "{\"a\":\"\\\"\n\\\\\"}", `{"a":"\"\n\\"}`, ""},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", "{\"a\":\"\uFFFD\"}", ""},
		{"double-encoded", `"{\"a\":\"b\"}"`, `{"a":"b"}`, ""},
		{"double-encoded nothing", `""`, "{}", ""},
		{"double-encoded null", `"null"`, "{}", ""},
		{"encoded three times", `"\"{}\""`, "", "must be a JSON object, not a string"},
		{"double-encoded and broken", `"{\"a\":"`, "", "not valid JSON"},
		{"double-encoded, broken inside", `"{\"a\":}"`, "", "in the string the arguments are not valid JSON"},
		{"array", `[1]`, "", "must be a JSON object, not an array"},
		{"number", `12`, "", "must be a JSON object, not a number"},
		{"boolean", `true`, "", "must be a JSON object, not a boolean"},
		{"broken off in a string", `{"path":"src/ma`, "", `break off at byte 15, after "{\"path\":\"src/ma"`},
		{"broken off after a colon", `{"path":`, "", "break off at byte 8"},
		{"missing comma", `{"a":1 "b":2}`, "", `at byte 8, after "{\"a\":1 \""`},
		{"two objects", `{}{}`, "", "after top-level value at byte 3"},
		{"single quotes", `{'a':1}`, "", "at byte 2"},
		{"trailing comma", `{"a":1,}`, "", "at byte 8"},
		{"NUL outside strings", "{\x00}", "", "at byte 2"},
		{"not JSON", "path=a", "", "at byte 1"},
		{"nesting", strings.Repeat("[", 20_000), "", "not valid JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseArguments(&c.in)
			if c.err != "" {
				if err == nil {
					t.Fatalf("got %s, want an error", got)
				}
				mustContain(t, err.Error(), c.err)
				return
			}
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v, want %s", got, err, c.want)
			}
		})
	}
	if got, err := parseArguments(nil); err != nil || string(got) != "{}" {
		t.Errorf("nil: got %s, %v", got, err)
	}
	long := strings.Repeat(" ", maxArguments+1)
	if _, err := parseArguments(&long); err == nil {
		t.Error("arguments over the limit are taken")
	}
}

// TestToolArguments sends good and bad arguments to every tool.
func TestToolArguments(t *testing.T) {
	decode := map[string]func(string) (any, []string, error){}
	for _, b := range Builtin() {
		switch d := b.(type) {
		case *defined[readFileArguments]:
			decode["ReadFile"] = decoder(d)
		case *defined[writeFileArguments]:
			decode["WriteFile"] = decoder(d)
		case *defined[strReplaceFileArguments]:
			decode["StrReplaceFile"] = decoder(d)
		case *defined[shellArguments]:
			decode["Shell"] = decoder(d)
		case *defined[setTodoListArguments]:
			decode["SetTodoList"] = decoder(d)
		}
	}
	for _, c := range []struct{ tool, in, want, note, err string }{
		{"ReadFile", `{"path":"a"}`, `{"path":"a","line_offset":1,"n_lines":1000}`, "", ""},
		{"ReadFile", `{"path":"a","n_lines":9007199254740993}`, `{"path":"a","line_offset":1,"n_lines":1000}`, "`n_lines` was lowered to its maximum, 1000.", ""},
		{"ReadFile", `{"path":"a","n_lines":1e99999999}`, `{"path":"a","line_offset":1,"n_lines":1000}`, "lowered", ""},
		{"ReadFile", `{"path":"a","n_lines":"50","line_offset":"-3"}`, `{"path":"a","line_offset":-3,"n_lines":50}`, "", ""},
		{"ReadFile", `{"path":"a","n_lines":5.0,"line_offset":1e2}`, `{"path":"a","line_offset":100,"n_lines":5}`, "", ""},
		{"ReadFile", `{"path":"a","line_offset":-1e40}`, `{"path":"a","line_offset":-9223372036854775808,"n_lines":1000}`, "", ""},
		{"ReadFile", `{"path":"a","n_lines":null}`, `{"path":"a","line_offset":1,"n_lines":1000}`, "", ""},
		{"ReadFile", `{"path":"a","PATH":"b","limit":5}`, `{"path":"a","line_offset":1,"n_lines":1000}`, "Unknown arguments were ignored: `PATH`, `limit`.", ""},
		{"ReadFile", `{}`, "", "", "`path` is missing, it must be a string that is not empty"},
		{"ReadFile", `{"path":""}`, "", "", "`path` must be a string that is not empty, not an empty string"},
		{"ReadFile", `{"path":null}`, "", "", "`path` must be a string that is not empty, not null"},
		{"ReadFile", `{"path":["a"]}`, "", "", "`path` must be a string that is not empty, not an array of 1"},
		{"ReadFile", `{"path":1e1000000000}`, "", "", "`path` must be a string that is not empty, not 1.797"},
		{"ReadFile", `{"path":"a","n_lines":0}`, "", "", "`n_lines` must be an integer from 1 to 1000, not 0"},
		{"ReadFile", `{"path":"a","n_lines":2.5}`, "", "", "`n_lines` must be an integer from 1 to 1000, not 2.5"},
		{"ReadFile", `{"path":"a","n_lines":1e-1000000000}`, "", "", "`n_lines` must be an integer"},
		{"ReadFile", `{"path":"a","n_lines":"many"}`, "", "", "`n_lines` must be an integer from 1 to 1000, not the string \"many\""},
		{"ReadFile", `{"path":"a","line_offset":true}`, "", "", "`line_offset` must be an integer, not true"},
		{"ReadFile", `{"path":"a","line_offset":{}}`, "", "", "`line_offset` must be an integer, not an object"},

		{"WriteFile", `{"path":"a","content":""}`, `{"path":"a","content":"","mode":"overwrite"}`, "", ""},
		{"WriteFile", `{"path":"a","content":"<&>","mode":"append"}`, `{"path":"a","content":"\u003c\u0026\u003e","mode":"append"}`, "", ""},
		{"WriteFile", `{"path":"a"}`, "", "", "`content` is missing, it must be a string"},
		{"WriteFile", `{"path":"a","content":{"b":1}}`, "", "", "`content` must be a string, not an object"},
		{"WriteFile", `{"path":"a","content":5}`, "", "", "`content` must be a string, not 5"},
		{"WriteFile", `{"path":"a","content":"","mode":"w"}`, "", "", "`mode` must be one of \"overwrite\", \"append\", not the string \"w\""},

		{"StrReplaceFile", `{"path":"a","edit":[{"old":"x","new":"y","replace_all":true},{"old":"1","new":""}]}`, `{"path":"a","edit":[{"old":"x","new":"y","replace_all":true},{"old":"1","new":""}]}`, "", ""},
		{"StrReplaceFile", `{"path":"a","edit":{"old":"x","new":"y"}}`, `{"path":"a","edit":[{"old":"x","new":"y"}]}`, "", ""},
		{"StrReplaceFile", `{"path":"a","edit":"{\"old\":\"x\",\"new\":\"y\"}"}`, `{"path":"a","edit":[{"old":"x","new":"y"}]}`, "", ""},
		{"StrReplaceFile", `{"path":"a","edit":"[{\"old\":\"x\ny\",\"new\":\"y\"}]"}`, `{"path":"a","edit":[{"old":"x\ny","new":"y"}]}`, "", ""},
		{"StrReplaceFile", `{"path":"a","edit":{"old":"x","new":"y","replace_all":"true"}}`, `{"path":"a","edit":[{"old":"x","new":"y","replace_all":true}]}`, "", ""},
		{"StrReplaceFile", `{"path":"a","edit":{"old":"x","new":"y","all":true}}`, `{"path":"a","edit":[{"old":"x","new":"y"}]}`, "`edit[0].all`", ""},
		{"StrReplaceFile", `{"path":"a","edit":[]}`, "", "", "`edit` must be an array of objects, at least 1, not an array of 0"},
		{"StrReplaceFile", `{"path":"a","edit":"nothing"}`, "", "", "`edit` must be an array of objects, at least 1, not the string \"nothing\""},
		{"StrReplaceFile", `{"path":"a","edit":["x"]}`, "", "", "`edit[0]` must be an object with `old`, `new`, not the string \"x\""},
		{"StrReplaceFile", `{"path":"a","edit":[{"old":"x","new":"y"},{"old":"x"}]}`, "", "", "`edit[1].new` is missing, it must be a string"},
		{"StrReplaceFile", `{"path":"a","edit":{"old":1,"new":"y"}}`, "", "", "`edit[0].old` must be a string, not 1"},

		{"Shell", `{"command":"ls"}`, `{"command":"ls"}`, "", ""},
		{"Shell", `{"command":"ls","timeout":86401}`, `{"command":"ls","timeout":86400}`, "`timeout` was lowered to its maximum, 86400.", ""},
		{"Shell", `{"command":"ls","timeout":0}`, "", "", "`timeout` must be an integer from 1 to 86400, not 0"},
		{"Shell", `{"command":["ls","-l"]}`, "", "", "`command` must be a string of 1 to 100000 characters, not an array of 2"},
		{"Shell", `{"command":""}`, "", "", "`command` must be a string"},

		{"SetTodoList", `{}`, `{}`, "", ""},
		{"SetTodoList", `{"todos":null}`, `{}`, "", ""},
		{"SetTodoList", `{"todos":[]}`, `{"todos":[]}`, "", ""},
		{"SetTodoList", `{"todos":"[{\"title\":\"a\",\"status\":\"done\"}]"}`, `{"todos":[{"title":"a","status":"done"}]}`, "", ""},
		{"SetTodoList", `{"todos":[{"title":"a","status":"finished"}]}`, "", "", "`todos[0].status` must be one of \"pending\", \"in_progress\", \"done\", not the string \"finished\""},
		{"SetTodoList", `{"todos":[{"title":"","status":"done"}]}`, "", "", "`todos[0].title` must be a string of 1 to 500 characters, not an empty string"},
		{"SetTodoList", `{"todos":7}`, "", "", "`todos` must be an array of objects, at most 100, not 7"},
	} {
		t.Run(c.tool+" "+c.in, func(t *testing.T) {
			got, notes, err := decode[c.tool](c.in)
			if c.err != "" {
				if err == nil {
					t.Fatalf("got %s, want an error", jsonText(t, got))
				}
				mustContain(t, err.Error(), c.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if text := jsonText(t, got); text != c.want {
				t.Errorf("got %s, want %s", text, c.want)
			}
			if all := strings.Join(notes, " "); (c.note == "") != (all == "") || !strings.Contains(all, c.note) {
				t.Errorf("notes are %q, want %q", all, c.note)
			}
		})
	}
}

func decoder[In any](d *defined[In]) func(string) (any, []string, error) {
	return func(text string) (any, []string, error) {
		in := d.def.Defaults
		notes, err := d.schema().decode(json.RawMessage(text), &in)
		return in, notes, err
	}
}

func TestErrorsDoNotRepeatLongValues(t *testing.T) {
	_, _, err := decoder(newWriteFile().(*defined[writeFileArguments]))(`{"path":"a","content":"","mode":"` + strings.Repeat("x", 1<<20) + `"}`)
	if err == nil || len(err.Error()) > 300 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

func FuzzParseArguments(f *testing.F) {
	for _, s := range []string{"", "null", `{"a":1}`, "{\"a\":\"\n\"}", `"{\"a\":1}"`, `[`, `{"a":"\`, "{\"\\\n"} {
		f.Add(s)
	}
	shell := newShell().(*defined[shellArguments])
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseArguments(&s)
		if err != nil {
			return
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(got, &object); err != nil || object == nil {
			t.Fatalf("%q gives %q, which is no object: %v", s, got, err)
		}
		if in, _, err := decoder(shell)(string(got)); err == nil && in.(shellArguments).Command == "" {
			t.Fatalf("%q gives no command, and no error", s)
		}
	})
}
