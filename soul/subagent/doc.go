// Package subagent runs the agents that a session's model starts: souls with a history,
// a Wire and a budget of their own, whose tools are those of the session, as far as
// their type has them.
//
// What such an agent does is told on the session's Wire within its call; what it asks
// the user for names it. Its history is kept beside the session, so that it can be
// resumed, also after a restart.
//
// The package must not know who watches the session or where its files are, and it
// decides nothing about what may be done: the session's Executor does.
package subagent
