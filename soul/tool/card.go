package tool

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"

	"kimi-acp/internal/policy"
)

// maxTitle bounds the argument in a card's title, in characters.
const maxTitle = 160

// Card is how a call looks to people before and while it runs.
type Card struct {
	Title string // one line of Markdown, never empty
	// Kind is one of read, edit, delete, move, search, execute, think, fetch,
	// switch_mode and other.
	Kind      string
	Locations []Location
}

// Location is a place in a file that a call is about.
type Location struct {
	Path string // absolute
	Line int    // 1-based, 0: unknown
}

// look is what a card says of one tool.
type look struct {
	kind  string
	verb  string   // stands before the argument in the title
	plain string   // the title while, or when, there is no argument to show
	keys  []string // the arguments that may be shown, the first one present counts
	path  bool     // the argument is a file: it is a location too
}

// lookOf knows the built-in tools and those that another kernel may bring along.
func lookOf(name string) look {
	switch name {
	case "ReadFile", "ReadMediaFile":
		return look{kind: "read", verb: "Read ", plain: "Read a file", keys: []string{"path"}, path: true}
	case "WriteFile":
		return look{kind: "edit", verb: "Write ", plain: "Write a file", keys: []string{"path"}, path: true}
	case "StrReplaceFile":
		return look{kind: "edit", verb: "Edit ", plain: "Edit a file", keys: []string{"path"}, path: true}
	case "ApplyPatch":
		return look{kind: "edit", plain: "Patch files"}
	case "Shell":
		return look{kind: "execute", plain: "Run a command", keys: []string{"command"}}
	case "Glob":
		return look{kind: "search", verb: "Find files ", plain: "Find files", keys: []string{"pattern"}}
	case "Grep":
		return look{kind: "search", verb: "Search for ", plain: "Search in files", keys: []string{"pattern"}}
	case "CodeIntelligence":
		return look{kind: "search", verb: "Look up ", plain: "Look at the code", keys: []string{"symbol", "path"}}
	case "RenameSymbol":
		return look{kind: "edit", verb: "Rename ", plain: "Rename a symbol", keys: []string{"symbol"}}
	case "FetchURL":
		return look{kind: "fetch", verb: "Fetch ", plain: "Fetch a page", keys: []string{"url"}}
	case "SearchWeb":
		return look{kind: "fetch", verb: "Search the web for ", plain: "Search the web", keys: []string{"query"}}
	case "Think":
		return look{kind: "think", plain: "Think"}
	case SendDMailName:
		return look{kind: "think", verb: "Go back: ", plain: "Go back in the turn", keys: []string{"message"}}
	case "SetTodoList":
		return look{kind: "think", plain: "To-do list"}
	case "TaskList":
		return look{kind: "read", plain: "List background tasks"}
	case "TaskOutput":
		return look{kind: "read", verb: "Output of ", plain: "Output of a task", keys: []string{"task_id"}}
	case "TaskStop":
		return look{kind: "execute", verb: "Stop ", plain: "Stop a task", keys: []string{"task_id"}}
	case "WaitFor":
		return look{kind: "other", plain: "Wait for background tasks"}
	case "Agent":
		return look{kind: "think", verb: "Agent: ", plain: "Start an agent", keys: []string{"description"}}
	case runPlanName:
		return look{kind: "think", plain: "Do the plan"}
	case "EnterPlanMode":
		return look{kind: "switch_mode", plain: "Start planning"}
	case "ExitPlanMode":
		return look{kind: "switch_mode", plain: "Present the plan"}
	case "AskUserQuestion":
		return look{kind: "other", plain: "Ask a question"}
	}
	if name == "" {
		name = "Tool call"
	}
	return look{kind: "other", plain: name}
}

// CardOf describes a call of a tool, also one whose arguments still stream: args
// may be nil or break off anywhere, and only arguments that are complete are
// shown. Relative paths are taken from cwd, an absolute path; no file is looked
// at. The time it takes grows with args, so for a call that streams it should be
// asked no longer than until there is a location.
func CardOf(name string, args json.RawMessage, cwd string) Card {
	l := lookOf(name)
	card := Card{Title: l.plain, Kind: l.kind}
	if name == "ApplyPatch" {
		return patchCard(card, stringOf(members(args)["patch"]), cwd)
	}
	if len(l.keys) == 0 {
		return card
	}
	given := members(args)
	for _, key := range l.keys {
		value := stringOf(given[key])
		if strings.TrimSpace(value) == "" {
			continue
		}
		if l.path {
			at := Location{Path: absolute(value, cwd)}
			if name == "ReadFile" {
				at.Line = lineOf(given["line_offset"])
			}
			card.Locations = []Location{at}
			value = relative(at.Path, cwd)
		}
		card.Title = l.verb + codeSpan(policy.Visible(shorten(value, maxTitle)))
		break
	}
	return card
}

// members gives the complete members of a JSON object that may break off.
func members(args json.RawMessage) map[string]json.RawMessage {
	whole := string(args)
	if mended, err := parseArguments(&whole); err == nil {
		args = mended
	} else {
		args = json.RawMessage(escapeControls(whole))
	}
	found := map[string]json.RawMessage{}
	dec := json.NewDecoder(bytes.NewReader(args))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return found
	}
	for {
		key, err := dec.Token()
		name, ok := key.(string)
		if err != nil || !ok {
			return found
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil || int(dec.InputOffset()) == len(args) {
			// A number at the very end may go on.
			return found
		}
		found[name] = value
	}
}

func stringOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// lineOf reads a line number; 0 when it is none, or counts from the end.
func lineOf(raw json.RawMessage) int {
	var n int
	if json.Unmarshal(raw, &n) != nil || n < 1 {
		return 0
	}
	return n
}

func absolute(path, cwd string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	return filepath.Clean(path)
}

// relative gives a path below cwd relative to it, and any other one as it is.
func relative(path, cwd string) string {
	rel, err := filepath.Rel(cwd, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return rel
}

// codeSpan quotes text as Markdown code, so that paths and commands are shown
// as they are.
func codeSpan(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
