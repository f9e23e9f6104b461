package tool

import (
	"strings"
	"testing"
)

// FuzzStrReplaceFile: whatever the arguments are, the call edits the file or says why
// not, and never does both.
func FuzzStrReplaceFile(f *testing.F) {
	for _, seed := range []string{
		`{"path":"a","edit":{"old":"two","new":"2"}}`,
		`{"path":"a","edit":[{"old":"one","new":"1"},{"old":"1","new":"one","replace_all":true}]}`,
		`{"path":"a","edit":"{\"old\":\"two\",\"new\":\"2\"}"}`,
		`{"path":"a","edit":[{"old":"two","new":"2"`,
		`{"path":"../a","edit":[]}`,
		`{"path":"a","edit":null,"edit":{"old":"","new":"x"}}`,
		`{"path":"a\u0000","edit":{"old":"two","new":"\ud800"}}`,
		`[{"path":"a"}]`, `"a"`, ``, "{\"path\":\"a\",\"edit\":{\"old\":\"two\n\",\"new\":\"\"}}",
	} {
		f.Add(seed)
	}
	const before = "one\ntwo\nthree\n"
	f.Fuzz(func(t *testing.T, args string) {
		w := newWorld(t, yes)
		w.files.set("/w/a", before)
		v := w.call(t.Context(), "1", "StrReplaceFile", args)
		if strings.Contains(w.logs.String(), "panic") {
			t.Fatal(w.logs)
		}
		after, _ := w.files.get("/w/a")
		switch changed := after != before; {
		case v.Message == "":
			t.Error("the result says nothing")
		case v.IsError && (changed || len(w.files.writes) > 0) && !strings.Contains(v.Message, "as it was before"):
			t.Errorf("it failed and wrote %q: %s", after, v.Message)
		case !v.IsError && len(w.files.writes) != 1:
			t.Errorf("it succeeded and wrote %q: %s", w.files.writes, v.Message)
		}
		DraftOf("StrReplaceFile", []byte(args), "/w")
		CardOf("StrReplaceFile", []byte(args), "/w")
	})
}
