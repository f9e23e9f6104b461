package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// operands is what stands on a command line beside options.
type operands uint8

const (
	noOperands operands = iota
	anyText             // shown or counted, never opened
	fileNames           // files of which names and facts are told
	fileTexts           // files whose text is told
	patternThenFiles
	revisions // git's: names of commits, files, or files at a commit
)

var operandNames = map[string]operands{
	"none": noOperands, "any": anyText, "names": fileNames, "files": fileTexts, "pattern": patternThenFiles, "revisions": revisions,
}

// grammar is which options and operands a program may be given for a rule to hold.
// What it does not know is not allowed, so that an option of tomorrow is asked for.
type grammar struct {
	options  map[string]bool // taken alone, or with =value attached when they end in "="
	values   map[string]bool
	reads    map[string]bool
	writes   map[string]bool
	operands operands
	max      int      // operands; negative: any number
	without  []string // texts that no word may hold
	harmless bool     // no option does harm, so a file's name may look like one
	ordered  bool     // options stand before operands
}

func newGrammar() *grammar {
	return &grammar{options: map[string]bool{}, values: map[string]bool{}, reads: map[string]bool{}, writes: map[string]bool{}, max: -1}
}

func (g *grammar) detail(name, rest string) error {
	set := map[string]map[string]bool{"options": g.options, "values": g.values, "reads": g.reads, "writes": g.writes}[name]
	switch {
	case set != nil:
		for _, o := range strings.Fields(rest) {
			set[o] = true
		}
	case name == "operands":
		kind, ok := operandNames[rest]
		if !ok {
			return fmt.Errorf("there is no kind of operands %q", rest)
		}
		g.operands = kind
	case name == "max":
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return fmt.Errorf("max %q is no number of operands", rest)
		}
		g.max = n
	case name == "without":
		g.without = append(g.without, strings.Fields(rest)...)
	case name == "harmless":
		g.harmless = true
	case name == "ordered":
		g.ordered = true
	default:
		return fmt.Errorf("%q is not understood", name)
	}
	return nil
}

// usage is what a command line does with files.
type usage struct {
	names  []word // listed
	reads  []word // opened
	writes []word
}

// use reads the words after a rule's own. Not ok: something is not known.
func (g *grammar) use(words []word) (u usage, ok bool) {
	var rest []word
	for i := 0; i < len(words); i++ {
		w := words[i]
		if slices.ContainsFunc(g.without, func(s string) bool { return strings.Contains(w.text, s) }) {
			return u, false
		}
		if w.text == "--" && !w.dynamic {
			rest = append(rest, words[i+1:]...)
			break
		}
		if w.dynamic || !strings.HasPrefix(w.text, "-") || w.text == "-" {
			if w.mayBeOption() && !g.harmless {
				return u, false
			}
			rest = append(rest, w)
			if g.ordered && !w.mayBeOption() {
				rest = append(rest, words[i+1:]...)
				break
			}
			continue
		}
		taken, ok := g.option(words[i:], &u)
		if !ok {
			return u, false
		}
		i += taken - 1
	}
	ok = g.place(rest, &u)
	return u, ok
}

// option reads the option that words begin with, and says how many words it took.
func (g *grammar) option(words []word, u *usage) (taken int, ok bool) {
	w := words[0]
	name, value, attached := strings.Cut(w.text, "=")
	if w.glob {
		// Whatever files it finds, their names begin with the option's.
		return 1, attached && g.values[name] && strings.HasPrefix(name, "--")
	}
	set, known := g.takesValue(name)
	switch {
	case g.options[w.text]:
		return 1, true
	case attached && g.options[name+"="]:
		return 1, true
	case attached && known && strings.HasPrefix(name, "-"):
		return 1, g.value(set, w.with(value), u)
	case !attached && known:
		return 2, len(words) > 1 && g.value(set, words[1], u)
	case g.options["-#"] && isDigits(w.text[1:]):
		return 1, true
	case strings.HasPrefix(w.text, "--"):
		return 0, false
	}
	// Letters behind one dash: the last may have its value in the same word, or
	// in the next.
	for i, letter := range w.text[1:] {
		o, rest := "-"+string(letter), w.text[1+i+len(string(letter)):]
		set, known := g.takesValue(o)
		if g.options[o] && (!known || !isDigits(rest)) {
			continue
		}
		if !known {
			return 0, false
		}
		if rest != "" {
			return 1, g.value(set, w.with(rest), u)
		}
		return 2, len(words) > 1 && g.value(set, words[1], u)
	}
	return 1, true
}

// optionKind says what the value of an option is.
type optionKind uint8

const (
	textValue optionKind = iota
	readValue
	writeValue
)

func (g *grammar) takesValue(option string) (optionKind, bool) {
	switch {
	case g.values[option]:
		return textValue, true
	case g.reads[option]:
		return readValue, true
	case g.writes[option]:
		return writeValue, true
	}
	return textValue, false
}

func (g *grammar) value(kind optionKind, w word, u *usage) bool {
	if slices.ContainsFunc(g.without, func(s string) bool { return strings.Contains(w.text, s) }) {
		return false
	}
	switch kind {
	case readValue:
		u.reads = append(u.reads, w)
	case writeValue:
		u.writes = append(u.writes, w)
	}
	return !w.dynamic && !w.glob
}

// secretVariable are names of variables whose value should not be shown.
var secretVariable = regexp.MustCompile(`(?i)key|token|secret|pass|credential|auth`)

// place says what the operands are.
func (g *grammar) place(rest []word, u *usage) bool {
	if g.max >= 0 && len(rest) > g.max {
		return false
	}
	switch g.operands {
	case noOperands:
		return len(rest) == 0
	case anyText:
		return !slices.ContainsFunc(rest, func(w word) bool { return w.dynamic && secretVariable.MatchString(w.text) })
	case fileNames:
		u.names = append(u.names, rest...)
	case patternThenFiles:
		if len(rest) > 0 {
			if rest[0].dynamic {
				return false
			}
			u.reads = append(u.reads, rest[1:]...)
		}
		return true
	case revisions:
		for _, w := range rest {
			if _, file, ok := strings.Cut(w.text, ":"); ok {
				w = w.with(file)
			}
			u.reads = append(u.reads, w)
		}
	default:
		u.reads = append(u.reads, rest...)
	}
	return true
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
