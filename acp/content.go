package acp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"kimi-acp/contextprovider"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
)

// parsePrompt turns the content blocks of a prompt into what the soul reads, in
// the same order. Mentions become typed references with path and lines; nothing
// that they name is opened here.
func parsePrompt(raw json.RawMessage, images bool) (soul.Input, error) {
	var blocks []json.RawMessage
	if kindOf(raw) != "an array" || json.Unmarshal(raw, &blocks) != nil {
		return soul.Input{}, invalid("prompt must be an array of content blocks, not %s", kindOf(raw))
	}
	if len(blocks) == 0 {
		return soul.Input{}, invalid("prompt is empty; it needs at least one content block")
	}
	var in soul.Input
	var typed []string
	for i, raw := range blocks {
		b, ok := object(raw)
		if !ok {
			return soul.Input{}, invalid("prompt[%d] must be an object, not %s", i, kindOf(raw))
		}
		kind, err := b.text("type")
		if err != nil {
			return soul.Input{}, invalid("prompt[%d]: type must be a string", i)
		}
		part, err := parseBlock(kind, b, images)
		if err != nil {
			return soul.Input{}, invalid("prompt[%d] (%s): %s", i, clip(kind), err.Error())
		}
		if kind == "text" {
			typed = append(typed, part.Text)
		}
		in.Parts = append(in.Parts, part)
		if m, ok := mentionOf(kind, b); ok && len(in.Mentions) < maxMentions {
			in.Mentions = append(in.Mentions, m)
		}
	}
	in.Text = strings.TrimSpace(strings.Join(typed, " "))
	return in, nil
}

func parseBlock(kind string, b members, images bool) (llm.Part, error) {
	switch kind {
	case "text":
		text, err := required(b, "text")
		return llm.Text(text), err
	case "image":
		return parseImage(b, images)
	case "resource_link":
		return parseLink(b)
	case "resource":
		return parseResource(b)
	case "audio":
		return llm.Part{}, fmt.Errorf("audio is not supported (promptCapabilities.audio is false)")
	}
	return llm.Part{}, fmt.Errorf("unknown type of content block")
}

// required is a member that must be a string, with a short error.
func required(b members, name string) (string, error) {
	var s *string
	if json.Unmarshal(b[name], &s) != nil || s == nil {
		return "", fmt.Errorf("%s must be a string, not %s", name, kindOf(b[name]))
	}
	return *s, nil
}

func parseImage(b members, images bool) (llm.Part, error) {
	data, err := required(b, "data")
	if err != nil {
		return llm.Part{}, err
	}
	mime, err := required(b, "mimeType")
	if err != nil {
		return llm.Part{}, err
	}
	if !strings.HasPrefix(mime, "image/") || strings.ContainsAny(mime, ",; \n") {
		return llm.Part{}, fmt.Errorf("mimeType %q is no image type", clip(mime))
	}
	if _, err := base64.StdEncoding.DecodeString(data); err != nil || data == "" {
		return llm.Part{}, fmt.Errorf("data is not base64")
	}
	if !images {
		return llm.Text(fmt.Sprintf("[An image (%s) was attached here; this model cannot see images. Tell the user so.]", mime)), nil
	}
	return llm.Image("data:" + mime + ";base64," + data), nil
}

// parseLink renders a mention that carries no text.
func parseLink(b members) (llm.Part, error) {
	uri, err := required(b, "uri")
	if err != nil {
		return llm.Part{}, err
	}
	name, err := required(b, "name")
	if err != nil {
		return llm.Part{}, err
	}
	m := contextprovider.ParseMention(uri)
	attrs := mentionAttributes(m)
	if m.Kind == contextprovider.MentionOther || name != path.Base(m.Path) {
		attrs += attribute("name", name)
	}
	if d := b.optionalText("description"); d != "" {
		attrs += attribute("description", d)
	}
	return llm.Text("<mention" + attrs + "/>"), nil
}

// parseResource renders a mention that carries its text. The text is what the
// editor says, which need not be what stands in the file.
func parseResource(b members) (llm.Part, error) {
	r, ok := object(b["resource"])
	if !ok {
		return llm.Part{}, fmt.Errorf("resource must be an object, not %s", kindOf(b["resource"]))
	}
	uri, err := required(r, "uri")
	if err != nil {
		return llm.Part{}, fmt.Errorf("resource.%w", err)
	}
	m := contextprovider.ParseMention(uri)
	if _, there := r["text"]; there {
		text, err := required(r, "text")
		if err != nil {
			return llm.Part{}, fmt.Errorf("resource.%w", err)
		}
		text = strings.ReplaceAll(text, "\r\n", "\n")
		return llm.Text("<mention" + mentionAttributes(m) + ">\n" + escapeBlock(text) + "\n</mention>"), nil
	}
	blob, err := required(r, "blob")
	if err != nil {
		return llm.Part{}, fmt.Errorf("resource has neither text nor blob")
	}
	raw, err := base64.StdEncoding.DecodeString(blob)
	if err != nil {
		return llm.Part{}, fmt.Errorf("resource.blob is not base64")
	}
	return llm.Text("<mention" + mentionAttributes(m) + attribute("content", fmt.Sprintf("%d bytes of binary data, not shown", len(raw))) + "/>"), nil
}

func mentionAttributes(m contextprovider.Mention) string {
	s := attribute("kind", string(m.Kind))
	if m.Path == "" {
		return s + attribute("uri", m.URI)
	}
	s += attribute("path", m.Path)
	if m.Lines != nil {
		s += attribute("lines", fmt.Sprintf("%d-%d", m.Lines.First, m.Lines.Last))
	}
	if m.Column > 0 {
		s += attribute("column", fmt.Sprint(m.Column))
	}
	if m.Symbol != "" {
		s += attribute("symbol", m.Symbol)
	}
	return s
}

var attributeEscapes = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "\n", " ", "\r", " ", "\x00", "")

func attribute(name, value string) string {
	return " " + name + `="` + attributeEscapes.Replace(value) + `"`
}

// escapeBlock keeps a mention's text from closing its own block.
func escapeBlock(text string) string {
	return strings.ReplaceAll(text, "</mention", "<\\/mention")
}
