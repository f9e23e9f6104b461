// Package demo plays an editor: it starts the agent as a child over stdio, sends
// a prompt from a scratch project with unsaved text, and shows what happens as a
// person would like to read it.
//
// It must not know the agent's insides: all that it sees is what an editor sees,
// the Agent Client Protocol on two pipes.
package demo
