package agentfile

import (
	"slices"
	"strings"
)

// Tools says which tools an agent has. The zero value has all that the default agent has.
type Tools struct {
	named   []string // nil: those of the default agent
	without []string
}

// sendDMail is the one tool that the default agent does not have.
const sendDMail = "SendDMail"

// ours are the tools of this program that kimi-cli does not know, with those of kimi-cli's
// that do the same. An agent has ours where it has all of those, so that one which may not
// change files by kimi-cli's tools cannot do it by ours either.
func ours() map[string][]string {
	return map[string][]string{
		"ApplyPatch":       {"StrReplaceFile", "WriteFile"},
		"RenameSymbol":     {"StrReplaceFile", "WriteFile"},
		"CodeIntelligence": {"Grep"},
		"EditorContext":    {"ReadFile"},
		"RunPlan":          {"Agent", "SetTodoList"},
		"WaitFor":          {"TaskOutput"},
	}
}

// shared are the tools that kimi-cli has as well.
func shared() []string {
	return []string{
		"Agent", "AskUserQuestion", "Glob", "Grep", "ReadFile", "ReadMediaFile", sendDMail, "SetTodoList", "Shell",
		"StrReplaceFile", "TaskList", "TaskOutput", "TaskStop", "Think", "WriteFile",
	}
}

// foreign are tools of kimi-cli's that are not here, and older names of those that are. A
// file that names them is a good one, and nothing needs to be said of it.
func foreign() map[string]string {
	return map[string]string{"SearchWeb": "", "FetchURL": "", "EnterPlanMode": "", "ExitPlanMode": "", "Bash": "Shell", "Task": "Agent", "CreateSubagent": ""}
}

// toolName is the name here of a tool that a file names: kimi-cli says where its code is
// (`kimi_cli.tools.shell:Shell`), and a name alone will do. It is "" for one that is not
// here.
func toolName(item string) (name string, known bool) {
	module, name, found := strings.Cut(item, ":")
	if !found {
		name = module
	} else if module != "kimi_cli" && !strings.HasPrefix(module, "kimi_cli.") {
		return "", false // code of somebody else
	}
	if own, ok := foreign()[name]; ok {
		return own, true
	}
	if _, ok := ours()[name]; ok || slices.Contains(shared(), name) {
		return name, true
	}
	return "", false
}

// Has tells whether the agent has the tool of a name, as far as its session does.
func (t Tools) Has(name string) bool {
	like := ours()[name]
	switch {
	case slices.Contains(t.without, name), slices.ContainsFunc(like, func(n string) bool { return slices.Contains(t.without, n) }):
		return false
	case t.named == nil:
		return name != sendDMail
	case slices.Contains(t.named, name):
		return true
	}
	return len(like) > 0 && !slices.ContainsFunc(like, func(n string) bool { return !slices.Contains(t.named, n) })
}

// names are the tools that it has, by name; nil: all that there are.
func (t Tools) names() []string {
	if t.named == nil && len(t.without) == 0 {
		return nil
	}
	names := []string{}
	for _, name := range shared() {
		if t.Has(name) {
			names = append(names, name)
		}
	}
	for name := range ours() {
		if t.Has(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// readOnly tells whether none of the tools can change anything.
func (t Tools) readOnly() bool {
	return !slices.ContainsFunc([]string{"Shell", "WriteFile", "StrReplaceFile", "ApplyPatch", "RenameSymbol"}, t.Has)
}
