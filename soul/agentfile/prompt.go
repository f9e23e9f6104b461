package agentfile

import (
	"slices"
	"strings"
)

// builtinPrefix begins the names that the program gives.
const builtinPrefix = "KIMI_"

// BuiltinArgs are the names of what the program puts into a prompt.
func BuiltinArgs() []string {
	return []string{
		"KIMI_NOW",                  // when the session began, in RFC 3339
		"KIMI_WORK_DIR",             // the folder worked in, absolute
		"KIMI_WORK_DIR_LS",          // what is in it
		"KIMI_AGENTS_MD",            // the project's notes to agents
		"KIMI_SKILLS",               // the skills that there are
		"KIMI_ADDITIONAL_DIRS_INFO", // the further folders
		"KIMI_OS",                   // such as Linux
		"KIMI_SHELL",                // what commands run in
	}
}

// Prompt is the text that an agent is told first, with places in it that are filled in.
type Prompt struct {
	pieces []piece
}

// piece is a text, or a name of BuiltinArgs whose value comes in its place.
type piece struct {
	text, name string
}

// Render fills in what differs between sessions; value gives it by the names of
// BuiltinArgs, and is asked only for what is in the text.
func (p *Prompt) Render(value func(name string) string) string {
	var s strings.Builder
	for _, piece := range p.pieces {
		if s.WriteString(piece.text); piece.name != "" {
			s.WriteString(value(piece.name))
		}
	}
	return strings.TrimSpace(s.String())
}

// readPrompt reads the file of a prompt, and fills in the arguments of the agent.
func readPrompt(at place, args map[string]string) (*Prompt, error) {
	path := at.resolved()
	text, err := readText(path, maxPrompt)
	if err != nil {
		return nil, fault(at.file, at.line, "%v", err)
	}
	return parsePrompt(path, text, args)
}

// parsePrompt reads a prompt: text with ${NAME} in it. What else kimi-cli's templates can
// do is refused, since a prompt that is only half of itself helps nobody.
func parsePrompt(file, text string, args map[string]string) (*Prompt, error) {
	p := &Prompt{}
	line := 1
	for {
		at := strings.IndexAny(text, "${")
		if at < 0 || at+1 == len(text) {
			p.pieces = append(p.pieces, piece{text: text})
			return p, nil
		}
		line += strings.Count(text[:at], "\n")
		switch text[at : at+2] {
		case "{%", "{#":
			return nil, fault(file, line, "%q begins a statement of a template; only ${NAME} is understood here, so write the text without it", text[at:at+2])
		case "${":
		default:
			p.pieces = append(p.pieces, piece{text: text[:at+1]})
			text = text[at+1:]
			continue
		}
		p.pieces = append(p.pieces, piece{text: text[:at]})
		inside, rest, closed := strings.Cut(text[at+2:], "}")
		name := strings.TrimSpace(inside)
		value, given := args[name]
		switch {
		case !closed || !isArg(name):
			return nil, fault(file, line, "a name and a closing brace are expected behind ${")
		case slices.Contains(BuiltinArgs(), name):
			p.pieces = append(p.pieces, piece{name: name})
		case given || name == roleArg:
			p.pieces = append(p.pieces, piece{text: value})
		default:
			return nil, fault(file, line, "${%s} has no value; add it to `system_prompt_args:`, or use one of %s", name, strings.Join(BuiltinArgs(), ", "))
		}
		line += strings.Count(inside, "\n")
		text = rest
	}
}
