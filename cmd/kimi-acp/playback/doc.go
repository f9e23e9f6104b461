// Package playback shows what was recorded of a session to a person: who said what,
// which tools were used and what came of it.
//
// It must not know where the messages come from or whether more will follow, and it
// leaves nothing out silently that a person would look for.
package playback
