// Package acp serves the Agent Client Protocol v1: it turns an editor's sessions
// into runs of a soul, shows what happens on the soul's Wire as session updates,
// and carries the editor's answers back.
//
// It is the only package that knows ACP. It must not compute diffs, keep a
// journal, decide what is allowed, or touch a file: those live behind its ports,
// which are a fileop.Store over the editor's file methods, a tool.Runner, and the
// approvals of the Wire. It must not import a model provider.
package acp
