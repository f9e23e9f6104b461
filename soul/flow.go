package soul

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/skill"
	"kimi-acp/soul/wire"
)

const (
	// maxFlowMoves bounds the nodes that one run of a flow goes through.
	maxFlowMoves = 1000
	// maxFlowAsks bounds how often a node is asked until the model chooses an exit.
	maxFlowAsks = 3
)

// choiceTag is how a model says by which exit it leaves a node.
var choiceTag = regexp.MustCompile(`<choice>([^<]*)</choice>`)

// flowPlace is where a run of a flow stands. It is kept with the session.
type flowPlace struct {
	Name  string `json:"flow"`
	At    string `json:"at"`              // the node that is next, or was begun
	Moves int    `json:"moves"`           // nodes that were gone through in this run
	Begun bool   `json:"begun,omitempty"` // the model was asked at At, and there was no whole answer
	Adds  string `json:"adds,omitempty"`  // what the user said beside the command
}

// flowRun walks a flow, asking the model at each node.
type flowRun struct {
	soul  *Builtin
	flow  *skill.Flow
	place flowPlace
	keeps bool   // the place is kept with the session
	moves int    // how many there may be
	first *Input // asked instead of the first node's prompt; nil: that is asked
	title string // what a person calls the run
	typed string // the user's words that began it
	round bool   // it goes round, and is told by its rounds
	// otherwise is where it goes on when the model does not choose; "": it does not.
	otherwise string
	open      bool // the run's turn has begun in the history
	steps     int  // model calls so far
}

// runFlow is the command that walks a flow.
func runFlow(k skill.Skill) func(*Builtin, context.Context, string) (string, error) {
	return func(b *Builtin, ctx context.Context, args string) (string, error) {
		command := "/" + flowPrefix + commandName(k.Name)
		r := &flowRun{
			soul: b, flow: k.Flow, keeps: true, moves: maxFlowMoves, title: fmt.Sprintf("The flow `%s`", k.Name),
			typed: strings.TrimSpace(command + " " + args), place: flowPlace{Name: k.Name, At: k.Flow.Begin, Adds: args},
		}
		if args == "continue" {
			left := b.leftFlow()
			if left == nil || left.Name != k.Name {
				b.say("%s was not left off in this session; `%s` begins it.", r.title, command)
				return "", nil
			}
			if _, ok := k.Flow.Nodes[left.At]; !ok {
				b.say("%s has changed since it was left off, and has no “%s” any more; `%s` begins it anew.", r.title, left.At, command)
				return "", nil
			}
			r.place = *left
			r.place.Moves = 0
		}
		out, err := r.run(ctx)
		return "", &wentOn{out, err}
	}
}

// run goes from node to node until the flow ends, or something ends it. Where it stands
// is kept before each node, so that it can be gone on with.
func (r *flowRun) run(ctx context.Context) (Outcome, error) {
	for {
		node := r.flow.Nodes[r.place.At]
		switch {
		case node.End:
			r.keep(false)
			return r.outcome(StopEndTurn), nil
		case len(node.Exits) == 0:
			r.keep(false)
			r.say("%s ends at “%s”, from which nothing leads on.", r.title, Shorten(node.Prompt, 60))
			return r.outcome(StopEndTurn), nil
		case r.place.At == r.flow.Begin:
			r.place.At = node.Exits[0].To
			continue
		case r.place.Moves >= r.moves:
			r.stands(fmt.Sprintf("has gone through %d steps, which is as many as there may be at once", r.place.Moves))
			return r.outcome(StopMaxSteps), nil
		}
		next, out, err := r.pass(ctx, node)
		if err != nil || next == "" {
			return out, err
		}
		r.place.At, r.place.Begun = next, false
		r.place.Moves++
	}
}

// pass asks the model at a node until it has chosen an exit, and gives the node that it
// leads to. With "" the run is over, with an outcome or an error.
func (r *flowRun) pass(ctx context.Context, node skill.Node) (next string, out Outcome, err error) {
	hint := ""
	if r.place.Begun {
		hint = "\n\n(This was asked before, and the answer broke off. Look at how far it got, and go on from there.)"
	}
	for range maxFlowAsks {
		r.place.Begun = true
		r.keep(true)
		out, err := r.ask(ctx, node, nodePrompt(node)+hint)
		r.steps += out.Steps
		switch {
		case err != nil:
			if ctx.Err() != nil {
				r.stands("was stopped")
			} else {
				r.stands("could not go on")
			}
			return "", r.outcome(out.Stop), err
		case out.Stop == StopCancelled:
			r.stands("was stopped")
			return "", r.outcome(out.Stop), nil
		case out.Stop != StopEndTurn, r.soul.turnedDown():
			r.stands("could not go on")
			return "", r.outcome(out.Stop), nil
		}
		next, ok := r.soul.chosenExit(node)
		if ok || r.otherwise != "" {
			return cmp.Or(next, r.otherwise), out, nil
		}
		hint = "\n\nYour last answer chose none of these. End it with one of them, as <choice>…</choice>."
	}
	r.stands(fmt.Sprintf("could not go on, as the model chose none of its ways in %d answers", maxFlowAsks))
	return "", r.outcome(StopEndTurn), nil
}

// ask asks the model at a node: as a turn within the command's, or as more of the turn
// that the command is.
func (r *flowRun) ask(ctx context.Context, node skill.Node, prompt string) (Outcome, error) {
	b := r.soul
	in, own := Input{Text: prompt, Parts: []llm.Part{llm.Text(prompt)}}, false
	if r.first != nil {
		in, own, r.first = *r.first, true, nil
	} else if !r.open && r.place.Adds != "" && r.place.Adds != "continue" {
		in.Parts = append(in.Parts, llm.Text("The user adds: "+r.place.Adds))
	}
	opens := !r.open
	r.open = true
	if b.cfg.Profile.nestsTurns {
		b.cfg.Wire.Send(wire.TurnBegin{UserInput: in.Wire()})
		defer b.cfg.Wire.Send(wire.TurnEnd{})
		return b.converse(ctx, in, !own)
	}
	if own {
		return b.converse(ctx, in, false)
	}
	if r.round {
		b.say("\n\n**Round %d**\n\n", r.place.Moves+1)
	} else {
		b.say("\n\n**Step %d: %s**\n\n", r.place.Moves+1, Shorten(node.Prompt, 80))
	}
	if opens {
		in.Parts = append([]llm.Part{llm.Text(r.typed)}, in.Parts...)
		return b.converse(ctx, in, true)
	}
	return b.goOn(ctx, fmt.Sprintf("<system>%s goes on with its next step.</system>\n\n%s", r.title, prompt))
}

// outcome is how the run ended, with all its model calls.
func (r *flowRun) outcome(s StopReason) Outcome { return Outcome{Stop: s, Steps: r.steps} }

// keep keeps where the flow stands, or that it no longer does anywhere.
func (r *flowRun) keep(stands bool) {
	switch {
	case !r.keeps:
	case stands:
		place := r.place
		r.soul.leaveFlow(&place)
	default:
		r.soul.leaveFlow(nil)
	}
}

// stands tells the user that a run is over although its flow is not.
func (r *flowRun) stands(why string) {
	if !r.keeps {
		r.say("%s %s.", r.title, why)
		return
	}
	r.keep(true)
	r.say("%s %s. It stands at “%s”; `/%s%s continue` goes on from there.",
		r.title, why, Shorten(r.flow.Nodes[r.place.At].Prompt, 60), flowPrefix, commandName(r.place.Name))
}

// say tells the user something of the run, where the client does not do so itself.
func (r *flowRun) say(format string, args ...any) {
	if !r.soul.cfg.Profile.silentStops {
		r.soul.say("\n\n"+format, args...)
	}
}

// nodePrompt is what a node asks, with its exits when there are several.
func nodePrompt(n skill.Node) string {
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

// chosenExit is the exit that the model's last answer names: the last one that is
// chosen counts, and its case does not where that leaves no doubt.
func (b *Builtin) chosenExit(n skill.Node) (to string, ok bool) {
	if len(n.Exits) == 1 {
		return n.Exits[0].To, true
	}
	choices := choiceTag.FindAllStringSubmatch(b.lastAnswer(), -1)
	if choices == nil {
		return "", false
	}
	choice := strings.TrimSpace(choices[len(choices)-1][1])
	found := 0
	for _, e := range n.Exits {
		if e.Label == choice {
			return e.To, true
		}
		if strings.EqualFold(e.Label, choice) {
			to, found = e.To, found+1
		}
	}
	return to, found == 1
}

// lastAnswer is the text of the last message, "" when that is not the model's.
func (b *Builtin) lastAnswer() string {
	messages := b.history.All()
	if len(messages) == 0 || messages[len(messages)-1].Role != llm.RoleAssistant {
		return ""
	}
	answer := ""
	for _, p := range messages[len(messages)-1].Content {
		answer += p.Text
	}
	return answer
}

// turnedDown tells whether the turn before ended in results of tools, since the user
// rejected a call, or the model went round in circles.
func (b *Builtin) turnedDown() bool {
	messages := b.history.All()
	return len(messages) > 0 && messages[len(messages)-1].Role == llm.RoleTool
}
