package subagent

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"kimi-acp/soul"
	"kimi-acp/soul/tool"
)

// reviewType is the type of the agents that review steps. It changes nothing.
const reviewType = "explore"

// The words with which a review begins.
const (
	reviewDone  = "DONE"
	reviewAgain = "AGAIN"
)

// reviews tells whether the steps of a plan are reviewed: where the agents of its steps
// change nothing, there is nothing to look at but their word.
func (c *Crew) reviews(j tool.PlanJob) bool {
	kind, err := c.kind(j.Type)
	if err != nil || kind.ReadOnly || c.opts.SkipReviews || !j.Review {
		return false
	}
	_, err = c.kind(reviewType)
	return err == nil
}

// review has an agent judge what another says it has done. said is for people and the
// model: what is missing, or why nobody could tell.
func (c *Crew) review(ctx context.Context, j tool.PlanJob, step soul.PlanStep, report tool.AgentReport) (verdict soul.Verdict, said string) {
	answer := c.Run(ctx, tool.AgentJob{
		Call: j.Call, Type: reviewType, What: soul.Shorten("review: "+step.Title, maxWhat), Prompt: reviewPrompt(j, step, report), Brief: true,
	})
	if answer.Err != nil {
		return soul.Unjudged, fmt.Sprintf("it was not reviewed: %v", answer.Err)
	}
	return judged(answer.Text)
}

// judged reads a review, whose first word counts, however it is adorned.
func judged(text string) (verdict soul.Verdict, said string) {
	notLetter := func(r rune) bool { return !unicode.IsLetter(r) }
	answer := strings.TrimLeftFunc(text, notLetter)
	word := answer
	if end := strings.IndexFunc(answer, notLetter); end >= 0 {
		word = answer[:end]
	}
	switch {
	case strings.EqualFold(word, reviewDone):
		return soul.Accepted, ""
	case strings.EqualFold(word, reviewAgain):
		why := strings.TrimSpace(strings.TrimLeft(answer[len(word):], "*_`: \n"))
		if why == "" {
			why = "the review did not say what is missing"
		}
		return soul.SentBack, cut(why)
	}
	return soul.Unjudged, "the review came to no verdict: " + cut(strings.TrimSpace(text))
}

// reviewPrompt is what the agent of a review is asked.
func reviewPrompt(j tool.PlanJob, step soul.PlanStep, report tool.AgentReport) string {
	return fmt.Sprintf("You review one step of a plan, which another agent says it has done; other steps are none of your business, and may be under way. Look at the files and judge whether the step is done as it was asked for. Do not send it back for matters of taste, or for what nobody asked for.\n\n"+
		"What all of them know:\n%s\n\nThe step: %s\n\nWhat its agent says of it:\n%s\n\n"+
		"Begin your answer with the word %s if the step is done. If it is not, begin with %s: and say what is missing or wrong, with files and lines, so that the agent can finish it.\n", j.Context, step.Title, cut(report.Text), reviewDone, reviewAgain)
}

// cut gives the beginning of what one agent is told of another, with a mark where it ends.
func cut(text string) string {
	if len(text) <= maxHandedOn {
		return text
	}
	return strings.ToValidUTF8(text[:maxHandedOn], "") + "…"
}
