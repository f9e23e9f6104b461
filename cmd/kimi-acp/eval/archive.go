package eval

import "strings"

// section is a named part of an archive.
type section struct{ name, data string }

// parseArchive divides a text in the form of txtar: a comment, and then files that
// each begin with a line "-- NAME --". A text that does not end with a line end is
// given one.
func parseArchive(text string) (comment string, sections []section) {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	var current strings.Builder
	name, begun := "", false
	flush := func() {
		if begun {
			sections = append(sections, section{name, current.String()})
		} else {
			comment = current.String()
		}
		current.Reset()
	}
	for line := range strings.Lines(text) {
		if n, ok := marker(line); ok {
			flush()
			name, begun = n, true
			continue
		}
		current.WriteString(line)
	}
	flush()
	return comment, sections
}

// marker gives the name in a line that begins a file.
func marker(line string) (string, bool) {
	line = strings.TrimRight(line, "\r\n")
	rest, ok := strings.CutPrefix(line, "-- ")
	if !ok {
		return "", false
	}
	name, ok := strings.CutSuffix(rest, " --")
	name = strings.TrimSpace(name)
	return name, ok && name != ""
}
