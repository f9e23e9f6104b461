package screen

import (
	"os"
	"strconv"

	"golang.org/x/term"
)

// plainWidth is the width where there is no terminal to ask.
const plainWidth = 80

// ForFile makes a Screen that writes to f: in colour on a terminal, unless NO_COLOR
// is set or TERM is dumb, and as wide as the terminal is. columns, if not 0, is the
// width instead. getenv is os.Getenv, or stands for it.
func ForFile(f *os.File, columns int, getenv func(string) string) *Screen {
	colour := false
	if fd := int(f.Fd()); term.IsTerminal(fd) {
		colour = getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
		if w, _, err := term.GetSize(fd); err == nil && columns == 0 {
			columns = w
		}
	}
	if columns == 0 {
		columns = plainWidth
	}
	return New(f, colour, columns)
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
