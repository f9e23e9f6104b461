package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

func signed(thought, signature string) wire.ContentPart {
	return wire.ContentPart{Part: llm.Part{Type: llm.PartThink, Think: thought, Encrypted: &signature}}
}

func image(url string) wire.ContentPart { return wire.ContentPart{Part: llm.Image(url)} }

func call(id string, arguments *string) wire.ToolCall {
	return wire.ToolCall{Call: llm.ToolCall{ID: id, Name: "T", Arguments: arguments}}
}

func callPart(s string) wire.ToolCallPart { return wire.ToolCallPart{ArgumentsPart: &s} }

// merged sends the events over a Wire and gives what the merged stream has of them.
func merged(events ...wire.Event) []wire.Message {
	w := wire.New()
	var view collect
	w.Attach(wire.Merged, &view)
	for _, e := range events {
		w.Send(e)
	}
	w.Close()
	return view.got
}

func TestMerge(t *testing.T) {
	type list = []wire.Event
	for _, tt := range []struct {
		name string
		send list
		want list
	}{
		{"text", list{text("a"), text(""), text("b")}, list{text("ab")}},
		{"thoughts", list{think("a"), think("b")}, list{think("ab")}},
		{"a signature ends the thought", list{think("a"), signed("b", "s"), think("c")}, list{signed("ab", "s"), think("c")}},
		{"a signed thought takes no more", list{signed("a", "s"), think("b")}, list{signed("a", "s"), think("b")}},
		{"an empty signature is none", list{signed("a", ""), think("b")}, list{signed("ab", "")}},
		{"an empty signature changes nothing", list{think("a"), signed("b", "")}, list{think("ab")}},
		{"text and thought", list{text("a"), think("b"), text("c")}, list{text("a"), think("b"), text("c")}},
		{"images", list{image("a"), image("b"), text("c")}, list{image("a"), image("b"), text("c")}},
		{"image after text", list{text("a"), image("b")}, list{text("a"), image("b")}},
		{"call without arguments", list{call("1", nil)}, list{call("1", nil)}},
		{"call, null part", list{call("1", nil), wire.ToolCallPart{}}, list{call("1", nil)}},
		{"call, empty part", list{call("1", nil), callPart("")}, list{call("1", ptr(""))}},
		{"call in parts", list{call("1", nil), callPart("{"), wire.ToolCallPart{}, callPart("}")}, list{call("1", ptr("{}"))}},
		{"begun call in parts", list{call("1", ptr("{")), callPart("}")}, list{call("1", ptr("{}"))}},
		{"two calls", list{call("1", ptr("a")), call("2", nil), callPart("b")}, list{call("1", ptr("a")), call("2", ptr("b"))}},
		{"parts alone", list{wire.ToolCallPart{}, callPart("a"), callPart("b")}, list{callPart("ab")}},
		{"null part alone", list{wire.ToolCallPart{}}, list{wire.ToolCallPart{}}},
		{"part after text", list{text("a"), callPart("b")}, list{text("a"), callPart("b")}},
		{"text after part", list{callPart("b"), text("a")}, list{callPart("b"), text("a")}},
		{"others come between", list{text("a"), wire.StepBegin{N: 1}, text("b")}, list{text("a"), wire.StepBegin{N: 1}, text("b")}},
		{"local messages do not", list{text("a"), wire.ToolProgress{}, text("b")}, list{text("ab")}},
		{"nothing", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var want []wire.Message
			for _, m := range tt.want {
				want = append(want, m)
			}
			if diff := cmp.Diff(want, merged(tt.send...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMergeCopies(t *testing.T) {
	signature, id, arguments, part := "s", "i", "a", "p"
	extras := json.RawMessage(`{"k":1}`)
	w := wire.New()
	var view collect
	w.Attach(wire.Merged, &view)

	var want []wire.Message
	for _, send := range []func(){
		func() { w.Send(wire.ContentPart{Part: llm.Part{Type: llm.PartThink, Encrypted: &signature}}) },
		func() { w.Send(wire.ContentPart{Part: llm.Part{Type: llm.PartImage, Media: llm.Media{ID: &id}}}) },
		func() { w.Send(wire.ToolCall{Call: llm.ToolCall{Arguments: &arguments, Extras: extras}}) },
		func() { w.Send(wire.TurnEnd{}); w.Send(wire.ToolCallPart{ArgumentsPart: &part}) },
	} {
		send()
		signature, id, arguments, part = "changed", "changed", "changed", "changed"
		extras[2] = 'X'
		w.Flush()
		signature, id, arguments, part = "s", "i", "a", "p"
		extras[2] = 'k'
	}
	want = []wire.Message{
		signed("", "s"),
		wire.ContentPart{Part: llm.Part{Type: llm.PartImage, Media: llm.Media{ID: ptr("i")}}},
		wire.ToolCall{Call: llm.ToolCall{Arguments: ptr("a"), Extras: json.RawMessage(`{"k":1}`)}},
		wire.TurnEnd{},
		callPart("p"),
	}
	if diff := cmp.Diff(want, view.got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMergeIsBounded(t *testing.T) {
	piece := strings.Repeat("x", wire.MaxMerged/2)
	got := merged(text("a"), text(piece), text(piece), text("b"), text("c"))
	if len(got) != 2 {
		t.Fatalf("got %d messages, want 2", len(got))
	}
	if second := got[1]; !cmp.Equal(second, wire.Message(text("bc"))) {
		t.Errorf("the second message is %.100v", second)
	}
}

// TestMergeKeepsText checks that merging loses, adds and reorders nothing.
func TestMergeKeepsText(t *testing.T) {
	one := rapid.Custom(func(t *rapid.T) wire.Event {
		s := rapid.StringN(0, 4, -1).Draw(t, "text")
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0, 1:
			return text(s)
		case 2:
			return think(s)
		case 3:
			return call(s, nil)
		case 4:
			return callPart(s)
		default:
			return wire.StepBegin{N: 1}
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOf(one).Draw(t, "events")
		w := wire.New()
		var raw, whole collect
		w.Attach(wire.Raw, &raw)
		w.Attach(wire.Merged, &whole)
		for _, e := range events {
			w.Send(e)
		}
		w.Close()
		if len(raw.got) != len(events) {
			t.Fatalf("%d of %d events came raw", len(raw.got), len(events))
		}
		if diff := cmp.Diff(streams(raw.got), streams(whole.got)); diff != "" {
			t.Fatalf("(-raw +merged):\n%s", diff)
		}
		for i := 1; i < len(whole.got); i++ {
			a, aText := whole.got[i-1].(wire.ContentPart)
			b, bText := whole.got[i].(wire.ContentPart)
			if aText && bText && a.Part.Type == b.Part.Type {
				t.Fatalf("messages %d and %d could have been one", i-1, i)
			}
		}
	})
}

// streams gives the texts, thoughts and arguments as one string, with a mark where
// another begins.
func streams(messages []wire.Message) string {
	var out strings.Builder
	last := ""
	put := func(kind, s string) {
		if kind != last {
			out.WriteString("\n" + kind + ":")
			last = kind
		}
		out.WriteString(s)
	}
	for _, m := range messages {
		switch m := m.(type) {
		case wire.ContentPart:
			put(string(m.Part.Type), m.Part.Text+m.Part.Think)
		case wire.ToolCall:
			last = ""
			put("call", m.Call.ID+"(")
			if m.Call.Arguments != nil {
				put("call", *m.Call.Arguments)
			}
		case wire.ToolCallPart:
			kind := "part"
			if last == "call" {
				kind = last
			}
			if m.ArgumentsPart != nil {
				put(kind, *m.ArgumentsPart)
			}
		default:
			put(m.WireType(), "")
			last = ""
		}
	}
	return out.String()
}
