package eval

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kimi-acp/cmd/kimi-acp/run"
)

// outcome is what a task's turn has left behind.
type outcome struct {
	result   run.Result
	files    map[string]string // of the folder, by path with slashes
	commands []string          // that were run, in order
	tools    []string          // names of the tools that were called
	todos    []string          // statuses of the to-do list, as it was last
}

// check is one thing that must hold of an outcome.
type check struct {
	file  string // the file it speaks of, "" for none
	fails func(outcome) string
}

var errCheck = errors.New("it is no check")

// parseCheck reads a check. Patterns are regular expressions that take no note of
// case, and go on to the end of the line.
//
//	file NAME absent            the file is gone, or was never made
//	file NAME matches PATTERN   and: lacks PATTERN
//	answer matches PATTERN      and: lacks PATTERN
//	ran PATTERN                 a command was run that fits
//	not ran PATTERN             none was; "not ran ." for no command at all
//	called TOOL                 the tool was called; not called TOOL
//	todos N                     the to-do list has N entries or more, all done
func parseCheck(text string) (check, error) {
	word, rest, _ := strings.Cut(text, " ")
	not := word == "not"
	if not {
		word, rest, _ = strings.Cut(rest, " ")
	}
	switch {
	case word == "file" && !not:
		return fileCheck(rest)
	case word == "answer" && !not:
		verb, pattern, _ := strings.Cut(rest, " ")
		holds, err := textCheck(verb, pattern)
		return check{fails: func(o outcome) string { return holds("the answer", strings.TrimSpace(o.result.Text)) }}, err
	case word == "ran":
		re, err := pattern(rest)
		return check{fails: func(o outcome) string {
			return found(not, "a command like "+rest, "run", slices.ContainsFunc(o.commands, re.MatchString))
		}}, err
	case word == "called":
		return check{fails: func(o outcome) string {
			return found(not, "the tool "+rest, "called", slices.Contains(o.tools, rest))
		}}, nil
	case word == "todos" && !not:
		var n int
		if _, err := fmt.Sscanf(rest, "%d", &n); err != nil {
			return check{}, fmt.Errorf("%w: %s", errCheck, text)
		}
		return check{fails: func(o outcome) string { return todosFail(n, o.todos) }}, nil
	}
	return check{}, fmt.Errorf("%w: %s", errCheck, text)
}

func fileCheck(text string) (check, error) {
	name, rest, _ := strings.Cut(text, " ")
	if rest == "absent" {
		return check{file: name, fails: func(o outcome) string {
			if _, there := o.files[name]; there {
				return name + " is there"
			}
			return ""
		}}, nil
	}
	verb, pattern, _ := strings.Cut(rest, " ")
	holds, err := textCheck(verb, pattern)
	return check{file: name, fails: func(o outcome) string {
		text, there := o.files[name]
		if !there {
			return name + " is not there"
		}
		return holds(name, text)
	}}, err
}

// textCheck says of a text, by its name, why it does not hold; "" when it does.
func textCheck(verb, expr string) (func(what, text string) string, error) {
	re, err := pattern(expr)
	if err != nil {
		return nil, err
	}
	switch verb {
	case "matches":
		return func(what, text string) string {
			if re.MatchString(text) {
				return ""
			}
			return what + " has nothing like " + expr
		}, nil
	case "lacks":
		return func(what, text string) string {
			if !re.MatchString(text) {
				return ""
			}
			return what + " has something like " + expr
		}, nil
	}
	return nil, fmt.Errorf("%w: %s", errCheck, verb)
}

func pattern(expr string) (*regexp.Regexp, error) {
	if expr == "" {
		return nil, fmt.Errorf("%w: the pattern is empty", errCheck)
	}
	re, err := regexp.Compile("(?i)" + expr)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCheck, err)
	}
	return re, nil
}

// found says why something should, or should not, have happened.
func found(not bool, what, verb string, happened bool) string {
	switch {
	case not && happened:
		return what + " was " + verb
	case !not && !happened:
		return what + " was not " + verb
	}
	return ""
}

func todosFail(n int, statuses []string) string {
	switch {
	case len(statuses) < n:
		return fmt.Sprintf("the to-do list has %d entries, not %d", len(statuses), n)
	case slices.ContainsFunc(statuses, func(s string) bool { return s != "done" }):
		return "the to-do list has entries that are not done"
	}
	return ""
}
