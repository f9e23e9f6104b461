package fileop

import "strings"

const (
	maxIgnoreFile  = 1 << 20 // bytes of an ignore file that are read
	maxIgnoreRules = 20_000  // rules of one ignore file that count
)

// ignoreRules are the rules of one ignore file, in the order of the file.
type ignoreRules []ignoreRule

// ignoreRule is one line of an ignore file. Most lines have no wildcard, or one
// star at the beginning, and those are decided without a wildcard.
type ignoreRule struct {
	negated bool // takes back what rules before it ignored
	dirOnly bool
	named   bool // fits the last element of a path, at any depth

	prefix string    // what a name must begin with
	suffix string    // named: what it must end with, where the rest is one star
	rest   *wildcard // what the name behind prefix must fit; nil: prefix or suffix decide
}

// parseIgnore reads an ignore file. Lines that git cannot use are passed over.
func parseIgnore(text string) ignoreRules {
	var rules ignoreRules
	for line := range strings.SplitSeq(strings.TrimPrefix(text, bom), "\n") {
		if len(rules) == maxIgnoreRules {
			break
		}
		line = trimSpaces(strings.TrimSuffix(line, "\r"))
		if line == "" || line[0] == '#' {
			continue
		}
		rules = append(rules, parseRule(line))
	}
	return rules
}

func parseRule(line string) ignoreRule {
	var r ignoreRule
	line, r.negated = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	r.named = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	plain := strings.IndexAny(line, `*?[\`)
	switch {
	case plain < 0:
		r.prefix = line
	case r.named && plain == 0 && line[0] == '*' && len(line) > 1 && !strings.ContainsAny(line[1:], `*?[\`):
		r.suffix = line[1:]
	default:
		r.prefix = line[:plain]
		rest := compileWildcard(line[plain:])
		r.rest = &rest
	}
	return r
}

// trimSpaces drops the blanks at the end of a line that no backslash keeps.
func trimSpaces(line string) string {
	end := 0 // behind the last character that stays
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// verdict is what the last rule that fits says of a file or folder; false: none
// fits. rel is its path below the folder of the ignore file, with slashes; name
// is the last element of it.
func (rules ignoreRules) verdict(rel, name string, isDir bool) (ignored, decided bool) {
	for i := len(rules) - 1; i >= 0; i-- {
		if r := &rules[i]; r.fits(rel, name, isDir) {
			return !r.negated, true
		}
	}
	return false, false
}

func (r *ignoreRule) fits(rel, name string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	if r.named {
		rel = name
	}
	switch {
	case r.suffix != "":
		return strings.HasSuffix(rel, r.suffix)
	case r.rest == nil:
		return rel == r.prefix
	}
	return strings.HasPrefix(rel, r.prefix) && r.rest.match(rel[len(r.prefix):])
}
