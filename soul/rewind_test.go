package soul

import (
	"context"
	"strings"
	"testing"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

// said is the conversation in short, with its marks.
func said(messages []llm.Message) string {
	var out []string
	for _, m := range messages {
		text := ""
		for _, p := range m.Content {
			text += p.Text
		}
		mark := ""
		if m.Mark > 0 {
			mark = "^"
		}
		out = append(out, mark+string(m.Role)+":"+text)
	}
	return strings.Join(out, " ")
}

// keptOnDisk gives what the session holds when it is opened again.
func keptOnDisk(t *testing.T, store *session.Store, kept *session.Session) []llm.Message {
	t.Helper()
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := store.Open("", kept.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}()
	return again.Restored().Messages
}

func keepNew(t *testing.T, s *stage) (*session.Store, *session.Session) {
	t.Helper()
	store := session.NewStore(t.TempDir())
	kept, err := store.Create(t.TempDir(), "x")
	if err != nil {
		t.Fatal(err)
	}
	s.Keep(kept)
	return store, kept
}

// What the user says into a turn opens none: a turn is taken back whole, in memory and
// on disk.
func TestARefusedTurnThatWasSteered(t *testing.T) {
	s := &stage{}
	s.Builtin = play(tools{"Read": func(context.Context, string) wire.ToolReturnValue {
		s.Steer(ask("more"))
		return ok("x")
	}}, Config{}, "text: one", call("a", "Read", "{}"), "text: no\nfinish: content_filter").Builtin
	store, kept := keepNew(t, s)
	for _, prompt := range []string{"first", "second"} {
		if _, err := s.Run(t.Context(), ask(prompt)); err != nil {
			t.Fatal(err)
		}
	}
	want := "^user:first ^assistant:one"
	if got := said(s.history.All()); got != want {
		t.Errorf("in memory: %s", got)
	}
	if got := said(keptOnDisk(t, store, kept)); got != want {
		t.Errorf("on disk: %s", got)
	}
}

func TestRewindByTurnsAndSteps(t *testing.T) {
	read := tools{"Read": func(_ context.Context, args string) wire.ToolReturnValue {
		return wire.ToolReturnValue{Output: wire.Output{Text: args}}
	}}
	const (
		first  = "^user:first ^assistant: tool:1 ^assistant: tool:2 ^assistant:one"
		second = " ^user:second ^assistant: tool:3 ^assistant:two"
	)
	for _, c := range []struct {
		arg, want, card string
	}{
		{"1", first, "The last turn is taken back, from “second” on"},
		{"0.1", first + " ^user:second ^assistant: tool:3", "The last step is taken back:"},
		{"0.2", first + " ^user:second", "The last 2 steps are taken back:"},
		{"0.3", first + second, "Nothing was taken back: the turn has 2 steps"},
		{"1.2", "^user:first ^assistant: tool:1", "from “second” on, and 2 steps of the turn before"},
		{"7", "", "The last 2 turns are taken back, from “first” on"},
		{"7.1", first + second, "Nothing was taken back: the turn has 0 steps"},
		{"0", first + second, "`/rewind` lists"},
		{"-1", first + second, "`/rewind` lists"},
		{"1.0", first + second, "`/rewind` lists"},
		{"x", first + second, "`/rewind` lists"},
		{"", first + second, "- `/rewind 1`: from “second” on; `/rewind 0.1` to `/rewind 0.2`: its last step, to all 2.\n- `/rewind 2`: from “first” on; `/rewind 1.1` to `/rewind 1.3`"},
	} {
		t.Run(c.arg, func(t *testing.T) {
			s := play(read, Config{}, call("a", "Read", "1"), call("b", "Read", "2"), "text: one", call("c", "Read", "3"), "text: two", "text: three")
			store, kept := keepNew(t, s)
			for _, prompt := range []string{"first", "second"} {
				run(t, s, prompt)
			}
			s.said = nil
			run(t, s, "/rewind "+c.arg)
			if got := s.transcript(); !strings.Contains(got, c.card) {
				t.Errorf("said %s, want %q in it", got, c.card)
			}
			if got := said(s.history.All()); got != c.want {
				t.Errorf("in memory: %s\nwant %s", got, c.want)
			}
			// It goes on from there, and what is on disk is the same.
			run(t, s, "third")
			want := strings.TrimSpace(c.want + " ^user:third ^assistant:three")
			if got := said(keptOnDisk(t, store, kept)); got != want || said(s.history.All()) != want {
				t.Errorf("on disk: %s\nin memory: %s\nwant %s", got, said(s.history.All()), want)
			}
		})
	}
}
