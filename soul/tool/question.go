package tool

import (
	"fmt"
	"strings"

	"kimi-acp/internal/markdown"
	"kimi-acp/internal/policy"
)

const (
	// maxAskedCommand is how much of a command a question shows, in bytes. It is more
	// than the rules look into, so what is cut is asked for each time.
	maxAskedCommand = 12_000
	shortCommand    = 120 // bytes that fit into a sentence
	maxAskedParts   = 8
)

// commandQuestion is what a person reads before a command runs: our words about the
// bytes that would run, never the model's.
func commandQuestion(command string, r ruling) string {
	shown := policy.Legible(command)
	if len(shown) <= shortCommand && !strings.ContainsAny(shown, "\n") {
		shown = "Run command " + codeSpan(shown)
	} else {
		shown = "Run this command:\n\n" + markdown.Fenced("bash", cutMiddle(shown, maxAskedCommand))
	}
	return shown + partsAsked(r.Parts) + lookalikeNote(command)
}

// partsAsked names the commands of a script that are the reason to ask, when others
// in it would not be asked for.
func partsAsked(parts []policy.Part) string {
	var asked []string
	for _, p := range parts {
		if p.Decision != policy.Allow {
			asked = append(asked, "- "+codeSpan(policy.Legible(shorten(p.Text, maxTitle))))
		}
	}
	if len(asked) == 0 || len(asked) == len(parts) {
		return ""
	}
	if more := len(asked) - maxAskedParts; more > 0 {
		asked = append(asked[:maxAskedParts], fmt.Sprintf("- and %d more", more))
	}
	return "\n\nWhat is asked for in it:\n\n" + strings.Join(asked, "\n")
}

// lookalikeNote tells of words that are not what they look like.
func lookalikeNote(text string) string {
	var notes []string
	for _, word := range policy.Lookalikes(text) {
		notes = append(notes, fmt.Sprintf("%s is written %s", codeSpan(word), codeSpan(policy.Escaped(word))))
	}
	if len(notes) == 0 {
		return ""
	}
	return "\n\nLetters in it are not what they look like: " + strings.Join(notes, ", ") + "."
}

// cutMiddle leaves out the middle of a long text and says how much that was.
func cutMiddle(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head := strings.ToValidUTF8(text[:most*2/3], "")
	tail := strings.ToValidUTF8(text[len(text)-most/3:], "")
	gone := text[len(head) : len(text)-len(tail)]
	return fmt.Sprintf("%s\n⟨%s not shown, with %s⟩\n%s", head, plural(len(gone), "byte"), plural(strings.Count(gone, "\n"), "line break"), tail)
}
