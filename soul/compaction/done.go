package compaction

import (
	"encoding/json"
	"slices"
	"strings"

	"kimi-acp/soul/llm"
)

// deeds are what was done: to each file, and by each command, in the order in which
// they came up first. It is known without a model, and no summary can get it wrong.
type deeds struct {
	order []string
	by    map[string][]string // subject: what was done, each word once
}

// commandMark begins the subject of a command.
const commandMark = "$ "

// maxSubject bounds a subject, in tokens.
const maxSubject = 60

func newDeeds(lines []string) *deeds {
	d := &deeds{by: map[string][]string{}}
	for _, line := range lines {
		i := strings.LastIndex(line, ": ")
		if i < 0 {
			continue // the note about lines that are left out
		}
		for _, word := range strings.Split(line[i+2:], ", ") {
			d.add(line[:i], word)
		}
	}
	return d
}

func (d *deeds) add(subject, word string) {
	subject = strings.Join(strings.Fields(subject), " ")
	if subject == "" {
		return
	}
	if llm.EstimateText(subject) > maxSubject {
		subject = subject[:prefix(subject, maxSubject)] + "…"
	}
	if d.by[subject] == nil {
		d.order = append(d.order, subject)
	}
	if !slices.Contains(d.by[subject], word) {
		d.by[subject] = append(d.by[subject], word)
	}
}

// collect adds what the calls in messages did.
func (d *deeds) collect(messages []llm.Message) {
	for i, m := range messages {
		if len(m.ToolCalls) == 0 {
			continue
		}
		outcome := outcomes(messages[i+1:])
		for _, c := range m.ToolCalls {
			if c.Arguments == nil {
				continue
			}
			var args struct{ Path, Command, Patch string }
			if json.Unmarshal([]byte(*c.Arguments), &args) != nil {
				continue
			}
			d.call(c.Name, args.Path, args.Command, args.Patch, outcome[c.ID])
		}
	}
}

// outcomes tells of each call of an answer, by its id, whether it failed, by what stands
// right behind the answer: in another one the same id is another call's.
func outcomes(behind []llm.Message) map[string]bool {
	failures := map[string]bool{}
	for _, m := range behind {
		if m.Role != llm.RoleTool {
			break
		}
		failures[m.ToolCallID] = failed(m)
	}
	return failures
}

func (d *deeds) call(tool, path, command, patch string, failed bool) {
	word := func(done string) string {
		if failed {
			return done + " (failed)"
		}
		return done
	}
	switch {
	case command != "":
		d.add(commandMark+command, word("run"))
	case patch != "":
		for _, line := range strings.Split(patch, "\n") {
			for _, verb := range []struct{ mark, done string }{
				{"*** Update File: ", "patched"}, {"*** Add File: ", "added"}, {"*** Delete File: ", "deleted"}, {"*** Move to: ", "moved here"},
			} {
				if file, ok := strings.CutPrefix(line, verb.mark); ok {
					d.add(file, word(verb.done))
				}
			}
		}
	case path != "":
		done, known := map[string]string{"ReadFile": "read", "ReadMediaFile": "read", "WriteFile": "written", "StrReplaceFile": "edited", "Grep": "searched"}[tool]
		if !known {
			done = tool
		}
		d.add(path, word(done))
	}
}

// lines tells the deeds in so many tokens.
func (d *deeds) lines(tokens int) []string {
	var entries []entry
	for _, subject := range d.order {
		entries = append(entries, newEntry(subject+": "+strings.Join(d.by[subject], ", "), "", 1))
	}
	return fit(entries, tokens)
}
