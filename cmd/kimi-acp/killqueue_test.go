//go:build unix

package main

import (
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/modeltest"
)

// A prompt that waits when the program is killed is offered by the next one, and runs
// once.
func TestKilledWithAQueue(t *testing.T) {
	v := &survivor{model: modeltest.New(t), share: t.TempDir(), dir: t.TempDir()}
	v.model.Push(modeltest.Reply{Parts: []modeltest.Part{modeltest.CallPieces(0, "c", "Shell", `{"command":"echo begun; sleep 1000"}`, 4)}})
	c := start(t, v.env())
	c.Initialize(acptest.Capabilities{})
	se := c.NewSession(v.dir)
	turn := se.Prompt(acptest.Text("first"))
	turn.Until("the command", func(u acptest.Update) bool { return u.CallID == "c" && u.Status == "in_progress" })
	se.Prompt(acptest.Text("second"))
	c.Request("session/list", map[string]any{}).Result(nil) // behind it the prompt is taken
	c.Kill()
	<-c.Ended()

	said := func(text string) modeltest.Reply {
		return modeltest.Reply{Parts: []modeltest.Part{modeltest.Text(text)}}
	}
	v.model.Push(said("hello"), said("two"))
	c = start(t, v.env())
	c.Initialize(acptest.Capabilities{})
	again := c.LoadSession(se.ID, v.dir)
	for _, p := range []struct{ prompt, says string }{
		{"and now?", "1 prompt was waiting"},
		{"/queue", "1. second\n"},
		{"/queue run", "two"},
		{"/queue", "No prompt was left waiting."},
	} {
		turn := again.Prompt(acptest.Text(p.prompt))
		if got := turn.Wait(); got != "end_turn" || !strings.Contains(turn.Text(), p.says) {
			t.Errorf("%s ended with %s, said %q; want %q", p.prompt, got, turn.Text(), p.says)
		}
	}
	c.Close()
}
