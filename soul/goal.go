package soul

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// GoalBudget bounds what is done for a goal before the user is asked again.
type GoalBudget struct {
	Rounds int // of work, each with its judgement; above 0
	Tokens int // of all model calls for it, as the models count them; 0: no bound
}

// DefaultGoal is the budget of goals that nobody gave another.
var DefaultGoal = GoalBudget{Rounds: 20}

// maxGoalRounds bounds what a user may allow a goal.
const maxGoalRounds = 1000

// goalState is the state of a goal.
type goalState string

// The states of a goal. One that is running while no turn runs was broken off.
const (
	goalRunning goalState = "running"
	goalPaused  goalState = "paused"  // stopped by the user, or by a failure
	goalBlocked goalState = "blocked" // it cannot be reached without the user
	goalSpent   goalState = "spent"   // its budget is used up
	goalReached goalState = "reached"
)

// goalTable holds the legal moves of a goal.
var goalTable = Table[goalState]{
	goalRunning: {goalRunning, goalPaused, goalBlocked, goalSpent, goalReached},
	goalPaused:  {goalRunning},
	goalBlocked: {goalRunning, goalPaused},
	goalSpent:   {goalRunning, goalPaused},
}

// goal is what the user wants reached, as it is kept with the session.
type goal struct {
	Text   string     `json:"text"`
	State  goalState  `json:"state"`
	Why    string     `json:"why,omitempty"` // what the last judgement said, or what stopped it
	Budget GoalBudget `json:"budget"`
	Spent  GoalBudget `json:"spent"`
}

// describe tells a person how a goal stands.
func (g *goal) describe() string {
	state := string(g.State)
	if g.State == goalRunning {
		state = "broken off"
	}
	text := fmt.Sprintf("“%s” is %s: %s.", Shorten(g.Text, 200), state, g.figures())
	if g.Why != "" {
		text += " " + strings.TrimRight(g.Why, ". \n") + "."
	}
	return text
}

// figures tells how much of the budget is spent.
func (g *goal) figures() string {
	text := fmt.Sprintf("%d of %d rounds", g.Spent.Rounds, g.Budget.Rounds)
	switch {
	case g.Budget.Tokens > 0:
		text += fmt.Sprintf(", %d of %d tokens", g.Spent.Tokens, g.Budget.Tokens)
	case g.Spent.Tokens > 0:
		text += fmt.Sprintf(", %d tokens", g.Spent.Tokens)
	}
	return text
}

// spent tells whether nothing of the budget is left.
func (g *goal) spent() bool {
	return g.Spent.Rounds >= g.Budget.Rounds || g.Budget.Tokens > 0 && g.Spent.Tokens >= g.Budget.Tokens
}

// lastGoal is the goal of the session, nil when there was none.
func (b *Builtin) lastGoal() *goal {
	b.readLeft()
	return b.left.goal
}

// keepGoal keeps how a goal stands, nil: there is none.
func (b *Builtin) keepGoal(g *goal) {
	b.readLeft()
	b.left.goal = g
	b.record.setAside(goalKey, g)
}

// moveGoal brings a goal to a state and keeps it.
func (b *Builtin) moveGoal(g *goal, to goalState, why string) {
	if !goalTable.Allows(g.State, to) {
		b.cfg.Logger.Error((&IllegalMoveError{"the goal", string(g.State), string(to)}).Error())
		return
	}
	g.State, g.Why = to, why
	b.keepGoal(g)
}

// goalUsage is what the command takes.
const goalUsage = "`/goal TEXT` works until TEXT is reached; `/goal` shows how it stands, `/goal resume` goes on, `/goal budget N` lets it have N rounds in all, `/goal clear` forgets it. Cancel the prompt to pause it."

// goalNow is the command.
func (b *Builtin) goalNow(ctx context.Context, args string) (string, error) {
	g := b.lastGoal()
	word, rest, _ := strings.Cut(args, " ")
	rest = strings.TrimSpace(rest)
	alone := rest == "" && g != nil
	switch {
	case args == "" && g == nil:
		b.say("There is no goal. %s", goalUsage)
	case args == "":
		b.say("%s\n\n%s", g.describe(), goalUsage)
	case word == "clear" && alone:
		b.keepGoal(nil)
		b.say("The goal is forgotten; what was done for it stays.")
	case word == "pause" && alone: // a goal that runs is paused by a cancel
		if goalTable.Allows(g.State, goalPaused) {
			b.moveGoal(g, goalPaused, g.Why)
		}
		b.say("%s", g.describe())
	case word == "budget" && g != nil && isRounds(rest):
		g.Budget.Rounds, _ = strconv.Atoi(rest)
		b.keepGoal(g)
		b.say("%s", g.describe())
	case word == "resume" && alone:
		return b.resumeGoal(ctx, g)
	default:
		g = &goal{Text: args, State: goalPaused, Budget: b.cfg.Goal}
		out, err := b.pursue(ctx, g, "/goal "+args)
		return "", &wentOn{out, err}
	}
	return "", nil
}

// isRounds tells whether a text is a number of rounds that a goal may have.
func isRounds(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 1 && n <= maxGoalRounds
}

// resumeGoal goes on with a goal, with a budget anew when that was used up.
func (b *Builtin) resumeGoal(ctx context.Context, g *goal) (string, error) {
	if g.State == goalReached {
		b.say("%s Give another one with `/goal TEXT`.", g.describe())
		return "", nil
	}
	if g.Spent.Rounds >= g.Budget.Rounds {
		g.Budget.Rounds = g.Spent.Rounds + b.cfg.Goal.Rounds
	}
	if g.Budget.Tokens > 0 && g.Spent.Tokens >= g.Budget.Tokens {
		g.Budget.Tokens = g.Spent.Tokens + b.cfg.Goal.Tokens
	}
	out, err := b.pursue(ctx, g, "/goal resume")
	return "", &wentOn{out, err}
}
