package tool

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCardOf(t *testing.T) {
	at := func(path string, line int) []Location { return []Location{{Path: path, Line: line}} }
	long := strings.Repeat("a", 500)
	for _, c := range []struct {
		name, args string
		want       Card
	}{
		{"ReadFile", `{"path":"src/a.go"}`, Card{"Read `src/a.go`", "read", at("/w/src/a.go", 0)}},
		{"ReadFile", `{"path":"/w/src/a.go","line_offset":20}`, Card{"Read `src/a.go`", "read", at("/w/src/a.go", 20)}},
		{"ReadFile", `{"path":"/w/a.go","line_offset":-20}`, Card{"Read `a.go`", "read", at("/w/a.go", 0)}},
		{"ReadFile", `{"path":"/etc/hosts"}`, Card{"Read `/etc/hosts`", "read", at("/etc/hosts", 0)}},
		{"ReadFile", `{"path":"../other/a"}`, Card{"Read `/other/a`", "read", at("/other/a", 0)}},
		{"ReadFile", ``, Card{"Read a file", "read", nil}},
		{"ReadFile", `{"pa`, Card{"Read a file", "read", nil}},
		{"ReadFile", `{"path":"src/ma`, Card{"Read a file", "read", nil}},
		{"ReadFile", `{"path":"src/ma"`, Card{"Read a file", "read", nil}},
		{"ReadFile", `{"path":"src/ma",`, Card{"Read `src/ma`", "read", at("/w/src/ma", 0)}},
		{"ReadFile", `{"line_offset":2,"path":"a","x`, Card{"Read `a`", "read", at("/w/a", 2)}},
		{"ReadFile", `{"path":"a","line_offset":1`, Card{"Read `a`", "read", at("/w/a", 0)}},
		{"ReadFile", `{"path":7}`, Card{"Read a file", "read", nil}},
		{"ReadFile", `[1]`, Card{"Read a file", "read", nil}},
		{"ReadFile", `"{\"path\":\"a\"}"`, Card{"Read `a`", "read", at("/w/a", 0)}},
		{"WriteFile", "{\"path\":\"a_b_.md\",\"content\":\"x\ny", Card{"Write `a_b_.md`", "edit", at("/w/a_b_.md", 0)}},
		{"StrReplaceFile", `{"path":"a","edit":[]}`, Card{"Edit `a`", "edit", at("/w/a", 0)}},
		{"Shell", `{"command":"rm *.o\n  ls"}`, Card{"`rm *.o ls`", "execute", nil}},
		{"Shell", "{\"command\":\"echo `date`\"}", Card{"`` echo `date` ``", "execute", nil}},
		{"Shell", `{"command":"  "}`, Card{"Run a command", "execute", nil}},
		{"Shell", `{"command":"` + long + `"}`, Card{"`" + long[:106] + "…" + long[:53] + "`", "execute", nil}},
		{"Grep", `{"pattern":"x+"}`, Card{"Search for `x+`", "search", nil}},
		{"Glob", `{"pattern":"**/*.go"}`, Card{"Find files `**/*.go`", "search", nil}},
		{"FetchURL", `{"url":"https://example.org"}`, Card{"Fetch `https://example.org`", "fetch", nil}},
		{"SearchWeb", `{"query":"go"}`, Card{"Search the web for `go`", "fetch", nil}},
		{"SetTodoList", `{"todos":[]}`, Card{"To-do list", "think", nil}},
		{"Think", `{}`, Card{"Think", "think", nil}},
		{"Agent", `{"description":"look around"}`, Card{"Agent: `look around`", "think", nil}},
		{"EnterPlanMode", ``, Card{"Start planning", "switch_mode", nil}},
		{"ExitPlanMode", ``, Card{"Present the plan", "switch_mode", nil}},
		{"AskUserQuestion", ``, Card{"Ask a question", "other", nil}},
		{"mcp__x", `{"path":"a"}`, Card{"mcp__x", "other", nil}},
		{"", ``, Card{"Tool call", "other", nil}},
	} {
		t.Run(c.name+" "+c.args, func(t *testing.T) {
			if diff := cmp.Diff(c.want, CardOf(c.name, json.RawMessage(c.args), "/w")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCardOfEveryPrefix: whatever a stream has brought so far, a location is the
// right one or none.
func TestCardOfEveryPrefix(t *testing.T) {
	const whole = `{"path":"dir/ä\"b.go","edit":[{"old":"{\"path\":\"x\"}","new":"é"}]}`
	found := 0
	for i := range len(whole) + 1 {
		card := CardOf("StrReplaceFile", json.RawMessage(whole[:i]), "/w")
		if card.Title == "" {
			t.Fatalf("no title for %q", whole[:i])
		}
		for _, l := range card.Locations {
			found++
			if l.Path != `/w/dir/ä"b.go` {
				t.Errorf("%q gives the location %q", whole[:i], l.Path)
			}
		}
	}
	if found == 0 {
		t.Error("no prefix gives a location")
	}
}
