package policy

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	// maxCommand is the longest command that is looked into, in bytes. What is
	// longer could keep the parser busy, or end the process with a stack that
	// cannot grow any more.
	maxCommand = 10_000
	// maxNesting is how many brackets may be open at once.
	maxNesting = 200
)

// guard looks at a command before it is parsed. The finding is Allow when nothing
// is wrong; parse says whether the text may be given to the parser all the same,
// to find what is denied.
func guard(cmd string) (f finding, parse bool) {
	switch {
	case len(cmd) > maxCommand:
		return floor(AskOnce, "too long", "the command is too long to be looked into"), false
	case strings.ContainsRune(cmd, 0):
		return floor(AskOnce, "hidden character", `the command holds a NUL byte (\x00)`), true
	case !utf8.ValidString(cmd):
		return floor(AskOnce, "hidden character", "the command holds bytes that are no text"), true
	case tooDeep(cmd):
		return floor(AskOnce, "too deep", "the command is nested too deep to be looked into"), false
	}
	if esc, found := hiddenIn(cmd); found {
		return floor(AskOnce, "hidden character", "the command holds a character that cannot be seen ("+esc+")"), true
	}
	return allowed, true
}

// tooDeep counts brackets without regard to quotes: closing ones within quotes
// can lower the count, but then the length bounds the depth.
func tooDeep(cmd string) bool {
	depth := 0
	for i := range len(cmd) {
		switch cmd[i] {
		case '(', '{', '[':
			if depth++; depth > maxNesting {
				return true
			}
		case ')', '}', ']':
			depth = max(depth-1, 0)
		}
	}
	return false
}

// joinedComment is a line with a number sign that ends in a backslash. When the sign
// begins a comment, to bash the next line is a command of its own; to the parser
// it goes on with this one.
var joinedComment = regexp.MustCompile(`(?m)#[^\n]*\\$`)

// readings gives the texts that a command may be to bash: itself, and with the lines
// behind such comments parted from them. More than one is asked for.
func readings(cmd string) []string {
	if !joinedComment.MatchString(cmd) {
		return []string{cmd}
	}
	return []string{cmd, joinedComment.ReplaceAllStringFunc(cmd, func(line string) string { return strings.TrimRight(line, `\`) })}
}
