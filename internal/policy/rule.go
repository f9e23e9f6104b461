package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind says what a rule speaks of.
type Kind string

// The kinds of rules.
const (
	KindShell Kind = "shell" // commands that begin with these words
	KindExact Kind = "exact" // commands of exactly these words
	KindEnv   Kind = "env"   // a variable that may be set in front of a command
	KindRead  Kind = "read"  // reading files, by pattern
	KindEdit  Kind = "edit"  // writing files, by pattern
	KindFetch Kind = "fetch" // addresses, by scheme, host and beginning of the path
	KindMCP   Kind = "mcp"   // tools of MCP servers, as server/tool
)

var kinds = []Kind{KindShell, KindExact, KindEnv, KindRead, KindEdit, KindFetch, KindMCP}

// Rule is one rule. Commands are matched word by word after quotes are removed; at
// each place of Words any of the alternatives may stand.
type Rule struct {
	Decision Decision
	Kind     Kind
	Words    [][]string // KindShell and KindExact
	Pattern  string     // the other kinds; see ParseRule
	Reason   string     // shown to the user, may be empty
	Except   []string   // patterns of files that the rule does not mean
	Match    []string   // examples that the rule decides
	NotMatch []string   // examples that it does not

	trusted bool     // holds in a trusted workspace only
	floor   bool     // no mode and no rule lifts it
	syntax  *grammar // options and operands that may follow Words; nil: any
}

// maxRuleLine bounds a rule, in bytes.
const maxRuleLine = 2000

// ParseRule reads a rule of one line: a decision (allow, ask, ask-once, deny), a kind,
// and what it speaks of.
//
//	allow shell npm run test|lint    commands that begin so; | parts alternatives
//	allow exact mkdir -p build       this command and no other
//	deny read ~/.aws/                a folder and everything in it
//	ask edit db/migrations/**        from a root of the workspace
//	ask-once edit **/*.lock          in any folder
//	allow fetch https://go.dev/      an address and everything below it
//	deny mcp files/write_*           a tool of an MCP server
//	allow env CI                     a variable in front of a command
//
// Words that hold blanks, quotes or bars stand in single quotes.
func ParseRule(line string) (Rule, error) {
	if len(line) > maxRuleLine {
		return Rule{}, fmt.Errorf("rule of %d bytes: at most %d", len(line), maxRuleLine)
	}
	if strings.Contains(line, "\n") {
		return Rule{}, fmt.Errorf("rule %q: a rule stands on one line", Visible(line))
	}
	if esc, bad := hiddenIn(line); bad {
		return Rule{}, fmt.Errorf("rule %q: it holds a character that cannot be seen (%s)", Visible(line), esc)
	}
	words, err := splitWords(line)
	if err != nil {
		return Rule{}, fmt.Errorf("rule %q: %w", line, err)
	}
	if len(words) < 3 {
		return Rule{}, fmt.Errorf("rule %q: want a decision, a kind and what it speaks of, as in %q", line, "allow shell go test")
	}
	d, ok := parseDecision(words[0][0])
	if !ok || len(words[0]) > 1 {
		return Rule{}, fmt.Errorf("rule %q: a rule begins with allow, ask, ask-once or deny", line)
	}
	r := Rule{Decision: d, Kind: Kind(words[1][0])}
	if !slices.Contains(kinds, r.Kind) || len(words[1]) > 1 {
		return Rule{}, fmt.Errorf("rule %q: there is no kind %q; use one of %v", line, words[1][0], kinds)
	}
	if r.Kind == KindShell || r.Kind == KindExact {
		r.Words = words[2:]
		return r, r.check()
	}
	if len(words) > 3 || len(words[2]) > 1 {
		return Rule{}, fmt.Errorf("rule %q: one pattern is expected after %q; quote it if it holds blanks", line, words[1][0])
	}
	r.Pattern = words[2][0]
	return r, r.check()
}

func (r Rule) check() error {
	switch {
	case r.Kind == KindShell || r.Kind == KindExact:
		if len(r.Words) == 0 || slices.ContainsFunc(r.Words, func(w []string) bool { return len(w) == 0 }) || slices.Contains(r.Words[0], "") {
			return errors.New("rule without a program")
		}
	case r.Pattern == "":
		return fmt.Errorf("rule %q: the pattern is empty", r)
	case r.Kind == KindMCP && strings.Count(r.Pattern, "/") != 1:
		return fmt.Errorf("rule %q: tools are named as server/tool", r)
	case r.Kind == KindFetch:
		if _, err := parseTarget(r.Pattern); err != nil {
			return fmt.Errorf("rule %q: %w", r, err)
		}
	case r.Kind == KindRead || r.Kind == KindEdit:
		if err := checkPattern(r.Pattern); err != nil {
			return fmt.Errorf("rule %q: %w", r, err)
		}
	}
	return nil
}

// runsAnything tells whether a rule leaves open what a program runs for others.
func (r Rule) runsAnything() bool {
	return r.Decision == Allow && r.Kind == KindShell && r.syntax == nil && slices.ContainsFunc(r.Words[0], r.opens)
}

func (r Rule) opens(program string) bool {
	if !runsOthers(baseName(program)) && !interpreters[baseName(program)] {
		return false
	}
	return len(r.Words) == 1 || slices.ContainsFunc(r.Words[1], func(w string) bool { return strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--version") })
}

// String is the line that ParseRule reads.
func (r Rule) String() string {
	var b strings.Builder
	b.WriteString(r.Decision.String() + " " + string(r.Kind))
	for _, alternatives := range r.Words {
		for i, w := range alternatives {
			b.WriteString([]string{" ", "|"}[min(i, 1)] + quoteWord(w))
		}
	}
	if r.Pattern != "" {
		b.WriteString(" " + quoteWord(r.Pattern))
	}
	return b.String()
}

func quoteWord(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t|'") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `''`) + "'"
}

// splitWords splits a line at blanks, and words at bars. Within single quotes
// everything stands for itself, and two quotes are one.
func splitWords(line string) ([][]string, error) {
	var words [][]string
	for line = strings.TrimLeft(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
		var alternatives []string
		var word strings.Builder
	scan:
		for {
			switch {
			case line == "" || line[0] == ' ' || line[0] == '\t':
				break scan
			case line[0] == '|':
				alternatives = append(alternatives, word.String())
				word.Reset()
				line = line[1:]
			case line[0] == '\'':
				text, rest, err := unquote(line[1:])
				if err != nil {
					return nil, err
				}
				word.WriteString(text)
				line = rest
			default:
				word.WriteByte(line[0])
				line = line[1:]
			}
		}
		words = append(words, append(alternatives, word.String()))
	}
	return words, nil
}

func unquote(s string) (text, rest string, err error) {
	var b strings.Builder
	for {
		end := strings.IndexByte(s, '\'')
		if end < 0 {
			return "", "", errors.New("a quote is not closed")
		}
		b.WriteString(s[:end])
		s = s[end+1:]
		if !strings.HasPrefix(s, "'") {
			return b.String(), s, nil
		}
		b.WriteByte('\'')
		s = s[1:]
	}
}

// prefixOf tells whether argv begins with the words of the rule.
func (r Rule) prefixOf(argv []string, same func(rule, word string) bool) bool {
	if len(argv) < len(r.Words) || r.Kind == KindExact && len(argv) != len(r.Words) {
		return false
	}
	for i, alternatives := range r.Words {
		if !slices.ContainsFunc(alternatives, func(a string) bool { return same(a, argv[i]) }) {
			return false
		}
	}
	return true
}

func equalWord(rule, word string) bool { return rule == word }
