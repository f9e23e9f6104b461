package kernel

import (
	"errors"
	"strings"
)

// splitWords takes a command line apart at blanks. Quotes of both kinds hold words
// together; a backslash takes the next character as it is, but in single quotes, and
// not where it separates folders. Nothing is expanded.
func splitWords(line string, backslash bool) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	within, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case backslash && r == '\\' && quote != '\'':
			within, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			within, quote = true, r
		case r == ' ' || r == '\t' || r == '\n':
			if within {
				words = append(words, word.String())
			}
			word.Reset()
			within = false
		default:
			within = true
			word.WriteRune(r)
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quote or a backslash at its end is open")
	}
	if within {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("it names no program")
	}
	return words, nil
}
