package screen

import "strings"

// Diff shows a unified diff with its lines coloured; its file names are left out,
// since they stand in a heading. At most lines are shown, cut to the width, and a
// note says how many are not; 0 shows all of them whole.
func (s *Screen) Diff(unified string, lines int) {
	total, shown := 0, 0
	for line := range strings.Lines(unified) {
		line = strings.TrimRight(line, "\r\n")
		if total < 2 && (strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ")) {
			total++
			continue
		}
		total++
		if lines > 0 && shown >= lines {
			continue
		}
		shown++
		if lines == 0 {
			s.Verbatim(diffStyle(line), line)
		} else {
			s.Line(diffStyle(line), line)
		}
	}
	if hidden := total - 2 - shown; hidden > 0 {
		s.Line(Faint, "… "+plural(hidden, "more line"))
	}
}

func diffStyle(line string) Style {
	switch {
	case strings.HasPrefix(line, "@@"):
		return Cyan
	case strings.HasPrefix(line, "+"):
		return Green
	case strings.HasPrefix(line, "-"):
		return Red
	}
	return Plain
}

// Tail shows the last lines of a text, and a note says how many stand before them.
func (s *Screen) Tail(text string, lines int) {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if hidden := len(all) - lines; hidden > 0 {
		s.Line(Faint, "… "+plural(hidden, "line")+" before these")
		all = all[hidden:]
	}
	for _, line := range all {
		s.Line(Plain, strings.TrimRight(line, "\r"))
	}
}
