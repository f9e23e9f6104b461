package kernel

import (
	"slices"
	"strings"

	"kimi-acp/soul"
)

// Launch is what a kernel is started with, beside its program: what the host found.
type Launch struct {
	WorkDir   string   // absolute
	More      []string // further folders of the workspace, absolute
	SessionID string   // the kernel's own; it goes on with a session of that name, or begins one
	Config    string   // a file of settings in place of the usual ones; "": none
	Model     string   // "": the kernel's default
	Skills    []string // folders with skills; none: the kernel finds its own
	MCP       []string // files that name MCP servers beside Servers; none, and no Servers: the kernel finds its own
	Servers   []soul.MCPServer
	Environ   []string // its whole environment; it holds the keys that it asks the model with
}

// What stands for something of the session in a command line of the user's.
const (
	sessionPlace = "{session}"
	agentPlace   = "{agent-file}"
	workDirPlace = "{work-dir}"
	modelPlace   = "{model}"
)

// goesOn tells whether the program is started with the id of its session, and so knows
// after a restart what was said before it.
func (p Program) goesOn() bool { return p.Kind != Custom || p.mentions(sessionPlace) }

// mentions tells whether a command line of the user's wants to have something put in.
func (p Program) mentions(place string) bool {
	return p.Kind == Custom && slices.ContainsFunc(p.Args, func(arg string) bool { return strings.Contains(arg, place) })
}

// identity is what tells this kernel from others in what sessions keep.
func (p Program) identity() string {
	if p.Kind == Custom {
		return strings.Join(p.Args, " ")
	}
	return p.Kind.String()
}

// arguments gives the whole command line. In one of the user's, what stands in braces
// for something of the session is put in; the rest stays as it is.
func (p Program) arguments(l Launch, files papers) []string {
	args := slices.Clone(p.Args)
	if p.Kind == Custom {
		put := strings.NewReplacer(sessionPlace, l.SessionID, agentPlace, files.agent, workDirPlace, l.WorkDir, modelPlace, l.Model)
		for i := range args[1:] {
			args[i+1] = put.Replace(args[i+1])
		}
		return args
	}
	args = append(args, "--wire", "--work-dir", l.WorkDir, "--agent-file", files.agent)
	flag := func(name, value string) {
		if value != "" {
			args = append(args, name, value)
		}
	}
	flag("--session", l.SessionID)
	flag("--config-file", l.Config)
	flag("--model", l.Model)
	flag("--mcp-config-file", files.mcp)
	for _, file := range l.MCP {
		flag("--mcp-config-file", file)
	}
	for _, dir := range l.Skills {
		if p.Kind == Rust && len(l.Skills) > 1 {
			break // it takes one, and finds more than that by itself
		}
		flag("--skills-dir", dir)
	}
	if p.Kind == Python {
		for _, dir := range l.More {
			flag("--add-dir", dir)
		}
	}
	return args
}
