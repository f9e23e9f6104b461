package soul

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"kimi-acp/soul/compaction"
	"kimi-acp/soul/llm"
)

const (
	// judgeSees is how much of a round the judge is shown, in tokens.
	judgeSees = 6000
	// maxVerdict bounds the judge's answer, in bytes, and maxWhy what is kept of it.
	maxVerdict = 16 << 10
	maxWhy     = 600
)

const judgeSystem = `You judge whether a goal is reached. You are shown the goal and what an agent did and said last. Go by what was done and by results that can be seen, not by what the agent claims. Do not do the work yourself.
Answer in two or three sentences: what shows that the goal is reached, or what exactly is still missing. Then end with one of these:
<verdict>reached</verdict> if nothing is missing,
<verdict>open</verdict> if the agent can go on by itself,
<verdict>blocked</verdict> if only the user can help, by a decision, a permission or something that the agent cannot get.`

// verdict is what a judge says of a goal.
type verdict struct {
	reached, blocked bool
	why              string // a few sentences; for the model and for people
}

var verdictTag = regexp.MustCompile(`(?i)<verdict>\s*(reached|open|blocked)\s*</verdict>`)

// judge has a model judge a goal by the messages from an index on. It is no part of the
// conversation. A judge that gives no verdict leaves the goal open. The error says that
// no model answered.
func (b *Builtin) judge(ctx context.Context, g *goal, from int) (verdict, error) {
	messages := b.history.All()
	if from = min(from, len(messages)); from == len(messages) { // it was compacted since
		from = 0
	}
	var s strings.Builder
	fmt.Fprintf(&s, "The goal:\n%s\n", g.Text)
	if plan := planText(messages); plan != "" {
		fmt.Fprintf(&s, "\nThe agent's to-do list:\n%s\n", plan)
	}
	fmt.Fprintf(&s, "\nWhat the agent did last, abridged:\n%s\n", compaction.Transcript(messages[from:], judgeSees))
	fmt.Fprintf(&s, "\nIs the goal reached?")
	answer, err := b.askBeside(ctx, func(int) *llm.Request {
		return &llm.Request{System: judgeSystem, Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Part{llm.Text(s.String())}}}}
	}, maxVerdict)
	if err != nil {
		return verdict{}, err
	}
	return readVerdict(answer), nil
}

// readVerdict reads a judge's answer; the last verdict in it counts.
func readVerdict(answer string) verdict {
	v := verdict{why: Shorten(verdictTag.ReplaceAllString(answer, ""), maxWhy)}
	all := verdictTag.FindAllStringSubmatch(answer, -1)
	if all == nil {
		return v
	}
	switch strings.ToLower(all[len(all)-1][1]) {
	case "reached":
		v.reached = true
	case "blocked":
		v.blocked = true
	}
	return v
}
