package acp_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul/llm"
)

func Test020EndOfInputEndsTheTurn(t *testing.T) {
	// More time than any answer needs: what is seen is that the end waits for them.
	c := stage{scripts: []string{hangs}, rpc: jsonrpc.Options{Linger: time.Minute}}.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	turn, waiting := s.Prompt(acptest.Text("go")), s.Prompt(acptest.Text("and on"))
	turn.Until("the model", acptest.IsKind("agent_message_chunk"))
	c.Hangup()
	if first, second := turn.Wait(), waiting.Wait(); first != "cancelled" || second != "cancelled" {
		t.Errorf("the turns ended with %s and %s", first, second)
	}
	<-c.Ended()
}

// An editor that does not read stops the model, not the process, and nothing is
// lost: what the model was asked for is counted once everything stands still.
func Test024EditorThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const piece, pieces = 64 << 10, 768 // 48 MiB
		text := strings.Repeat("x", piece)
		var given atomic.Int64
		m := model(func(ctx context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
			for range pieces {
				if err := ctx.Err(); err != nil {
					yield(llm.Delta{}, err)
					return
				}
				given.Add(1)
				if !yield(llm.Delta{Kind: llm.DeltaText, Text: text}, nil) {
					return
				}
			}
			yield(llm.Delta{Kind: llm.DeltaFinish, Finish: llm.FinishStop}, nil)
		})
		c := stage{newSoul: m.soul}.serve(t)
		c.Initialize(both)
		s := c.NewSession(t.TempDir())
		fence(c)
		c.Pause()
		turn := s.Prompt(acptest.Text("tell me everything"))
		synctest.Wait()
		// What is queued, being written, being read, and handed to the connection.
		if n := given.Load(); n < 2 || n*piece > 2*jsonrpc.DefaultMaxQueued+4*piece {
			t.Errorf("the model was asked for %d pieces, %d bytes, while nobody read", n, n*piece)
		}
		c.Resume()
		turn.Until("as much again", func(acptest.Update) bool { return given.Load() > 64 })
		c.Pause()
		s.Cancel()
		synctest.Wait()
		stopped := given.Load()
		c.Resume()
		if got := turn.Wait(); got != "cancelled" {
			t.Errorf("the turn ended with %s", got)
		}
		if stopped >= pieces {
			t.Errorf("the model went on to the end: %d pieces", stopped)
		}
		if n := int64(len(turn.Text())); n != given.Load()*piece || given.Load() != stopped {
			t.Errorf("%d bytes arrived of the %d pieces that were given (%d before the cancel)", n, given.Load(), stopped)
		}
	})
}
