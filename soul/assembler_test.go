package soul

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

func begin(index int, id, name string) llm.Delta {
	return llm.Delta{Kind: llm.DeltaCall, Index: index, Call: llm.ToolCall{ID: id, Name: name}}
}

func piece(index int, args string) llm.Delta {
	return llm.Delta{Kind: llm.DeltaCallPart, Index: index, Arguments: &args}
}

func text(s string) llm.Delta  { return llm.Delta{Kind: llm.DeltaText, Text: s} }
func think(s string) llm.Delta { return llm.Delta{Kind: llm.DeltaThink, Text: s} }

// short renders events and messages for comparison.
func short(m any) string {
	args := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	switch m := m.(type) {
	case wire.ContentPart:
		return string(m.Part.Type) + ":" + m.Part.Text + m.Part.Think
	case wire.ToolCall:
		return "call " + m.Call.ID + " " + m.Call.Name + " " + args(m.Call.Arguments)
	case wire.ToolCallPart:
		return "part " + args(m.ArgumentsPart)
	}
	return fmt.Sprintf("%T", m)
}

func TestAssembler(t *testing.T) {
	whole := begin(0, "a", "Read")
	whole.Call.Arguments = new(string)
	*whole.Call.Arguments = `{"p":1}`
	for _, c := range []struct {
		name   string
		deltas []llm.Delta
		wire   string // events, separated by " | "
		calls  string // calls of the message
	}{
		{"text and thinking", []llm.Delta{think("hm "), think("so"), text("a"), text("b")}, "think:hm  | think:so | text:a | text:b", ""},
		{"a call whole", []llm.Delta{whole}, `call a Read {"p":1}`, `a Read {"p":1}`},
		{"a call without arguments", []llm.Delta{begin(0, "a", "Read")}, "call a Read -", "a Read -"},
		{"arguments in pieces", []llm.Delta{begin(0, "a", "Read"), piece(0, `{"p`), piece(0, `":1}`)}, `call a Read - | part {"p | part ":1}`, `a Read {"p":1}`},
		{"an empty piece", []llm.Delta{begin(0, "a", "Read"), piece(0, ""), piece(0, "{}")}, "call a Read - | part {}", "a Read {}"},
		{"two calls in a row", []llm.Delta{begin(0, "a", "Read"), piece(0, "{}"), begin(1, "b", "Write"), piece(1, "{}")}, "call a Read - | part {} | call b Write - | part {}", "a Read {}; b Write {}"},
		{"pieces of two calls mixed", []llm.Delta{begin(0, "a", "Read"), begin(1, "b", "Write"), piece(0, `{"x":`), piece(1, `{"y":`), piece(1, "2}"), piece(0, "1}")}, `call a Read - | part {"x": | part 1} | call b Write {"y":2}`, `a Read {"x":1}; b Write {"y":2}`},
		{"a first call that is never whole", []llm.Delta{begin(0, "a", "Read"), piece(0, "{"), begin(1, "b", "Write"), piece(1, "{}")}, "call a Read - | part { | call b Write {}", "a Read {; b Write {}"},
		{"text behind a call", []llm.Delta{begin(0, "a", "Read"), text("x"), piece(0, "{}")}, "call a Read - | text:x | part {}", "a Read {}"},
		{"an index used again", []llm.Delta{begin(0, "a", "Read"), piece(0, "{}"), begin(0, "b", "Read"), piece(0, "[]")}, "call a Read - | part {} | call b Read - | part []", "a Read {}; b Read []"},
		{"one id twice", []llm.Delta{begin(0, "a", "Read"), piece(0, "{}"), begin(1, "a", "Read"), piece(1, "{}")}, "call a Read - | part {} | call a-2 Read - | part {}", "a Read {}; a-2 Read {}"},
		{"arguments of no call", []llm.Delta{piece(-1, "{}"), text("x")}, "part {} | text:x", ""},
		{"no id", []llm.Delta{begin(0, "", "Read")}, "call call-2 Read -", "call-2 Read -"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sent []string
			a := &assembler{send: func(e wire.Event) { sent = append(sent, short(e)) }}
			for _, d := range c.deltas {
				if err := a.add(d); err != nil {
					t.Fatal(err)
				}
			}
			m := a.message()
			var calls []string
			for _, call := range m.ToolCalls {
				calls = append(calls, strings.TrimPrefix(short(wire.ToolCall{Call: call}), "call "))
			}
			if got := strings.Join(sent, " | "); got != c.wire {
				t.Errorf("on the Wire:\n got %s\nwant %s", got, c.wire)
			}
			if got := strings.Join(calls, "; "); got != c.calls {
				t.Errorf("in the message:\n got %s\nwant %s", got, c.calls)
			}
		})
	}
}

func TestAssemblerRefuses(t *testing.T) {
	a := &assembler{send: func(wire.Event) {}}
	if err := a.add(piece(3, "{}")); err == nil || !strings.Contains(err.Error(), "never began") {
		t.Errorf("arguments of a call that never began: %v", err)
	}
	big := text(strings.Repeat("x", maxAnswer))
	if err := a.add(big); err != nil {
		t.Errorf("an answer at the bound: %v", err)
	}
	if err := a.add(text("y")); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("an answer beyond the bound: %v", err)
	}
	if err := a.add(piece(-1, "y")); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a piece of no call beyond the bound: %v", err)
	}
	a = &assembler{send: func(wire.Event) {}}
	for n := range maxCalls {
		if err := a.add(begin(n, "", "Read")); err != nil {
			t.Fatalf("call %d: %v", n, err)
		}
	}
	if err := a.add(begin(maxCalls, "", "Read")); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("one call too many: %v", err)
	}
}

func TestMergePart(t *testing.T) {
	sig := "s"
	signed := llm.Think("b")
	signed.Encrypted = &sig
	a := &assembler{send: func(wire.Event) {}}
	for _, p := range []llm.Part{llm.Think("a"), signed, llm.Think("c"), llm.Text("x"), llm.Text("y"), llm.Image("u"), llm.Image("v"), llm.Text("z")} {
		a.merge(p)
	}
	var got []string
	for _, p := range a.message().Content {
		got = append(got, string(p.Type)+":"+p.Text+p.Think+p.Media.URL)
	}
	if s := strings.Join(got, " "); s != "think:ab think:c text:xy image_url:u image_url:v text:z" {
		t.Errorf("merged to %s", s)
	}
}

// White space alone is no answer and is not shown; before text it counts.
func TestBlankBeforeText(t *testing.T) {
	blank := strings.Repeat("\n", maxBlank)
	for _, c := range []struct {
		name   string
		pieces []string
		sent   []string
	}{
		{"blank alone", []string{" ", "\n"}, nil},
		{"blank, then text", []string{" ", "\n", "a", " ", "b"}, []string{" \na", " ", "b"}},
		{"too much of it", []string{blank, "a"}, []string{blank, "a"}},
	} {
		var sent []string
		a := &assembler{send: func(e wire.Event) { sent = append(sent, e.(wire.ContentPart).Part.Text) }}
		for _, p := range c.pieces {
			if err := a.add(llm.Delta{Kind: llm.DeltaText, Text: p}); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(sent, c.sent) || textOf(a.message().Content) != strings.Join(c.sent, "") {
			t.Errorf("%s: sent %q, and keeps %q", c.name, sent, textOf(a.message().Content))
		}
	}
}

// Two calls that write large files, in small pieces by turns: the time it takes grows with
// what is said and not with its square, which would be hours here.
func TestLargeCallsWhosePiecesAreMixed(t *testing.T) {
	const pieces = 200_000
	a := &assembler{send: func(wire.Event) {}}
	add := func(d llm.Delta) {
		if err := a.add(d); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 {
		add(begin(i, []string{"a", "b"}[i], "WriteFile"))
		add(piece(i, `{"content":"`))
	}
	for range pieces {
		add(piece(0, `if x { \"{}\" } `))
		add(piece(1, `}\n`))
	}
	add(piece(0, `"}`))
	add(piece(1, `"}`))
	for i, c := range a.message().ToolCalls {
		if !json.Valid([]byte(*c.Arguments)) || len(*c.Arguments) < pieces*3 {
			t.Errorf("call %d has %d bytes of arguments", i, len(*c.Arguments))
		}
	}
}
