package compaction

import (
	"strings"

	"kimi-acp/soul/llm"
)

// opening begins the message that stands for what was compacted. Its first words tell
// such a message from others, so they stay as they are. As all that begins with
// <system>, it is no word of the user's.
const (
	openingStart = "<system>The conversation before this point was compacted"
	opening      = openingStart + " to save room. This message stands for it: a summary, what the user said in their own words, and what was done. " +
		"Nothing else of it is left to you, so look things up again where the exact wording matters. Go on with the work; do not mention the compaction.</system>"
)

// record is what is left of the part of a conversation that was compacted.
type record struct {
	summary string
	words   []string // what the user said, the oldest first
	done    []string // lines: files and what was done to them, commands and how they ended
	plan    string   // the to-do list
	running string   // what went on in the background then; never taken over from an earlier record
}

// IsSummary tells whether a message stands for a part that was compacted.
func IsSummary(m llm.Message) bool {
	return m.Role == llm.RoleUser && len(m.Content) > 0 && strings.HasPrefix(m.Content[0].Text, openingStart)
}

// message is the record as a model reads it: a part for each section.
func (r record) message() llm.Message {
	parts := []llm.Part{llm.Text(opening), llm.Text(section("summary", r.summary))}
	if len(r.words) > 0 {
		var all []string
		for _, w := range r.words {
			all = append(all, section("said", w))
		}
		parts = append(parts, llm.Text(frame("user-words", strings.Join(all, "\n"))))
	}
	if len(r.done) > 0 {
		parts = append(parts, llm.Text(section("done", strings.Join(r.done, "\n"))))
	}
	if r.plan != "" {
		parts = append(parts, llm.Text(section("plan", r.plan)))
	}
	if r.running != "" {
		parts = append(parts, llm.Text(section("background", r.running)))
	}
	m := llm.Message{Role: llm.RoleUser, Content: parts}
	m.Tokens = llm.EstimateTokens(m)
	return m
}

// readRecord is the record that a message was made from.
func readRecord(m llm.Message) record {
	var r record
	for _, p := range m.Content[1:] {
		if text, ok := inside(p.Text, "summary"); ok {
			r.summary = text
		} else if text, ok := inside(p.Text, "user-words"); ok {
			for _, said := range strings.Split(text, "</said>") {
				if _, word, ok := strings.Cut(said, "<said>\n"); ok {
					r.words = append(r.words, strings.TrimSuffix(word, "\n"))
				}
			}
		} else if text, ok := inside(p.Text, "done"); ok {
			r.done = strings.Split(text, "\n")
		} else if text, ok := inside(p.Text, "plan"); ok {
			r.plan = text
		}
	}
	return r
}

// section frames a text. Within it nothing looks like the end of a frame, or like the
// words of the program, which begin with <system.
func section(name, text string) string {
	return frame(name, strings.NewReplacer("</said>", "<\\/said>", "</"+name+">", "<\\/"+name+">", "<system", "<\\system").Replace(text))
}

func frame(name, text string) string { return "<" + name + ">\n" + text + "\n</" + name + ">" }

func inside(text, name string) (string, bool) {
	text, begins := strings.CutPrefix(text, "<"+name+">\n")
	text, ends := strings.CutSuffix(text, "\n</"+name+">")
	return text, begins && ends
}
