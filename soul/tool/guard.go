package tool

import (
	"cmp"
	"context"
	"os"
	"sync"

	"kimi-acp/fileop/facts"
	"kimi-acp/internal/permit"
	"kimi-acp/internal/policy"
	"kimi-acp/internal/trust"
)

// Guard judges what a tool means to do, before anybody is asked. It may be used by
// several goroutines at once.
type Guard struct {
	// Engine gives the rules that hold now, beside the answers of the session. An error
	// makes everything ask.
	Engine func() (*policy.Engine, error)
	// Context is where things stand in the session; its Mode is set for each action.
	Context policy.Context
	// Gate says whether the workspace is trusted; nil: Context does.
	Gate *trust.Gate
	// Rules are what Engine is made of, for people who want to see and change them; nil:
	// nothing is kept.
	Rules *permit.Rules

	// answers gives the rules that were made by answers of the session; nil: none.
	answers func() []policy.Rule
}

// answered is a guard that judges by the answers of a session too.
func (g *Guard) answered(answers func() []policy.Rule) *Guard {
	judging := *g
	judging.answers = answers
	return &judging
}

// engine is the rules that hold now, with those that answers have made.
func (g *Guard) engine() (*policy.Engine, error) {
	engine, err := g.Engine()
	if err != nil || g.answers == nil {
		return engine, err
	}
	answers := g.answers()
	if len(answers) == 0 {
		return engine, nil
	}
	return engine.With(policy.Session, answers...)
}

// context is where things stand now.
func (g *Guard) context() policy.Context {
	c := g.Context
	if g.Gate != nil {
		c.Trusted = g.Gate.Trusted()
	}
	return c
}

// Trusted tells whether the user trusts the workspace to run code of its own.
func (g *Guard) Trusted() bool { return g.context().Trusted }

// plainGuard is the guard of an Executor that was given none: the rules about files
// that hold for everybody.
func plainGuard(roots []string) *Guard {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // then ~ is not understood
	}
	return &Guard{
		Engine:  sync.OnceValues(func() (*policy.Engine, error) { return policy.New(policy.Options{Sets: []string{}}) }),
		Context: policy.Context{Roots: roots, Home: home, Look: facts.Look},
	}
}

// ruling is a verdict, and which modes let the action pass unasked.
type ruling struct {
	policy.Verdict
	firm Firmness
}

// judge puts a question to the rules, and to those that answers have made beside them.
func (g *Guard) judge(question func(*policy.Engine, policy.Context) policy.Verdict) ruling {
	engine, err := g.engine()
	if err != nil {
		return ruling{policy.Verdict{Decision: policy.AskOnce, Reason: "the rules cannot be used: " + err.Error()}, Floor}
	}
	c := g.context()
	trusted := c.Trusted
	c.Mode = policy.ModeDefault
	r := ruling{Verdict: question(engine, c)}
	if r.Decision == policy.Allow || r.Decision == policy.Deny {
		return r
	}
	// Whether a mode lifts a question is the Executor's to say, since it can change
	// while the question is open; which ones could is the rules' to say. The user who
	// turned on the mode that asks nothing has answered for the workspace, too.
	r.firm = Floor
	c.Mode, c.Trusted = policy.ModeYolo, true
	if question(engine, c).Decision == policy.Allow {
		r.firm = Guarded
	}
	c.Mode, c.Trusted = policy.ModeAcceptEdits, trusted
	if question(engine, c).Decision == policy.Allow {
		r.firm = Ordinary
	}
	return r
}

// stricter joins two rulings about one action: no answer to one of them lasts for
// both.
func (r ruling) stricter(other ruling) ruling {
	if other.Decision > r.Decision {
		r, other = other, r
	}
	if other.Decision != policy.Allow {
		r.firm = max(r.firm, other.firm)
	}
	return r
}

// permit settles what the rules say of an action: nil means that it may be done. It
// asks where they say so. Its error is one of Approve, or a *deniedError.
func (c *Invocation) permit(ctx context.Context, r ruling, a Action) error {
	switch r.Decision {
	case policy.Allow:
		return nil
	case policy.Deny:
		return &deniedError{reason: r.Reason}
	}
	a.Firm = r.firm
	if r.Decision == policy.AskOnce {
		a.Description += "\n\nAsked for because " + r.Reason + "."
	} else if r.Key != "" {
		a.Key, a.Scope = a.Name+"\n"+r.Key, cmp.Or(a.Scope, r.Scope)
		a.Rules, a.Lasts = r.Key, r.Lasts
	}
	return c.Approve(ctx, a)
}

// deniedError is an action that the rules deny whatever anybody answers.
type deniedError struct{ reason string }

// Error tells the model why, and not to look for another way.
func (e *deniedError) Error() string {
	return "This is not allowed here, whatever the user answers: " + e.reason + ". Do not try to reach the same by other means; tell the user if it is needed."
}
