package sessionscmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"kimi-acp/internal/markdown"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
)

func systemMessage(text string) llm.Message {
	return llm.Message{Role: llm.RoleSystem, Content: []llm.Part{llm.Text(text)}}
}

// page is a Markdown page that is being written.
type page struct{ bytes.Buffer }

// add writes; a buffer does not fail.
func (p *page) add(format string, args ...any) { _, _ = fmt.Fprintf(&p.Buffer, format, args...) }

func (p *page) paragraph(text string) { p.add("%s\n\n", strings.TrimSpace(text)) }

// folded is a part that a reader opens when it is wanted.
func (p *page) folded(title, text string) {
	p.add("<details><summary>%s</summary>\n\n%s\n\n</details>\n\n", title, text)
}

// pageOf gives a session as a page for people: what was said in full, thoughts and
// tools folded. The system prompt is left out.
func pageOf(r *session.Reader, h session.History) []byte {
	p := &page{}
	p.paragraph("# " + oneLine(r.Title()))
	p.add("| | |\n|---|---|\n| session | `%s` |\n", r.ID())
	if dir := r.WorkDir(); dir != "" {
		p.add("| folder | `%s` |\n", oneLine(dir))
	}
	p.add("| last used | %s |\n| messages | %d |\n", h.Updated.Format("2006-01-02 15:04"), len(h.Messages))
	if h.Tokens > 0 {
		p.add("| tokens | %d |\n", h.Tokens)
	}
	p.WriteByte('\n')
	turn := 0
	speaker := llm.Role("")
	names := map[string]string{} // of the tools, by the ids of their calls
	for _, m := range h.Messages {
		if m.Role == llm.RoleUser {
			if internal(textOf(m)) {
				continue
			}
			turn++
			speaker = ""
			p.paragraph(fmt.Sprintf("## Turn %d", turn))
		}
		if m.Role != speaker && m.Role != llm.RoleTool {
			p.paragraph("**" + map[llm.Role]string{llm.RoleUser: "You", llm.RoleAssistant: "Agent", llm.RoleSystem: "System"}[m.Role] + "**")
			speaker = m.Role
		}
		p.message(m, names)
	}
	return p.Bytes()
}

func (p *page) message(m llm.Message, names map[string]string) {
	if m.Role == llm.RoleTool {
		p.folded("Result of <code>"+escape(names[m.ToolCallID])+"</code>", markdown.Fenced("", plainText(m)))
		return
	}
	for _, part := range m.Content {
		switch part.Type {
		case llm.PartText:
			p.paragraph(part.Text)
		case llm.PartThink:
			if strings.TrimSpace(part.Think) != "" {
				p.folded("Thinking", strings.TrimSpace(part.Think))
			}
		default:
			p.paragraph("*[" + strings.TrimSuffix(string(part.Type), "_url") + "]*")
		}
	}
	for _, c := range m.ToolCalls {
		names[c.ID] = c.Name
		arguments := "{}"
		if c.Arguments != nil {
			arguments = *c.Arguments
		}
		var indented bytes.Buffer
		if json.Indent(&indented, []byte(arguments), "", "  ") == nil {
			arguments = indented.String()
		}
		p.folded("Tool <code>"+escape(c.Name)+"</code>", markdown.Fenced("json", arguments))
	}
}

// plainText is the text of a message, line by line.
func plainText(m llm.Message) string {
	var all []string
	for _, p := range m.Content {
		if p.Type == llm.PartText {
			all = append(all, p.Text)
		} else {
			all = append(all, "["+strings.TrimSuffix(string(p.Type), "_url")+"]")
		}
	}
	return strings.Join(all, "\n")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(oneLine(text))
}
