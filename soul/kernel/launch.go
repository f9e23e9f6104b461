package kernel

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Launch is what a kernel is started with, beside its program: what the host found.
type Launch struct {
	WorkDir   string   // absolute
	More      []string // further folders of the workspace, absolute
	SessionID string   // the kernel's own; it goes on with a session of that name, or begins one
	Config    string   // a file of settings in place of the usual ones; "": none
	Model     string   // "": the kernel's default
	Skills    []string // folders with skills; none: the kernel finds its own
	MCP       []string // files that name MCP servers; none: the kernel finds its own
	Environ   []string // its whole environment; it holds the keys that it asks the model with
}

// hostTools are the tools that a kernel must not run by itself: their work is done, and
// judged, here.
func hostTools() []string {
	return []string{
		"agent:Agent", "multiagent:Task", "multiagent:CreateSubagent", "ask_user:AskUserQuestion", "todo:SetTodoList",
		"think:Think", "dmail:SendDMail", "shell:Shell", "background:TaskList", "background:TaskOutput",
		"background:TaskStop", "file:ReadFile", "file:ReadMediaFile", "file:Glob", "file:Grep", "file:WriteFile",
		"file:StrReplaceFile", "plan:ExitPlanMode", "plan.enter:EnterPlanMode",
	}
}

// agentFile words the agent that a kernel is to be: its own, without the host's tools.
func agentFile() string {
	var b strings.Builder
	b.WriteString("version: 1\nagent:\n  extend: default\n  name: \"kimi-acp\"\n  exclude_tools:\n")
	for _, t := range hostTools() {
		// A JSON string is one of YAML.
		name, err := json.Marshal("kimi_cli.tools." + t)
		if err == nil { // strings always can be encoded
			fmt.Fprintf(&b, "    - %s\n", name)
		}
	}
	return b.String()
}

// writeAgentFile makes the agent file in a folder of its own, which the caller removes.
func writeAgentFile() (path string, err error) {
	dir, err := os.MkdirTemp("", "kimi-acp-kernel-") //nolint:forbidigo // a file of ours, for the kernel alone
	if err != nil {
		return "", fmt.Errorf("make a folder for the kernel's agent file: %w", err)
	}
	path = filepath.Join(dir, "agent.yaml")
	if err := os.WriteFile(path, []byte(agentFile()), 0o600); err != nil { //nolint:forbidigo // a file of ours, for the kernel alone
		_ = os.RemoveAll(dir) //nolint:forbidigo // a file of ours, for the kernel alone
		return "", fmt.Errorf("write the kernel's agent file: %w", err)
	}
	return path, nil
}

// What stands for something of the session in a command line of the user's.
const (
	sessionPlace = "{session}"
	agentPlace   = "{agent-file}"
	workDirPlace = "{work-dir}"
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
func (p Program) arguments(l Launch, agent string) []string {
	args := slices.Clone(p.Args)
	if p.Kind == Custom {
		put := strings.NewReplacer(sessionPlace, l.SessionID, agentPlace, agent, workDirPlace, l.WorkDir)
		for i := range args[1:] {
			args[i+1] = put.Replace(args[i+1])
		}
		return args
	}
	args = append(args, "--wire", "--work-dir", l.WorkDir, "--agent-file", agent)
	flag := func(name, value string) {
		if value != "" {
			args = append(args, name, value)
		}
	}
	flag("--session", l.SessionID)
	flag("--config-file", l.Config)
	flag("--model", l.Model)
	for _, file := range l.MCP {
		flag("--mcp-config-file", file)
	}
	for i, dir := range l.Skills {
		if p.Kind == Rust && i > 0 {
			break // it takes one
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
