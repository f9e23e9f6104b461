package lsp

import (
	"bytes"
	"encoding/json"
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/internal/fileuri"
)

// Answers come in several forms, of which glsp's types hold one or lose a part. These
// read all that the protocol allows, and pass over what it does not.

// finding is a problem as a server tells it.
type finding struct {
	Range    protocol.Range  `json:"range"`
	Severity int             `json:"severity"`
	Code     json.RawMessage `json:"code"` // glsp loses it
	Source   string          `json:"source"`
	Message  text            `json:"message"`
}

// code is the code as one word, "" for none.
func (f finding) code() string {
	var word string
	var number json.Number
	if json.Unmarshal(f.Code, &word) == nil && word != "" {
		return word
	}
	if json.Unmarshal(f.Code, &number) == nil {
		return number.String()
	}
	return ""
}

// text is a string, or markup, or a list of such.
type text string

// UnmarshalJSON reads any of the forms; what is none is an empty text.
func (t *text) UnmarshalJSON(data []byte) error {
	var s string
	var list []text
	var markup struct{ Value, Language string }
	switch {
	case json.Unmarshal(data, &s) == nil:
		*t = text(s)
	case json.Unmarshal(data, &list) == nil:
		var parts []string
		for _, p := range list {
			if p != "" {
				parts = append(parts, string(p))
			}
		}
		*t = text(strings.Join(parts, "\n\n"))
	case json.Unmarshal(data, &markup) == nil:
		*t = text(markup.Value)
		if markup.Language != "" {
			*t = text("```" + markup.Language + "\n" + markup.Value + "\n```")
		}
	}
	return nil
}

// spot is a place that a server names, in any of its forms.
type spot struct {
	URI                  protocol.DocumentUri `json:"uri"`
	Range                protocol.Range       `json:"range"`
	TargetURI            protocol.DocumentUri `json:"targetUri"`
	TargetSelectionRange protocol.Range       `json:"targetSelectionRange"`
}

// where gives file and position; the file is "" when the place is none.
func (s spot) where() (path string, at protocol.Position) {
	if s.TargetURI != "" {
		return fileuri.Path(s.TargetURI), s.TargetSelectionRange.Start
	}
	return fileuri.Path(s.URI), s.Range.Start
}

// spots reads one place or a list of them.
func spots(raw json.RawMessage) []spot {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '{' {
		raw = append(append([]byte("["), raw...), ']')
	}
	var all []spot
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}

// entry is a symbol as a server lists it, of a file or of the workspace.
type entry struct {
	Name           string              `json:"name"`
	Detail         string              `json:"detail"`
	Kind           protocol.SymbolKind `json:"kind"`
	SelectionRange *protocol.Range     `json:"selectionRange"`
	Location       spot                `json:"location"`
	Children       []entry             `json:"children"`
	ContainerName  string              `json:"containerName"`
}

// kinds are the words for the kinds of symbols, numbered as in the protocol.
var kinds = [...]string{
	"", "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum", "interface",
	"func", "var", "const", "string", "number", "boolean", "array", "object", "key", "null", "enum member", "struct", "event",
	"operator", "type parameter",
}

func kindOf(k protocol.SymbolKind) string {
	if k < 0 || int(k) >= len(kinds) {
		return ""
	}
	return kinds[k]
}

// card is what a server tells of a symbol on hovering.
type card struct {
	Contents text `json:"contents"`
}

// parts gives the signature, which is the first block of code, and the text behind it.
func (c card) parts() (signature, doc string) {
	s := string(c.Contents)
	before, rest, fenced := strings.Cut(s, "```")
	if !fenced {
		signature, doc, _ = strings.Cut(strings.TrimSpace(s), "\n")
		return signature, strings.TrimSpace(doc)
	}
	_, rest, _ = strings.Cut(rest, "\n") // the language
	signature, doc, _ = strings.Cut(rest, "```")
	doc = strings.TrimSpace(before) + "\n" + doc
	var lines []string
	for line := range strings.SplitSeq(doc, "\n") {
		line = strings.TrimSpace(line)
		// Rules, further blocks and links to pages are decoration.
		if line == "---" || line == "***" || strings.HasPrefix(line, "```") || strings.HasPrefix(line, "[`") {
			continue
		}
		if line != "" || len(lines) > 0 && lines[len(lines)-1] != "" {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(signature), strings.TrimSpace(strings.Join(lines, "\n"))
}
