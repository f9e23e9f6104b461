package soul

import (
	"regexp"
	"strings"
)

// HookSpeaker is a Hooks whose hooks may have something to say to the model.
type HookSpeaker interface {
	// Said takes what was said since it was taken last, "" for nothing. It is bounded, and
	// may be called at any time.
	Said() string
}

// frameTag is what could end, or pretend to begin, a frame of ours.
var frameTag = regexp.MustCompile(`(?i)<(\s*/?\s*(system|context))`)

// hooksSaid gives what hooks have to say to the model, marked as theirs; "" for nothing.
// Each line of it is set off, and none can end the frame around it.
func (b *Builtin) hooksSaid() string {
	speaker, ok := b.cfg.Hooks.(HookSpeaker)
	if !ok {
		return ""
	}
	text := speaker.Said()
	if text == "" {
		return ""
	}
	lines := strings.Split(frameTag.ReplaceAllString(text, "&lt;$1"), "\n")
	return reminderHead + "Hooks of the user's say to this prompt:\n> " + strings.Join(lines, "\n> ") + "\n" + reminderTail
}
