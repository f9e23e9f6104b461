package acp_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
)

// Section F of the checklist: the prompt turn.

func Test071PlainPrompt(t *testing.T) {
	turn := stage{scripts: []string{"text: Hello,\ntext: \" world.\""}}.session(t).Prompt(acptest.Text("hi"))
	if got := turn.Wait(); got != "end_turn" || turn.Text() != "Hello, world." {
		t.Errorf("ended with %s, said %q", got, turn.Text())
	}
}

// One writer, one order: of 5000 chunks none comes behind the answer, and none is
// lost. (Test of the same class of bug in peers, number 49.)
func Test072AllUpdatesComeBeforeTheAnswer(t *testing.T) {
	const n = 5000
	pieces := make([]string, n)
	for i := range pieces {
		pieces[i] = fmt.Sprintf("%d ", i)
	}
	c := stage{newSoul: says(pieces...).soul}.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	turn := s.Prompt(acptest.Text("count"))
	turn.Wait()
	if got := turn.Text(); got != strings.Join(pieces, "") {
		t.Errorf("%d bytes arrived in order, want %d", len(got), len(strings.Join(pieces, "")))
	}
	before := len(s.Updates())
	fence(c)
	if after := len(s.Updates()); after != before {
		t.Errorf("%d updates behind the answer", after-before)
	}
}

func Test073LinksAreNamesAndNeverOpened(t *testing.T) {
	var heard listener
	c := stage{scripts: []string{"text: ok"}, newSoul: heard.soul}.serve(t)
	c.Initialize(both)
	turn := c.NewSession(t.TempDir()).Prompt(acptest.Text("look"), acptest.Link("file:///no/such/file.go", "file.go"), acptest.Link("https://x.test/a", "a"))
	if got := turn.Wait(); got != "end_turn" {
		t.Errorf("ended with %s", got)
	}
	want := `user [look] [<mention kind="file" path="/no/such/file.go"/>] [<mention kind="other" uri="https://x.test/a" name="a"/>]` + "\n"
	if got := heard.last(); got != want {
		t.Errorf("the model read\n%s\nwant\n%s", got, want)
	}
	if n := len(asked(t, c, "fs/read_text_file")); n != 0 {
		t.Errorf("%d files were read for links", n)
	}
}

// What promptCapabilities does not offer is refused, and so is what is no block.
func Test074To075BlocksThatAreRefused(t *testing.T) {
	c := stage{scripts: []string{"text: still here"}}.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	for _, prompt := range []any{
		[]any{map[string]any{"type": "audio", "data": "QUJD", "mimeType": "audio/wav"}},
		[]any{},
		nil, "hi",
		map[string]any{"type": "text", "text": "x"},
		[]any{nil},
		[]any{"hi"},
		[]any{map[string]any{"type": "hologram"}},
		[]any{map[string]any{"type": "text"}},
		[]any{acptest.Text("fine"), map[string]any{"type": "text", "text": 5}},
		[]any{map[string]any{"type": "resource", "resource": map[string]any{"uri": "file:///a"}}},
	} {
		c.Misuse("session/prompt", map[string]any{"sessionId": s.ID, "prompt": prompt}).Fails(jsonrpc.CodeInvalidParams)
	}
	c.Misuse("session/prompt", map[string]any{"sessionId": s.ID}).Fails(jsonrpc.CodeInvalidParams)
	if got := s.Prompt(acptest.Text("hi")).Wait(); got != "end_turn" {
		t.Errorf("the next turn ended with %s", got)
	}
}

// An image for a model that cannot see becomes a note to the model; nothing is
// lost in silence.
func Test074ImageForAModelWithoutEyes(t *testing.T) {
	var heard soul.Input
	blind := behaving{run: func(_ context.Context, in soul.Input) (soul.Outcome, error) {
		heard = in
		return soul.Outcome{}, nil
	}}
	s := stage{newSoul: func(acp.SoulSpec, llm.Provider) (soul.Soul, error) { return blind, nil }}.session(t)
	if got := s.Prompt(acptest.Image("image/png", "QUJD")).Wait(); got != "end_turn" {
		t.Fatalf("ended with %s", got)
	}
	if len(heard.Parts) != 1 || !strings.Contains(heard.Parts[0].Text, "cannot see images") {
		t.Errorf("the soul got %+v", heard.Parts)
	}
}

func Test076BlocksKeepTheirOrder(t *testing.T) {
	var heard listener
	s := stage{scripts: []string{"text: ok"}, newSoul: heard.soul}.session(t)
	s.Prompt(
		acptest.Text("Compare"),
		acptest.Resource("file:///w/a.go#L10:25", "func a() {}\r\n"),
		acptest.Text("with"),
		acptest.Link("zed:///agent/selection?path=%2Fw%2Fb%20c.go#L3:4", "b c.go"),
		acptest.Image("image/png", "QUJD"),
		acptest.Text("please"),
	).Wait()
	want := `user [Compare] [<mention kind="file" path="/w/a.go" lines="10-25">
func a() {}

</mention>] [with] [<mention kind="file" path="/w/b c.go" lines="3-4"/>] [data:image/png;base64,QUJD] [please]
`
	if got := heard.last(); got != want {
		t.Errorf("the model read\n%s\nwant\n%s", got, want)
	}
}

func Test077URIsThatAreNoPlainPaths(t *testing.T) {
	var heard listener
	c := stage{scripts: []string{"text: ok"}, newSoul: heard.soul}.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	links := []struct{ uri, want string }{
		{`file:///C:/Users/x/a%20b.go`, `path="C:/Users/x/a b.go"`},
		{`C:\x\y.go`, `path="C:\x\y.go"`},
		{`file://server/share/a.go`, `path="//server/share/a.go"`},
		{`file:///w/50%25%20plan.md`, `path="/w/50% plan.md"`},
		{`file:///w/50%%20plan.md`, `path="/w/50% plan.md"`},
		{`file:///w/a%00b`, `uri="file:///w/a%00b"`},
		{`https://x.test/a.go#L1`, `uri="https://x.test/a.go#L1"`},
		{`untitled:Untitled-1`, `uri="untitled:Untitled-1"`},
		{`c:`, `uri="c:"`},
	}
	blocks := []any{}
	for _, l := range links {
		blocks = append(blocks, acptest.Link(l.uri, "n"))
	}
	c.Misuse("session/prompt", map[string]any{"sessionId": s.ID, "prompt": blocks}).Result(nil)
	got := heard.last()
	for _, l := range links {
		if !strings.Contains(got, " "+l.want+" ") {
			t.Errorf("%s: the model did not read %s in\n%s", l.uri, l.want, got)
		}
	}
	if n := len(asked(t, c, "fs/read_text_file")); n != 0 {
		t.Errorf("%d files were read for links", n)
	}
}

func Test078TwoSessionsAtOnce(t *testing.T) {
	var together sync.WaitGroup // neither goes on before both are under way
	together.Add(2)
	m := model(func(_ context.Context, req *llm.Request, yield func(llm.Delta, error) bool) {
		together.Done()
		together.Wait()
		for range 200 {
			if !yield(llm.Delta{Kind: llm.DeltaText, Text: req.Messages[0].Content[0].Text}, nil) {
				return
			}
		}
		yield(llm.Delta{Kind: llm.DeltaFinish, Finish: llm.FinishStop}, nil)
	})
	c := stage{newSoul: m.soul}.serve(t)
	c.Initialize(both)
	a, b := c.NewSession(t.TempDir()).Prompt(acptest.Text("a")), c.NewSession(t.TempDir()).Prompt(acptest.Text("b"))
	if x, y := a.Wait(), b.Wait(); x != "end_turn" || y != "end_turn" {
		t.Errorf("ended with %s and %s", x, y)
	}
	if a.Text() != strings.Repeat("a", 200) || b.Text() != strings.Repeat("b", 200) {
		t.Errorf("said %q and %q", a.Text(), b.Text())
	}
}

// A prompt for a busy session waits its turn; the one before it is left alone. (P19)
func Test079SecondPromptWaits(t *testing.T) {
	going := make(chan struct{})
	m := model(func(ctx context.Context, req *llm.Request, yield func(llm.Delta, error) bool) {
		parts := req.Messages[len(req.Messages)-1].Content
		text := parts[len(parts)-1].Text
		if !yield(llm.Delta{Kind: llm.DeltaText, Text: "<" + text}, nil) {
			return
		}
		if text == "one" || text == "two" {
			select {
			case <-going:
			case <-ctx.Done():
				yield(llm.Delta{}, ctx.Err())
				return
			}
		}
		if yield(llm.Delta{Kind: llm.DeltaText, Text: text + ">"}, nil) {
			yield(llm.Delta{Kind: llm.DeltaFinish, Finish: llm.FinishStop}, nil)
		}
	})
	c := stage{newSoul: m.soul}.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	one := s.Prompt(acptest.Text("one"))
	one.Until("the first turn", acptest.IsKind("agent_message_chunk"))
	two, three := s.Prompt(acptest.Text("two")), s.Prompt(acptest.Text("three"))
	fence(c)
	if two.Call().Answered() || one.Text() != "<one" {
		t.Error("the first turn was disturbed")
	}
	going <- struct{}{}
	if got := one.Wait(); got != "end_turn" || one.Text() != "<oneone>" {
		t.Errorf("the first ended with %s, said %q", got, one.Text())
	}
	// A cancel reaches the turn that runs, not those that wait.
	two.Until("the second turn", acptest.IsKind("agent_message_chunk"))
	s.Cancel()
	if got := two.Wait(); got != "cancelled" || two.Text() != "<two" {
		t.Errorf("the second ended with %s, said %q", got, two.Text())
	}
	if got := three.Wait(); got != "end_turn" || three.Text() != "<threethree>" {
		t.Errorf("the third ended with %s, said %q", got, three.Text())
	}
}

func Test079TooManyPromptsWait(t *testing.T) {
	c := stage{scripts: []string{hangs}}.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	first := s.Prompt(acptest.Text("go"))
	first.Until("the turn", acptest.IsKind("agent_message_chunk"))
	var waiting []*acptest.Turn
	for range 20 {
		waiting = append(waiting, s.Prompt(acptest.Text("/status")))
	}
	s.Prompt(acptest.Text("one too many")).Fails(jsonrpc.CodeInvalidRequest)
	s.Cancel()
	for _, turn := range append(waiting, first) {
		turn.Wait()
	}
}
