// Package companion is the language server that an editor starts beside its others,
// so that the agent knows what the user looks at. It answers like a language server
// that has nothing to say, and takes from what it is asked where the cursor is, what
// is selected, which buffers are unsaved and what is wrong with them. All that goes
// to a state file (package state), from which the agent takes it.
//
// Serve is a server of its own. Wrap stands in front of another server instead, for
// editors that allow one server for a language: it forwards every byte as it came
// and only listens.
//
// It never publishes diagnostics, completes, formats or edits, so it cannot get into
// another server's way. It must not know sessions, models or ACP, and it opens no
// file of the user: all that it knows comes from the editor.
package companion
