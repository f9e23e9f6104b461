package judge

import (
	"encoding/base64"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

func (j *Judge) checkAbsolute(what, path string) {
	if !filepath.IsAbs(path) {
		j.report("the %s %q is not an absolute path", what, path)
	}
}

// checkBlock judges the values inside a content block.
func (j *Judge) checkBlock(block map[string]any) {
	switch text(block, "type") {
	case "image", "audio":
		j.checkBase64(text(block, "data"))
	case "resource_link":
		j.checkURI(text(block, "uri"))
	case "resource":
		resource := object(block, "resource")
		j.checkURI(text(resource, "uri"))
		j.checkBase64(text(resource, "blob"))
	}
}

func (j *Judge) checkBase64(data string) {
	if _, err := base64.StdEncoding.DecodeString(data); err != nil {
		j.report("the data is not base64: %v", err)
	}
}

func (j *Judge) checkURI(uri string) {
	if u, err := url.Parse(uri); err != nil || u.Scheme == "" {
		j.report("%q is not a URI with a scheme", uri)
	}
}

// checkOptions judges the configOptions in a result or an update.
func (j *Judge) checkOptions(holder map[string]any) {
	seen := map[string]bool{}
	for _, entry := range list(holder, "configOptions") {
		option := object(entry)
		id := text(option, "id")
		if id == "" || seen[id] {
			j.report("the config option id %q is empty or stands twice", id)
		}
		seen[id] = true
		switch text(option, "type") {
		case "boolean":
			if !j.client.booleans {
				j.report("the config option %q is boolean, which the client does not take", id)
			}
		case "select":
			values := choices(list(option, "options"))
			if current := text(option, "currentValue"); !slices.Contains(values, current) {
				j.report("the config option %q is at %q, which is none of its values", id, current)
			}
			slices.Sort(values)
			if n := len(values); len(slices.Compact(values)) < n {
				j.report("a value of the config option %q stands twice", id)
			}
		}
	}
}

// choices are the values of a select, grouped or not.
func choices(options []any) []string {
	var values []string
	for _, entry := range options {
		option := object(entry)
		if _, grouped := option["group"]; grouped {
			values = append(values, choices(list(option, "options"))...)
		} else {
			values = append(values, text(option, "value"))
		}
	}
	return values
}

// takeModes judges the modes of a session result and keeps their ids.
func (j *Judge) takeModes(s *session, result map[string]any) {
	modes := object(result, "modes")
	if modes == nil {
		return
	}
	s.modes = []string{}
	for _, entry := range list(modes, "availableModes") {
		id := text(object(entry), "id")
		if id == "" || slices.Contains(s.modes, id) {
			j.report("the mode id %q is empty or stands twice", id)
		}
		s.modes = append(s.modes, id)
	}
	j.checkMode(s, text(modes, "currentModeId"))
}

func (j *Judge) checkMode(s *session, id string) {
	if !slices.Contains(s.modes, id) {
		j.report("the mode %q is none of those published", id)
	}
}

func (j *Judge) checkCommands(u map[string]any) {
	seen := map[string]bool{}
	for _, entry := range list(u, "availableCommands") {
		name := text(object(entry), "name")
		if name == "" || seen[name] || strings.HasPrefix(name, "/") || strings.ContainsAny(name, " \t\n") {
			j.report("the command name %q is empty, stands twice, or is not one word without a slash", name)
		}
		seen[name] = true
	}
}
