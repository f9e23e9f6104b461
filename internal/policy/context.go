package policy

import (
	"fmt"
	"slices"
)

// Mode says how much is done without asking.
type Mode string

// The modes.
const (
	ModeDefault     Mode = "default"      // reading is free, changes and commands are asked for
	ModeAcceptEdits Mode = "accept-edits" // ordinary edits in the workspace are free as well
	ModePlan        Mode = "plan"         // nothing is changed, nothing but reading is run
	ModeAuto        Mode = "auto"         // commands are free as well, in a sandbox; without one as default
	ModeYolo        Mode = "yolo"         // everything but the floors is free, in a trusted workspace
)

// Modes lists the modes, the default first.
func Modes() []Mode { return []Mode{ModeDefault, ModeAcceptEdits, ModePlan, ModeAuto, ModeYolo} }

// ParseMode reads the name of a mode. The error lists those that there are.
func ParseMode(name string) (Mode, error) {
	if m := Mode(name); slices.Contains(Modes(), m) {
		return m, nil
	}
	return "", fmt.Errorf("there is no mode %q; use one of %v", name, Modes())
}

// Context is where things stand when an action is judged. Paths are absolute.
type Context struct {
	// Roots are the folders of the workspace, under each name that they have (as
	// given, and with links resolved). Relative paths begin at the first one.
	Roots []string
	Dir   string   // where commands start; empty: the first root
	Home  string   // what ~ stands for; empty: ~ is not understood
	Own   []string // files and folders of this program, that no action may touch
	Mode  Mode     // empty: ModeDefault
	// Trusted says that the user trusts the workspace to run its own code.
	Trusted bool
	// Sandboxed says that commands run where they can neither leave the workspace
	// nor reach the network. ModeAuto is nothing without it.
	Sandboxed bool
	Windows   bool // paths are Windows paths
	// Look tells what the disk says of an absolute path that a command names. The
	// path may hold .., which has to be followed as the system does it, behind
	// links. Nil: such paths are judged by their names alone, and a link is not
	// seen.
	Look func(path string) PathFacts
}

func (c *Context) dir() string {
	switch {
	case c.Dir != "":
		return c.slashes(c.Dir)
	case len(c.Roots) > 0:
		return c.slashes(c.Roots[0])
	}
	return "/"
}

// underMode is a finding under the mode in force. Denials and floors stay as they
// are; plan mode turns what would change something into a denial.
func (c *Context) underMode(f finding) finding {
	if c.Mode == ModePlan && f.decision != Deny && f.class != classRead {
		return floor(Deny, "mode plan", "plan mode changes nothing and runs only what reads")
	}
	if f.decision == Allow || f.decision == Deny {
		return f
	}
	lift := false
	switch c.Mode {
	case ModeAcceptEdits:
		lift = f.class == classEdit && f.decision == Ask
	case ModeAuto:
		lift = c.Trusted && c.Sandboxed && (f.class == classRun || f.class == classEdit && f.decision == Ask)
	case ModeYolo:
		lift = c.Trusted && f.class != classFloor
	}
	if lift {
		return finding{decision: Allow, class: f.class, rule: "mode " + string(c.Mode), reason: f.reason}
	}
	return f
}

// FileKind is what stands at a path.
type FileKind uint8

// The kinds. Unknown is for callers that did not look.
const (
	Unknown FileKind = iota
	Missing
	Regular
	Directory
	Special // a device, a pipe or a socket
)

// PathFacts is a path and what the disk says of it.
type PathFacts struct {
	Path string // as asked for; a relative one begins at the first root
	// Real is the path with every link resolved, also when the last names do not
	// exist yet. Empty: not known, the path is judged by its name alone.
	Real   string
	Failed bool // the path could not be followed: a loop of links, no permission
	Kind   FileKind
	Links  uint64 // names that the file has; 0: not known
}
