package soul

import (
	"slices"
	"strings"

	"kimi-acp/soul/session"
)

// HostCommands are the commands about edits and turns. Whoever keeps the journal and the
// conversation carries them out, whatever kernel thinks.
func HostCommands() []Command {
	var out []Command
	for _, c := range builtinCommands() {
		if slices.Contains([]string{"changes", "undo", "redo", "rewind"}, c.Name) {
			out = append(out, c.Command)
		}
	}
	return out
}

// IsHostCommand tells whether a prompt is one of HostCommands.
func IsHostCommand(text string) bool {
	text, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	words := strings.Fields(text)
	return ok && len(words) > 0 && !strings.HasPrefix(text, " ") &&
		slices.ContainsFunc(HostCommands(), func(c Command) bool { return c.Name == words[0] })
}

// NoteEdits keeps beside a session which turn of the edits, from 1, began with the turn
// of the conversation that stands behind a checkpoint. Without it, taking back that turn
// in another process leaves its files alone.
func NoteEdits(s *session.Session, checkpoint, turn int) error {
	return s.SetAside(editsKey(checkpoint), editsNote{s.ID(), turn})
}
