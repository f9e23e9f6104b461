package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Decision is what happens with an action. A greater one is stricter.
type Decision uint8

// The decisions, from the loosest to the strictest.
const (
	Allow   Decision = iota // done without asking
	Ask                     // asked for; the answer may last, as Verdict.Key says
	AskOnce                 // asked for each time: no lasting answer is offered
	Deny                    // not done, whatever anybody answers
)

var decisionNames = [...]string{Allow: "allow", Ask: "ask", AskOnce: "ask-once", Deny: "deny"}

// String is the word for a decision that rules use.
func (d Decision) String() string {
	if int(d) < len(decisionNames) {
		return decisionNames[d]
	}
	return fmt.Sprintf("Decision(%d)", uint8(d))
}

// MarshalText gives the word for a decision.
func (d Decision) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func parseDecision(word string) (Decision, bool) {
	i := slices.Index(decisionNames[:], word)
	return Decision(max(i, 0)), i >= 0
}

// Scope says how far a rule reaches, or how far an answer may.
type Scope uint8

// The scopes, from the narrowest.
const (
	Once    Scope = iota // this action alone
	Session              // until the session ends
	Project              // this workspace, in a file of the user's
	User                 // everything that the user does
	// Repository is for rules that come with the files of a workspace. They can
	// only tighten: one that allows is left out.
	Repository
)

var scopeNames = [...]string{Once: "once", Session: "session", Project: "project", User: "user", Repository: "repository"}

// String is the word for a scope.
func (s Scope) String() string {
	if int(s) < len(scopeNames) {
		return scopeNames[s]
	}
	return fmt.Sprintf("Scope(%d)", uint8(s))
}

// MarshalText gives the word for a scope.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Verdict is a decision and what is to be said about it.
type Verdict struct {
	Decision Decision
	Reason   string // for a person: why, in a few words, hidden characters visible
	Rule     string // the line of the rule, or the name of the built-in check
	// Key is what a lasting answer would cover: lines for ParseRule, one a line.
	// Engine.With makes them hold. Empty unless Decision is Ask.
	Key   string
	Scope string // Key in words; empty when Key is
	Lasts Scope  // the widest scope in which Key may be kept; Once when Key is empty
	Parts []Part // what was seen, in the order of the text
}

// Part is one command of a shell text, or the one path or address that was asked
// about.
type Part struct {
	Text     string // as it will run, hidden characters visible
	Dir      string // where it runs when that is known, else empty
	Decision Decision
	Reason   string
	Reads    []string // paths that it is known to read, absolute
	Writes   []string // paths that it is known to write, absolute
}

// Lines are the parts for a prompt, one a line, the strictest first, so that what
// matters is never below a fold. Runs of blanks are shortened, and say so.
func (v Verdict) Lines() []string {
	parts := slices.Clone(v.Parts)
	slices.SortStableFunc(parts, func(a, b Part) int { return int(b.Decision) - int(a.Decision) })
	lines := make([]string, 0, len(parts))
	for _, p := range parts {
		lines = append(lines, foldBlanks(p.Text, longestBlank))
	}
	return lines
}

// class says what kind of thing a finding is about, which is what modes go by.
type class uint8

const (
	classRun   class = iota // a command that may do anything
	classRead               // something is read and nothing changed
	classEdit               // an ordinary file of the workspace is changed
	classLater              // a file is changed that runs later, or that lies elsewhere
	classFloor              // no mode lifts it
)

// finding is one thing that was noticed about an action.
type finding struct {
	decision Decision
	class    class
	reason   string
	rule     string
	key      []string // rule lines that would answer it; with Ask at least one
	lasts    Scope
	words    string // key in words
}

var allowed = finding{decision: Allow, class: classRead}

func once(c class, rule, reason string) finding {
	return finding{decision: AskOnce, class: c, rule: rule, reason: reason}
}

func floor(d Decision, rule, reason string) finding {
	return finding{decision: d, class: classFloor, rule: rule, reason: reason}
}

// stricter gives the stricter of two findings, the first when they are equal.
func stricter(a, b finding) finding {
	if b.decision > a.decision || b.decision == a.decision && a.decision != Allow && b.class == classFloor && a.class != classFloor {
		return b
	}
	return a
}

// maxKeys is how many rules one answer may make: more cannot be shown.
const maxKeys = 4

// verdict joins findings: the strictest one decides, and a lasting answer has to
// answer every one that asks.
func verdict(c *Context, findings []finding) Verdict {
	top := allowed
	var keys, words []string
	lasts := User
	for _, f := range findings {
		f = c.underMode(f)
		if top.decision == Allow && f.decision == Allow && top.rule == "" {
			top = f
		}
		top = stricter(top, f)
		if f.decision != Ask {
			continue
		}
		lasts = min(lasts, f.lasts)
		for _, k := range f.key {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
		if !slices.Contains(words, f.words) {
			words = append(words, f.words)
		}
	}
	v := Verdict{Decision: top.decision, Reason: top.reason, Rule: top.rule}
	if v.Decision == Allow && v.Reason == "" {
		v.Reason = "nothing in it needs an answer"
	}
	if v.Decision == Ask && (len(keys) == 0 || len(keys) > maxKeys) {
		v.Decision = AskOnce
	}
	if v.Decision == Ask {
		v.Key, v.Scope, v.Lasts = strings.Join(keys, "\n"), strings.Join(words, ", "), lasts
	}
	return v
}
