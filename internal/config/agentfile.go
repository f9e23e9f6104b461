package config

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// AgentFile is what counts here of a file that describes an agent to kimi-cli.
type AgentFile struct {
	Name    string
	Tools   []string // names of tools; nil: those of the default agent
	Exclude []string // names of tools that it does not have
}

// ReadAgentFile reads an agent's file: YAML with `version: 1` and `agent:`, of which
// name, extend (default), tools and exclude_tools are understood. Anything else is an
// error that names the line, since an agent that is only half of itself helps nobody.
func ReadAgentFile(path string) (AgentFile, error) {
	data, err := readFile(path)
	if err == nil && data == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return AgentFile{}, fmt.Errorf("agent's file %s: %w", path, err)
	}
	a, err := parseAgentFile(string(data))
	if err != nil {
		return AgentFile{}, fmt.Errorf("agent's file %s: %w", path, err)
	}
	return a, nil
}

func parseAgentFile(text string) (AgentFile, error) {
	var a AgentFile
	var list *[]string // that the lines to come belong to
	inAgent := false
	for i, line := range strings.Split(text, "\n") {
		bare := strings.TrimSpace(line)
		if bare == "" || bare[0] == '#' || bare == "---" {
			continue
		}
		refuse := func(what string) (AgentFile, error) { return AgentFile{}, fmt.Errorf("line %d: %s", i+1, what) }
		if item, ok := strings.CutPrefix(bare, "- "); ok {
			if list == nil {
				return refuse("an item of no list that is understood")
			}
			*list = append(*list, toolName(item))
			continue
		}
		key, value, ok := strings.Cut(bare, ":")
		value = unquote(value)
		if !ok {
			return refuse("neither a name with a value nor an item of a list")
		}
		list = nil
		if indented := line[0] == ' ' || line[0] == '\t'; indented != inAgent {
			inAgent = false // a key at the left ends the agent
		}
		switch {
		case !inAgent && key == "version" && value == "1":
		case !inAgent && key == "agent" && value == "":
			inAgent = true
		case inAgent && key == "name":
			a.Name = value
		case inAgent && key == "extend" && value == "default":
		case inAgent && key == "tools" && (value == "" || value == "[]"):
			a.Tools = []string{}
			list = &a.Tools
		case inAgent && key == "exclude_tools" && (value == "" || value == "[]"):
			list = &a.Exclude
		default:
			return refuse(fmt.Sprintf("%q is not understood here", bare))
		}
	}
	return a, nil
}

func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	s, _, _ = strings.Cut(s, " #")
	return strings.TrimSpace(s)
}

// toolName takes the name of a tool from kimi-cli's way to say where its code is.
func toolName(item string) string {
	item = unquote(item)
	return item[strings.LastIndexByte(item, ':')+1:]
}

// Has tells whether the agent has a tool of that name.
func (a AgentFile) Has(name string) bool {
	return (a.Tools == nil || slices.Contains(a.Tools, name)) && !slices.Contains(a.Exclude, name)
}
