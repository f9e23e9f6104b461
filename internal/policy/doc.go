// Package policy decides whether an action may be done: allowed, asked for, asked
// for each time, or denied. Actions are shell commands, reads and edits of files,
// fetches of addresses and calls of MCP tools. A decision comes with its reason,
// the rule behind it, and what a lasting answer of the user would cover.
//
// Everything here is a function of its arguments: no file is opened, no name is
// resolved, no clock is read. The caller tells what the disk says (PathFacts) and
// where things stand (Context). A decision says who is asked, it does not hold
// anybody back: that is for the sandbox, for fileop and for whoever runs things.
//
// The package must not know tools, sessions, protocols or editors, must not ask
// anybody, must not remember answers, and must never read a model's own words
// about what it does.
package policy
