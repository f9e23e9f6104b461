// Package agentfile reads kimi-cli's agent files: YAML that says what an agent is told, which
// tools it has, and which agents it may start.
//
// It must not know who runs the agents: what differs between sessions, such as the folder
// worked in, is handed in, and whether a file counts at all is decided above. It writes
// nothing and runs nothing.
package agentfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"kimi-acp/internal/yaml"
	"kimi-acp/soul/tool"
)

// Bounds of what is read.
const (
	maxExtends   = 16        // files that extend one another
	maxPrompt    = 256 << 10 // bytes of a prompt's file
	maxSubagents = 32
	maxArgs      = 100
	maxTools     = 200
	maxWords     = 16 << 10 // bytes of each text
	maxName      = 64       // bytes
)

// roleArg is what kimi-cli's own prompt puts in to say what an agent is there for.
const roleArg = "ROLE_ADDITIONAL"

// Agent is an agent as a file describes it, together with what that extends.
type Agent struct {
	Name string
	// When says when it is the right one to start, for a model; may be empty.
	When string
	// Model is the id of the model that it uses when it is started by another one; "":
	// the other's.
	Model string
	Tools Tools
	// Role is what it is told of itself behind the prompt that comes with the program; ""
	// for one that has a Prompt.
	Role string
	// Prompt is what it is told; nil: what comes with the program.
	Prompt *Prompt
	// Subagents are those that it may start, in the order of the file.
	Subagents []Subagent
	// Inherits says that it may start those that come with the program; Subagents is nil.
	Inherits bool
}

// Subagent is an agent that another one may start.
type Subagent struct {
	Name        string // by which it is started; Agent.Name is only its own word for it
	Description string // for the model that starts it
	Agent       Agent  // its own Subagents are never started, and not read
}

// Load reads a file and all that it names. Warnings say what of it is not used. The error
// names the file, the line and what to do.
func Load(path string) (a Agent, warnings []string, err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Agent{}, nil, fmt.Errorf("find the agent file: %w", err)
	}
	l := &loader{}
	a, err = l.agent(abs, true)
	if err != nil {
		return Agent{}, nil, err
	}
	return a, l.warnings, nil
}

// Types are the agents that it may start, as types: usual, if it inherits those. Value gives
// what differs between sessions, by the names of BuiltinArgs.
func (a Agent) Types(usual []tool.AgentType, value func(name string) string) []tool.AgentType {
	if a.Inherits {
		return usual
	}
	types := make([]tool.AgentType, 0, len(a.Subagents))
	for _, s := range a.Subagents {
		when := s.Description
		if s.Agent.When != "" {
			when += " " + s.Agent.When
		}
		t := tool.AgentType{Name: s.Name, When: when, Role: s.Agent.Role, Model: s.Agent.Model, Tools: s.Agent.Tools.names(), ReadOnly: s.Agent.Tools.readOnly()}
		if s.Agent.Prompt != nil {
			t.System = s.Agent.Prompt.Render(value)
		}
		types = append(types, t)
	}
	return types
}

// loader reads files.
type loader struct {
	warnings []string
}

// agent reads an agent; its subagents only if they count.
func (l *loader) agent(path string, subagents bool) (Agent, error) {
	s, err := l.chain(path)
	if err != nil {
		return Agent{}, err
	}
	a := Agent{Name: s.name.text, When: s.when.text, Model: s.model.text, Tools: s.toolList(), Inherits: s.subagents == nil && s.extendsDefault}
	if a.Name == "" && s.extendsDefault {
		a.Name = extendDefault
	}
	switch {
	case a.Name == "":
		return Agent{}, fault(path, s.line, "the agent has no name; add `name:`")
	case s.tools == nil && s.allowed == nil && !s.extendsDefault:
		return Agent{}, fault(path, s.line, "the agent has no tools; list some in `tools:`, or add `extend: default`")
	case s.promptPath.text == "" && !s.extendsDefault:
		return Agent{}, fault(path, s.line, "the agent has no prompt; name its file in `system_prompt_path:`, or add `extend: default`")
	case s.promptPath.text == "":
		a.Role = s.args[roleArg]
	default:
		if a.Prompt, err = readPrompt(s.promptPath, s.args); err != nil {
			return Agent{}, err
		}
	}
	if !subagents || s.subagents == nil {
		return a, nil
	}
	a.Subagents = make([]Subagent, 0, len(*s.subagents))
	for _, sub := range *s.subagents {
		of, err := l.agent(sub.path.resolved(), false)
		if err != nil {
			return Agent{}, fmt.Errorf("%s:%d: the subagent %s: %w", sub.path.file, sub.path.line, sub.name, err)
		}
		a.Subagents = append(a.Subagents, Subagent{Name: sub.name, Description: sub.description, Agent: of})
	}
	return a, nil
}

// chain reads a file with those that it extends beneath it.
func (l *loader) chain(path string) (spec, error) {
	var files []string
	var specs []spec
	for next := path; ; {
		if slices.Contains(files, next) {
			last := specs[len(specs)-1]
			return spec{}, fault(last.extend.file, last.extend.line, "%s extends itself in the end; change `extend:`", next)
		}
		if len(files) == maxExtends {
			last := specs[len(specs)-1]
			return spec{}, fault(last.extend.file, last.extend.line, "more than %d files extend one another; put some together", maxExtends)
		}
		files = append(files, next)
		text, err := readText(next, yaml.MaxSize)
		if err != nil {
			return spec{}, namedBy(specs, err)
		}
		s, warnings, err := parse(next, text)
		if err != nil {
			return spec{}, err
		}
		l.warnings = append(l.warnings, warnings...)
		specs = append(specs, s)
		if s.extend.text == "" || s.extend.text == extendDefault {
			break
		}
		next = s.extend.resolved()
	}
	whole := specs[len(specs)-1]
	whole.extendsDefault = whole.extend.text == extendDefault
	for _, s := range slices.Backward(specs[:len(specs)-1]) {
		whole = s.over(whole)
	}
	return whole, nil
}

// namedBy says where a file is named that cannot be read.
func namedBy(specs []spec, err error) error {
	if len(specs) == 0 {
		return err
	}
	at := specs[len(specs)-1].extend
	return fmt.Errorf("%s:%d: %w", at.file, at.line, err)
}

// fault is an error with its place.
func fault(file string, line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", file, line, fmt.Sprintf(format, args...))
}

// readText reads a regular file of at most most bytes.
func readText(path string, most int64) (string, error) {
	info, err := os.Stat(path) // before it is opened: opening a pipe would wait for a writer
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no file %s; check the path: %w", path, fs.ErrNotExist)
	case err != nil:
		return "", fmt.Errorf("look at the file: %w", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a file; check the path", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("open the file: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the file: %w", err)
	case int64(len(data)) > most:
		return "", fmt.Errorf("%s has more than %d bytes; shorten it", path, most)
	}
	return string(data), nil
}
