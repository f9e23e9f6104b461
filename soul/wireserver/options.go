package wireserver

import (
	"log/slog"

	"kimi-acp/soul"
	"kimi-acp/soul/hook"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/skill"
	"kimi-acp/soul/tool"
)

// Options are what a session is served with. Kept, Roots and Runner are required.
type Options struct {
	Kept     *session.Session // the session; the caller closes it
	Roots    []string         // absolute; the first is the working folder
	Provider llm.Provider     // nil: no model is set, and prompts say so
	Runner   tool.Runner
	Guard    *tool.Guard      // judges what tools mean to do; nil: the rules for everybody
	System   string           // the system prompt of a new session
	Tools    []tool.Tool      // nil: the built-in ones
	Agents   []tool.AgentType // those that Tools can start
	Mailbox  *tool.Mailbox    // of SendDMail among Tools; nil: the agent has no such tool
	Skills   []skill.Skill    // each is a command
	Yolo     bool             // nothing is asked for in this run
	AFK      bool             // and no questions are put
	MaxSteps int              // model calls in one turn, 0: 1000
	Ralph    int              // see soul.Config
	Retry    soul.RetryPolicy
	Compact  soul.Compaction
	// SkipReviews has no agent look at what the steps of plans came to.
	SkipReviews bool
	// Hooks gives the hooks of the settings on an event that want to know of a target. Nil:
	// there are none.
	Hooks  func(event, target string) []hook.Call
	Logger *slog.Logger // nil: none
}
