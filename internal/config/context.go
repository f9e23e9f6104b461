package config

import (
	"maps"
	"slices"
	"strings"
)

// Uses of a part of the context.
const (
	ContextOff  = "off"  // it is never told
	ContextOn   = "on"   // it is told with every prompt
	ContextAuto = "auto" // it is told when there is something new
)

// Context says what the model is told of editor and project.
type Context struct {
	// Parts holds the uses that were said, by the name of the part; a part that is not
	// in it is ContextAuto.
	Parts    map[string]string
	Budget   int              // tokens that the context may take; 200 to 100000, 0: not said
	Programs []ContextProgram // in the order of their names
}

// ContextProgram is a program of the user's that adds to the context.
type ContextProgram struct {
	Name    string
	Command []string // the program and its arguments; never empty
}

// contextParts are the parts of a context that have a key of their own.
func contextParts() []string {
	return []string{"editor", "files", "symbols", "diagnostics", "git", "diff", "tree", "notes"}
}

// maxPrograms bounds the programs that are asked for each prompt.
const maxPrograms = 8

func readContext(t *table, c *Context) {
	if t == nil {
		return
	}
	for _, part := range contextParts() {
		use, ok := t.text(part)
		switch {
		case !ok:
		case use == ContextOff || use == ContextOn || use == ContextAuto:
			parts := maps.Clone(c.Parts)
			if parts == nil {
				parts = map[string]string{}
			}
			parts[part] = use
			c.Parts = parts
		default:
			t.warn(part, "is none of off, on, auto; it is not used")
		}
	}
	t.number("budget", 200, 100_000, &c.Budget)
	names, programs := t.tables("programs")
	for _, name := range names {
		command := programs[name].texts("command")
		programs[name].unknown()
		switch {
		case !isProgramName(name):
			t.table("programs").warn(name, "is no name of small letters, digits and - with at most 30 characters; the program is left out")
		case slices.Contains(contextParts(), name):
			t.table("programs").warn(name, "is the name of a part of the context; the program is left out")
		case len(command) == 0 || command[0] == "":
			t.table("programs").warn(name, "has no command, a list of the program and its arguments; it is left out")
		case len(c.Programs) >= maxPrograms:
			t.table("programs").warn(name, "is one program too many: at most %d are asked; it is left out", maxPrograms)
		default:
			c.Programs = append(slices.Clone(c.Programs), ContextProgram{Name: name, Command: command})
		}
	}
	t.unknown()
}

func isProgramName(name string) bool {
	return name != "" && len(name) <= 30 && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}
