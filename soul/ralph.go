package soul

import (
	"context"
	"math"

	"kimi-acp/soul/skill"
)

// The exits of the loop's node.
const (
	ralphOn   = "CONTINUE"
	ralphOver = "STOP"
)

// ralph has the model work on a prompt again and again until it says that all is done:
// a flow of the prompt and one more node, which leads back to itself.
func (b *Builtin) ralph(ctx context.Context, in Input) (Outcome, error) {
	again := in.Text + "\n\n(You work in a loop: the same prompt comes again and again, with all that you have done so far. " +
		"See how far it is, and do what is still missing. Choose " + ralphOver + " only when nothing is missing and you have checked that; if you are in doubt, choose " + ralphOn + ".)"
	r := &flowRun{
		soul: b, title: "The loop", first: &in, moves: math.MaxInt, otherwise: "again", round: true,
		place: flowPlace{At: "BEGIN"},
		flow: &skill.Flow{Begin: "BEGIN", Nodes: map[string]skill.Node{
			"BEGIN": {Prompt: "BEGIN", Exits: []skill.Exit{{To: "first"}}},
			"first": {Prompt: in.Text, Exits: []skill.Exit{{To: "again"}}},
			"again": {Prompt: again, Exits: []skill.Exit{{Label: ralphOn, To: "again"}, {Label: ralphOver, To: "END"}}},
			"END":   {Prompt: "END", End: true},
		}},
	}
	if b.cfg.Ralph > 0 {
		r.moves = b.cfg.Ralph + 1
	}
	return r.run(ctx)
}
