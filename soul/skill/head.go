package skill

import (
	"strconv"
	"strings"
)

// Head reads the values at the top level of a text of `name: value` lines, as they
// stand at the head of a SKILL.md: plain or quoted, or as a block of lines that are
// further in, behind > (joined) or | (kept). Lists and nested values are left out.
func Head(text string) map[string]string {
	values := map[string]string{}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		name, value, ok := strings.Cut(lines[i], ":")
		if !ok || name == "" || strings.TrimSpace(name) != name || name[0] == '#' {
			continue
		}
		value = strings.TrimSpace(value)
		var more []string
		for i+1 < len(lines) && (lines[i+1] == "" || lines[i+1][0] == ' ' || lines[i+1][0] == '\t') {
			i++
			more = append(more, strings.TrimSpace(lines[i]))
		}
		switch block := strings.TrimRight(value, "+-"); {
		case block == "|":
			value = strings.Join(more, "\n")
		case block == ">":
			value = strings.Join(more, " ")
		case value == "":
			continue // nested
		default:
			value = scalar(strings.Join(append([]string{value}, more...), " "))
		}
		values[name] = strings.TrimSpace(value)
	}
	return values
}

// scalar takes the quotes off a value, or a comment from its end.
func scalar(value string) string {
	value = strings.TrimSpace(value)
	if s, ok := strings.CutPrefix(value, "'"); ok && strings.HasSuffix(s, "'") {
		return strings.ReplaceAll(strings.TrimSuffix(s, "'"), "''", "'")
	}
	if strings.HasPrefix(value, `"`) {
		if s, err := strconv.Unquote(value); err == nil {
			return s
		}
		return strings.Trim(value, `"`)
	}
	value, _, _ = strings.Cut(value, " #")
	return value
}
