package tool

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDraftOf(t *testing.T) {
	for _, c := range []struct {
		name, tool, args string
		want             string // path, line, old and new text, or "" for nothing
	}{
		{"nothing yet", "WriteFile", ``, ""},
		{"a path that breaks off", "WriteFile", `{"path":"a.t`, ""},
		{"no content yet", "WriteFile", `{"path":"a.txt","content":"`, ""},
		{"content", "WriteFile", `{"path":"a.txt","content":"one\ntw`, "/w/a.txt 2 - one\ntw"},
		{"content within an escape", "WriteFile", `{"path":"a.txt","content":"one\`, "/w/a.txt 1 - one"},
		{"content within \\u", "WriteFile", `{"path":"a.txt","content":"one\u00`, "/w/a.txt 1 - one"},
		{"content before the path", "WriteFile", `{"content":"one","path":"/w/b`, "/w/b 1 - one"},
		{"whole", "WriteFile", `{"path":"a.txt","content":"one"}`, "/w/a.txt 1 - one"},
		{"append", "WriteFile", `{"path":"a.txt","mode":"append","content":"one`, ""},
		{"an edit without its new text", "StrReplaceFile", `{"path":"a.txt","edit":{"old":"x","new":"`, ""},
		{"an edit", "StrReplaceFile", `{"path":"a.txt","edit":{"old":"x","new":"y\nz`, "/w/a.txt 2 x y\nz"},
		{"a list of edits", "StrReplaceFile", `{"path":"a.txt","edit":[{"old":"x","new":"y"},{"old":"p","new":"q`, "/w/a.txt 1 p q"},
		{"an edit that is no change yet", "StrReplaceFile", `{"path":"a.txt","edit":[{"old":"x","new":"x`, ""},
		{"another tool", "ReadFile", `{"path":"a.txt"}`, ""},
		{"no JSON", "WriteFile", `path: a.txt`, ""},
	} {
		change, line, ok := DraftOf(c.tool, []byte(c.args), "/w")
		got := ""
		if ok {
			old := "-"
			if change.Old != nil {
				old = *change.Old
			}
			got = strings.Join([]string{change.Path, string(rune('0' + line)), old, change.New}, " ")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Every beginning of a nasty document is closed to valid JSON, and what a longer
// beginning shows, a shorter one shows in part.
func TestCloseJSONEveryPrefix(t *testing.T) {
	const text = ` { "a\"\\" : "x\u00e9\n\ud83d\ude00 \"q\" {[" , "b":[1, -2.5e3,true ,false,null,{"c":{} ,"d":[]}],"e":"" , "f" : {"g":"h"} } `
	if !json.Valid([]byte(text)) {
		t.Fatal("the document itself is not valid")
	}
	for i := range len(text) {
		closed := closeJSON([]byte(text[:i]))
		if strings.TrimSpace(text[:i]) == "" {
			continue
		}
		if !json.Valid(closed) {
			t.Errorf("%q is closed to %q", text[:i], closed)
		}
	}
	if got := string(closeJSON([]byte(text))); strings.TrimSpace(got) != strings.TrimSpace(text) {
		t.Errorf("the whole became %q", got)
	}
}

func FuzzCloseJSON(f *testing.F) {
	f.Add([]byte(`{"path":"a","edit":[{"old":"x"`), 9)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		if !json.Valid(text) || cut < 0 || cut > len(text) {
			closeJSON(text) // must not panic
			return
		}
		start := strings.TrimLeft(string(text[:cut]), " \t\r\n")
		if start == "" || start[0] != '{' && start[0] != '[' {
			return
		}
		if closed := closeJSON(text[:cut]); !json.Valid(closed) {
			t.Errorf("%q is closed to %q", text[:cut], closed)
		}
	})
}
