package run

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"kimi-acp/internal/proc"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// endless is a Runner whose commands run until they are ended.
type endless struct{}

func (endless) Run(ctx context.Context, _ proc.Command) (proc.Outcome, error) {
	<-ctx.Done()
	return proc.Outcome{}, ctx.Err()
}

// A command that still runs when the turn ends is ended, and whoever watches is told.
func TestACommandThatOutlivesItsTurn(t *testing.T) {
	start := called("a", "Shell", map[string]any{"command": "serve", "run_in_background": true, "description": "the dev server"})
	o := turn(folder(t), start, "text: It runs.")
	o.Mode, o.Runner = tool.ModeYolo, endless{}
	var told []string
	o.Views = []View{{wire.Raw, wire.ViewFunc(func(m wire.Message) {
		switch m := m.(type) {
		case wire.TurnEnd:
			told = append(told, "end of the turn")
		case wire.Notification:
			told = append(told, fmt.Sprint(m.Title, " | ", m.Body))
		}
	})}}
	r, err := Turn(t.Context(), o)
	if err != nil || r.Err != nil || r.Text != "It runs.\n" {
		t.Fatalf("%+v, %v", r, err)
	}
	if len(told) != 2 || told[0] != "end of the turn" || !strings.HasPrefix(told[1], "Background command was stopped: the dev server | bash-") || !strings.HasSuffix(told[1], "The turn is over, and nothing goes on behind kimi-acp run.") {
		t.Errorf("told %q", told)
	}
}
