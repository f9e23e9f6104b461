package soul

import (
	"context"
	"regexp"
	"strings"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/skill"
	"kimi-acp/soul/wire"
)

// maxFlowMoves bounds the turns of one run of a flow.
const maxFlowMoves = 1000

// choiceTag is how a model says by which exit it leaves a node.
var choiceTag = regexp.MustCompile(`<choice>([^<]*)</choice>`)

// runFlow is the command that walks a flow, a turn for each node.
func runFlow(f *skill.Flow) func(*Builtin, context.Context, string) (string, error) {
	return func(b *Builtin, ctx context.Context, _ string) (string, error) {
		at, hint := f.Begin, ""
		for range maxFlowMoves {
			node := f.Nodes[at]
			if node.End || len(node.Exits) == 0 {
				return "", nil
			}
			if at == f.Begin {
				at = node.Exits[0].To
				continue
			}
			out, err := b.flowTurn(ctx, flowPrompt(node)+hint)
			if err != nil {
				return "", err
			}
			if out.Stop != StopEndTurn {
				return "", &endedEarly{out}
			}
			if b.turnedDown() {
				return "", nil
			}
			next, ok := b.chosenExit(node)
			if hint = ""; !ok {
				hint = "\n\nYour last answer chose none of these. End it with one of them, as <choice>…</choice>."
				continue
			}
			at = next
		}
		return "", &endedEarly{Outcome{Stop: StopMaxSteps, Steps: maxFlowMoves}}
	}
}

// flowTurn is a turn within the turn of the command.
func (b *Builtin) flowTurn(ctx context.Context, prompt string) (Outcome, error) {
	in := Input{Text: prompt, Parts: []llm.Part{llm.Text(prompt)}}
	b.cfg.Wire.Send(wire.TurnBegin{UserInput: in.Wire()})
	defer b.cfg.Wire.Send(wire.TurnEnd{})
	return b.converse(ctx, in, true)
}

// flowPrompt is what a node asks, with its exits when there are several.
func flowPrompt(n skill.Node) string {
	if len(n.Exits) == 1 {
		return n.Prompt
	}
	var s strings.Builder
	s.WriteString(n.Prompt + "\n\nThen choose how to go on, and end your answer with the choice as <choice>…</choice>:\n")
	for _, e := range n.Exits {
		s.WriteString("- " + e.Label + "\n")
	}
	return s.String()
}

// chosenExit is the exit that the model's last answer names.
func (b *Builtin) chosenExit(n skill.Node) (to string, ok bool) {
	if len(n.Exits) == 1 {
		return n.Exits[0].To, true
	}
	messages := b.history.All()
	answer := ""
	for _, p := range messages[len(messages)-1].Content {
		answer += p.Text
	}
	choices := choiceTag.FindAllStringSubmatch(answer, -1)
	if choices == nil {
		return "", false
	}
	choice := strings.TrimSpace(choices[len(choices)-1][1])
	for _, e := range n.Exits {
		if e.Label == choice {
			return e.To, true
		}
	}
	return "", false
}

// turnedDown tells whether the turn before ended in results of tools, since the user
// rejected a call.
func (b *Builtin) turnedDown() bool {
	messages := b.history.All()
	return len(messages) > 0 && messages[len(messages)-1].Role == llm.RoleTool
}
