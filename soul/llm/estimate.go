package llm

import "unicode/utf8"

// mediaTokens is what an image, audio or video part is taken to cost.
const mediaTokens = 2000

// EstimateTokens estimates the size of a message in tokens, ≥ 0, without a
// tokenizer: each text in it by EstimateText (thinking, role, names, ids and
// arguments of tool calls included, signatures of thinking not), each media part
// as 2000. m.Tokens is not looked at.
func EstimateTokens(m Message) int {
	n := EstimateText(string(m.Role)) + EstimateText(m.Name) + EstimateText(m.ToolCallID)
	for _, p := range m.Content {
		n += estimatePart(p)
	}
	for _, c := range m.ToolCalls {
		n += EstimateText(c.ID) + EstimateText(c.Name)
		if c.Arguments != nil {
			n += EstimateText(*c.Arguments)
		}
	}
	return n
}

// EstimateTool estimates the size of a tool's description in tokens, ≥ 0.
func EstimateTool(t ToolSpec) int {
	return EstimateText(t.Name) + EstimateText(t.Description) + EstimateText(string(t.Parameters))
}

// EstimateText estimates the size of a text in tokens, ≥ 0: one token for each
// four ASCII characters, rounded up, and one for each other character. Bytes that
// are not UTF-8 count as a character each.
func EstimateText(s string) int {
	ascii := 0
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			ascii++
		}
	}
	return (ascii+3)/4 + utf8.RuneCountInString(s) - ascii
}

func estimatePart(p Part) int {
	switch p.Type {
	case PartText:
		return EstimateText(p.Text)
	case PartThink:
		return EstimateText(p.Think)
	default:
		return mediaTokens
	}
}
