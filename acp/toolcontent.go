package acp

import (
	"encoding/json"

	"kimi-acp/internal/markdown"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

func (s *session) card(name string, args json.RawMessage) tool.Card {
	return tool.CardOf(name, args, s.roots[0])
}

func locations(c tool.Card) []toolCallLocation {
	var out []toolCallLocation
	for _, l := range c.Locations {
		out = append(out, toolCallLocation{Path: l.Path, Line: l.Line})
	}
	return out
}

// resultContent is what an editor shows of a result: diffs for edits, output for
// commands, else the sentence.
func resultContent(kind string, v wire.ToolReturnValue) []toolContent {
	content := diffs(v.Files, maxCardDiff)
	output := v.Output.Text
	for _, p := range v.Output.Parts {
		if p.Type == llm.PartText {
			output += p.Text
		}
	}
	switch {
	case v.IsError || len(v.Files) > 0 && v.Message != "":
		if v.IsError && v.Message != "" {
			content = append(content, textContent(v.Message))
		}
		if v.IsError && output != "" {
			content = append(content, textContent(fenced(output)))
		}
	case kind == "execute" && output != "":
		content = append(content, textContent(fenced(output)))
	case v.Message != "":
		content = append(content, textContent(v.Message))
	case output != "":
		content = append(content, textContent(fenced(output)))
	}
	return content
}

// fenced shows the output of a program.
func fenced(text string) string { return markdown.Fenced("", text) }
