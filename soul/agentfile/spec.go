package agentfile

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"unicode"

	"kimi-acp/internal/yaml"
)

// extendDefault names the agent that comes with the program.
const extendDefault = "default"

// place is a text and where it stands.
type place struct {
	text, file string
	line       int
}

// resolved is the path that it is: relative ones begin at the file's folder.
func (p place) resolved() string {
	if filepath.IsAbs(p.text) {
		return filepath.Clean(p.text)
	}
	return filepath.Join(filepath.Dir(p.file), filepath.FromSlash(p.text))
}

// spec is what one file says, or several that are laid over each other. What nobody has
// said is nil or empty.
type spec struct {
	line                     int // of `agent:`
	extend, name, promptPath place
	when, model              place
	args                     map[string]string
	tools, allowed, exclude  *[]string
	subagents                *[]subagent
	extendsDefault           bool
}

// subagent is an entry of subagents.
type subagent struct {
	name, description string
	path              place
}

// over lays what a file says over what it extends. Args are laid over each other one by one.
func (s spec) over(base spec) spec {
	whole := s
	whole.extendsDefault = base.extendsDefault
	for _, p := range []struct{ to, from *place }{
		{&whole.name, &base.name}, {&whole.promptPath, &base.promptPath}, {&whole.when, &base.when}, {&whole.model, &base.model},
	} {
		if p.to.text == "" {
			*p.to = *p.from
		}
	}
	whole.args = maps.Clone(base.args)
	if whole.args == nil {
		whole.args = map[string]string{}
	}
	maps.Copy(whole.args, s.args)
	for _, l := range []struct{ to, from **[]string }{
		{&whole.tools, &base.tools}, {&whole.allowed, &base.allowed}, {&whole.exclude, &base.exclude},
	} {
		if *l.to == nil {
			*l.to = *l.from
		}
	}
	if whole.subagents == nil {
		whole.subagents = base.subagents
	}
	return whole
}

// toolList is what the lists come to.
func (s spec) toolList() Tools {
	var t Tools
	switch {
	case s.allowed != nil:
		t.named = *s.allowed
	case s.tools != nil:
		t.named = *s.tools
	}
	if s.exclude != nil {
		t.without = *s.exclude
	}
	return t
}

// parse reads the text of a file. Warnings say what of it is not used.
func parse(file, text string) (s spec, warnings []string, err error) {
	root, err := yaml.Parse(text)
	if bad := (*yaml.Error)(nil); errors.As(err, &bad) {
		return spec{}, nil, fault(file, bad.Line, "%s", bad.What)
	} else if err != nil {
		return spec{}, nil, fmt.Errorf("%s: %w", file, err)
	}
	r := &reader{file: file}
	for _, e := range root.Entries {
		switch e.Name {
		case "version":
			if e.Value.Text != "1" {
				r.wrong(e, "the version %q is not known; write `version: 1`", e.Value.Text)
			}
		case "agent":
			s = r.agent(e)
		default:
			r.unused(e)
		}
	}
	if s.line == 0 && r.err == nil {
		r.err = fault(file, 1, "there is no `agent:` in this file; add it, and what the agent is, further in")
	}
	return s, r.warnings, r.err
}

// reader reads what a file says. Its first error counts.
type reader struct {
	file     string
	warnings []string
	err      error
}

func (r *reader) wrong(e yaml.Entry, format string, args ...any) {
	if r.err == nil {
		r.err = fault(r.file, e.Line, format, args...)
	}
}

func (r *reader) warn(line int, format string, args ...any) {
	if len(r.warnings) < maxTools {
		r.warnings = append(r.warnings, fault(r.file, line, format, args...).Error())
	}
}

func (r *reader) unused(e yaml.Entry) {
	r.warn(e.Line, "%q is not known here; it is not used", e.Name)
}

func (r *reader) agent(at yaml.Entry) spec {
	s := spec{line: at.Line}
	for _, e := range r.entries(at) {
		switch e.Name {
		case "extend":
			s.extend = r.text(e)
		case "name":
			s.name = r.text(e)
		case "system_prompt_path":
			s.promptPath = r.text(e)
		case "system_prompt_args":
			s.args = r.args(e)
		case "model":
			s.model = r.text(e)
		case "when_to_use":
			s.when = r.text(e)
			s.when.text = oneLine(s.when.text)
		case "tools":
			s.tools = r.tools(e)
		case "allowed_tools":
			s.allowed = r.tools(e)
		case "exclude_tools":
			s.exclude = r.tools(e)
		case "subagents":
			s.subagents = r.subagents(e)
		default:
			r.unused(e)
		}
	}
	return s
}

// entries are those of a mapping; nothing is one without any.
func (r *reader) entries(e yaml.Entry) []yaml.Entry {
	if e.Value.Kind != yaml.Mapping && e.Value.Kind != yaml.Null {
		r.wrong(e, "%s has to be names with values, further in than it is", e.Name)
	}
	return e.Value.Entries
}

// text is that of an entry; nothing is the empty one.
func (r *reader) text(e yaml.Entry) place {
	if e.Value.Kind != yaml.Text && e.Value.Kind != yaml.Null {
		r.wrong(e, "%s has to be a text", e.Name)
	}
	if len(e.Value.Text) > maxWords {
		r.wrong(e, "%s has more than %d bytes; shorten it", e.Name, maxWords)
	}
	return place{text: e.Value.Text, file: r.file, line: e.Line}
}

func (r *reader) args(at yaml.Entry) map[string]string {
	args := map[string]string{}
	for _, e := range r.entries(at) {
		switch {
		case !isArg(e.Name):
			r.wrong(e, "%q is no name of an argument; use letters, digits and _", e.Name)
		case strings.HasPrefix(e.Name, builtinPrefix):
			r.wrong(e, "names that begin with %s are given by the program; choose another one", builtinPrefix)
		case len(args) == maxArgs:
			r.wrong(e, "there are more than %d arguments; remove some", maxArgs)
		}
		args[e.Name] = r.text(e).text
	}
	return args
}

// tools are the names of a list, without those that are not known. Nil: nothing is said.
func (r *reader) tools(e yaml.Entry) *[]string {
	switch {
	case e.Value.Kind == yaml.Null:
		return nil
	case e.Value.Kind != yaml.List || len(e.Value.Items) > maxTools:
		r.wrong(e, "%s has to be a list of at most %d tools", e.Name, maxTools)
		return nil
	}
	names := []string{}
	for _, item := range e.Value.Items {
		name, known := toolName(item.Text)
		switch {
		case item.Kind != yaml.Text:
			r.wrong(yaml.Entry{Line: item.Line}, "a tool has to be a text, such as kimi_cli.tools.shell:Shell")
		case !known:
			r.warn(item.Line, "there is no tool %q here; it is left out", item.Text)
		case name != "":
			names = append(names, name)
		}
	}
	return &names
}

// subagents are those of a mapping. That nothing stands there says that there are none.
func (r *reader) subagents(at yaml.Entry) *[]subagent {
	all := []subagent{}
	for _, e := range r.entries(at) {
		s := subagent{name: e.Name}
		for _, of := range r.entries(e) {
			switch of.Name {
			case "path":
				s.path = r.text(of)
			case "description":
				s.description = oneLine(r.text(of).text)
			default:
				r.unused(of)
			}
		}
		switch {
		case !isTypeName(s.name):
			r.wrong(e, "%q is no name of a subagent; use at most %d letters, digits, - and _", s.name, maxName)
		case s.path.text == "":
			r.wrong(e, "the subagent %s has no file; add `path:`", s.name)
		case len(all) == maxSubagents:
			r.wrong(e, "there are more than %d subagents; remove some", maxSubagents)
		}
		all = append(all, s)
	}
	return &all
}

// oneLine joins the lines of a text, since it becomes an item of a list.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func isTypeName(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	})
}

func isArg(name string) bool {
	return name != "" && (name[0] < '0' || name[0] > '9') && !strings.ContainsFunc(name, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	})
}
