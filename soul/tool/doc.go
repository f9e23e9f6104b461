// Package tool holds the contract of a tool, the built-in tools and the
// Executor that runs them for a session: it decodes and checks what a model
// sent, asks the user for what changes anything, and answers with a result for
// the model and for people.
//
// Each built-in tool is a file of its own, with its description for the model
// beside it. A tool never writes a file or starts a process itself; it asks its
// Invocation, which goes through fileop and a Runner.
//
// The package must not know which model called, how the answers to approvals
// are gathered, or that there is an editor: files reach it through an
// Operator,
// commands through Runner, the user through Asker.
package tool
