package compaction

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"kimi-acp/soul/llm"
)

// leftOut stands where media were.
const leftOut = "[an image or another file was here]"

// markTokens is what the note about a cut takes, in tokens.
const markTokens = 12

// cut shortens a text to about so many tokens, as llm.EstimateText counts: most of its
// beginning and some of its end stay, with a note in between if there is room for one.
func cut(text string, tokens int) string {
	if llm.EstimateText(text) <= tokens {
		return text
	}
	if tokens < 2*markTokens {
		return text[:prefix(text, max(tokens-1, 1))] + "…"
	}
	tokens -= markTokens
	head := prefix(text, tokens-tokens/3)
	tail := suffix(text, tokens/3)
	if head+tail >= len(text) {
		return text
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", text[:head], len(text)-head-tail, text[len(text)-tail:])
}

// A token is four ASCII characters or one other.
func quarters(r rune) int {
	if r < utf8.RuneSelf {
		return 1
	}
	return 4
}

// prefix is how many bytes at the beginning of a text make so many tokens.
func prefix(text string, tokens int) int {
	left := 4 * tokens
	for i, r := range text {
		if left -= quarters(r); left < 0 {
			return i
		}
	}
	return len(text)
}

// suffix is how many bytes at the end of a text make so many tokens.
func suffix(text string, tokens int) int {
	left := 4 * tokens
	for i := len(text); i > 0; {
		r, n := utf8.DecodeLastRuneInString(text[:i])
		if left -= quarters(r); left < 0 {
			return len(text) - i
		}
		i -= n
	}
	return len(text)
}

// shortenResults gives the messages with each text of a tool's output cut to so many
// tokens, and without media in it. What it changes are copies.
func shortenResults(messages []llm.Message, tokens int) []llm.Message {
	out := slices.Clone(messages)
	for i, m := range out {
		if m.Role == llm.RoleTool {
			out[i] = shortenContent(m, tokens, true)
		}
	}
	return out
}

// shortenAll does the same to all that was said, and to the arguments of calls; media
// and thinking go only if asked for.
func shortenAll(messages []llm.Message, tokens int, media bool) []llm.Message {
	out := slices.Clone(messages)
	for i, m := range out {
		m = shortenContent(m, tokens, media)
		m.ToolCalls = slices.Clone(m.ToolCalls)
		for j, c := range m.ToolCalls {
			if c.Arguments != nil {
				args := shortenArguments(*c.Arguments, tokens)
				m.ToolCalls[j].Arguments = &args
			}
		}
		m.Tokens = llm.EstimateTokens(m)
		out[i] = m
	}
	return out
}

func shortenContent(m llm.Message, tokens int, media bool) llm.Message {
	m.Content = slices.Clone(m.Content)
	if media {
		m.Content = slices.DeleteFunc(m.Content, func(p llm.Part) bool { return p.Type == llm.PartThink })
	}
	for i, p := range m.Content {
		switch {
		case p.Type == llm.PartText:
			m.Content[i].Text = cut(p.Text, tokens)
		case p.Type != llm.PartThink && media:
			m.Content[i] = llm.Text(leftOut)
		}
	}
	m.Tokens = llm.EstimateTokens(m)
	return m
}

// shortenArguments cuts the long texts in the arguments of a call, which stay a JSON
// object: models refuse a conversation in which they are none.
func shortenArguments(args string, tokens int) string {
	if llm.EstimateText(args) <= tokens {
		return args
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &fields) != nil {
		return "{}"
	}
	short := map[string]any{}
	for name, value := range fields {
		var text string
		switch {
		case llm.EstimateText(string(value)) <= tokens:
			short[name] = value
		case json.Unmarshal(value, &text) == nil:
			short[name] = cut(text, tokens)
		default:
			short[name] = "[left out]"
		}
	}
	out, err := json.Marshal(short)
	if err != nil {
		return "{}"
	}
	return string(out)
}

func size(messages []llm.Message) int {
	n := 0
	for _, m := range messages {
		n += tokensOf(m)
	}
	return n
}

func tokensOf(m llm.Message) int {
	if m.Tokens > 0 {
		return m.Tokens
	}
	return llm.EstimateTokens(m)
}

// squeeze makes messages fit a number of tokens as far as it can: outputs of tools
// give way first, then all that was said, media last.
func squeeze(messages []llm.Message, tokens int) []llm.Message {
	for _, each := range []int{4000, 1000, 250} {
		if size(messages) <= tokens {
			return messages
		}
		messages = shortenResults(messages, each)
	}
	for _, each := range []int{4000, 1000, 250, 60} {
		if size(messages) <= tokens {
			return messages
		}
		messages = shortenAll(messages, each, each <= 250)
	}
	return messages
}
