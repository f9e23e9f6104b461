package permit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kimi-acp/internal/keptfile"
	"kimi-acp/internal/policy"
)

// maxFile bounds a file of rules, in bytes.
const maxFile = 256 << 10

// Project is the rules that the user has kept for one project. They are in a file of
// the user's, never in the project itself. Its methods may be called at once, also by
// several processes.
type Project struct {
	path string // empty: nothing can be kept
	root string
}

var errNoPlace = errors.New("there is no folder to keep rules in; set KIMI_SHARE_DIR")

var unfitForNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// ProjectOf gives the rules for the project in a folder, which are kept within dir; ""
// keeps none. The project is known by where the folder is, whatever link leads there.
func ProjectOf(dir, root string) *Project {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	p := &Project{root: root}
	if dir != "" {
		sum := sha256.Sum256([]byte(root))
		name := unfitForNames.ReplaceAllString(filepath.Base(root), "_")
		p.path = filepath.Join(dir, "rules", name[:min(len(name), 40)]+"-"+hex.EncodeToString(sum[:8])+".rules")
	}
	return p
}

// Rules gives the rules. The error names the file, and the line that cannot be read.
func (p *Project) Rules() ([]policy.Rule, error) {
	text, err := p.text()
	if err != nil {
		return nil, err
	}
	return p.parse(text)
}

func (p *Project) text() (string, error) {
	if p == nil || p.path == "" {
		return "", nil
	}
	data, err := keptfile.Read(p.path, maxFile)
	return string(data), err
}

func (p *Project) parse(text string) ([]policy.Rule, error) {
	rules, err := policy.ParseRules(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.path, err)
	}
	return rules, nil
}

// Add keeps rules, given as lines; those that are kept already are left as they are.
// The error says that a line is no rule, that it would let anything run, or that the
// file cannot be changed.
func (p *Project) Add(lines string) error {
	added, err := policy.ParseRules(lines)
	if err != nil {
		return err
	}
	for _, r := range added {
		if err := r.Check(); err != nil {
			return err
		}
	}
	return p.change(func(text string, rules []policy.Rule) string {
		if text == "" {
			text = "# Rules for " + policy.Visible(p.root) + ", kept by kimi-acp. See /permissions.\n"
		}
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		for _, r := range added {
			if !slices.ContainsFunc(rules, func(kept policy.Rule) bool { return kept.String() == r.String() }) {
				text += r.String() + "\n"
			}
		}
		return text
	})
}

// Remove forgets a rule, given as Rule.String writes it; false when it is not there.
func (p *Project) Remove(rule string) (removed bool, err error) {
	err = p.change(func(text string, _ []policy.Rule) string {
		var left strings.Builder
		within := false // the lines of the rule
		for line := range strings.Lines(text) {
			indented := line[0] == ' ' || line[0] == '\t'
			if within && indented {
				continue
			}
			r, err := policy.ParseRule(strings.TrimSpace(line))
			within = err == nil && !indented && r.String() == rule
			removed = removed || within
			if !within {
				left.WriteString(line)
			}
		}
		return left.String()
	})
	return removed && err == nil, err
}

func (p *Project) change(f func(text string, rules []policy.Rule) string) error {
	if p == nil || p.path == "" {
		return errNoPlace
	}
	return keptfile.Update(p.path, maxFile, func(old []byte) ([]byte, error) {
		rules, err := p.parse(string(old))
		if err != nil {
			return nil, err
		}
		return []byte(f(string(old), rules)), nil
	})
}
