// Package markdown writes texts into Markdown in such a way that they stay what they are.
// It must not know what the texts are or who reads the page.
package markdown

import "strings"

// Fenced puts a text into a code block that nothing in it can close. The language may be
// empty; a line break at the text's end is that of its last line.
func Fenced(language, text string) string {
	longest, run := 0, 0
	for _, r := range text {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", max(3, longest+1))
	return fence + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}
