package yaml

import (
	"strings"
)

// value reads a text, or what stands in brackets, of something that is indent columns in.
func (p *parser) value(indent int) Node {
	line := p.line
	switch p.peek(0) {
	case '"', '\'':
		return Node{Kind: Text, Line: line, Text: p.quoted(indent)}
	case '[', '{':
		n := p.flow(indent)
		return n
	case '|', '>':
		return Node{Kind: Text, Line: line, Text: p.blockText(indent)}
	}
	return plainNode(line, p.plain(indent, false))
}

func plainNode(line int, text string) Node {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return Node{Kind: Null, Line: line}
	}
	return Node{Kind: Text, Line: line, Text: text}
}

// plainBegins refuses what no plain text begins with.
func (p *parser) plainBegins() {
	switch b := p.peek(0); b {
	case '&', '*':
		p.refuse("anchors and aliases are not understood here; write the value out, or put a text into quotes")
	case '!':
		p.refuse("tags are not understood here; remove it, or put a text into quotes")
	case '-':
		if p.blankAt(1) {
			p.refuse("an item of a list is not understood here; put a text into quotes, or begin a new line")
		}
	case '?', ':', ',', '[', ']', '{', '}', '#', '|', '>', '\'', '"', '%', '@', '`':
		p.refuse("a text that begins with %q has to stand in quotes", b)
	}
}

// plain reads a text without quotes. Lines that go on further in belong to it. Within
// brackets it ends at what ends an element.
func (p *parser) plain(indent int, inFlow bool) string {
	p.plainBegins()
	if inFlow && p.peek(0) == '-' && flowEnds(p.peek(1)) {
		p.refuse("put this text into quotes")
	}
	var s strings.Builder
	for {
		s.WriteString(trimRight(p.plainLine(inFlow)))
		p.spaces()
		if p.ended() || p.peek(0) != '\n' {
			return s.String() // a comment, or what ends it within brackets
		}
		at, line, start := p.at, p.line, p.start
		breaks := p.breaks()
		if p.ended() || p.column() <= indent || p.peek(0) == '#' || p.marker() ||
			inFlow && (flowEnds(p.peek(0)) || p.peek(0) == ':' && (p.blankAt(1) || flowEnds(p.peek(1)))) {
			p.at, p.line, p.start = at, line, start
			return s.String()
		}
		s.WriteString(folded(breaks))
	}
}

// plainLine reads a plain text to the end of its line, or to its own.
func (p *parser) plainLine(inFlow bool) string {
	from := p.at
	for ; !p.ended() && p.peek(0) != '\n'; p.at++ {
		switch b := p.peek(0); {
		case b == '\t':
			p.refuse("there is a tab; use spaces, or put the text into quotes")
		case b == '#' && p.at > from && p.text[p.at-1] == ' ':
			return p.text[from:p.at]
		case inFlow && flowEnds(b):
			return p.text[from:p.at]
		case b == ':' && (p.blankAt(1) || inFlow && flowEnds(p.peek(1))):
			if inFlow {
				return p.text[from:p.at]
			}
			p.refuse("a text with `: ` in it has to stand in quotes")
		}
	}
	return p.text[from:p.at]
}

// flowEnds tells whether a byte ends an element in brackets.
func flowEnds(b byte) bool { return b != 0 && strings.IndexByte(",[]{}", b) >= 0 }

// breaks reads ends of lines and the spaces behind them, and tells how many there were.
func (p *parser) breaks() int {
	n := 0
	for !p.ended() && p.peek(0) == '\n' {
		p.newline()
		n++
		p.spaces()
	}
	return n
}

// folded is what ends of lines in a text come to: one is a space.
func folded(breaks int) string {
	if breaks == 1 {
		return " "
	}
	return strings.Repeat("\n", max(0, breaks-1))
}

// flow reads a list or a mapping in brackets, of something that is indent columns in.
func (p *parser) flow(indent int) Node {
	p.deeper()
	n := Node{Kind: List, Line: p.line}
	end := byte(']')
	if p.peek(0) == '{' {
		n.Kind, end = Mapping, '}'
	}
	p.at++
	seen := map[string]bool{}
	for p.flowSkip(n.Line, indent); p.peek(0) != end; p.flowSkip(n.Line, indent) {
		element := p.flowElement(indent)
		p.flowSkip(n.Line, indent)
		if n.Kind == List {
			n.Items = append(n.Items, element)
		} else {
			e := Entry{Name: element.Text, Line: element.Line}
			if element.Kind != Text || len(e.Name) > maxKey || e.Name == "<<" || p.peek(0) != ':' || seen[e.Name] {
				p.refuse("`name: value` is expected here, each name once")
			}
			seen[e.Name] = true
			p.at++
			if !p.blankAt(0) {
				p.refuse("put a space behind the colon")
			}
			p.flowSkip(n.Line, indent)
			e.Value = Node{Kind: Null, Line: p.line}
			if p.peek(0) != ',' && p.peek(0) != end {
				e.Value = p.flowElement(indent)
				p.flowSkip(n.Line, indent)
			}
			n.Entries = append(n.Entries, e)
		}
		if p.peek(0) == ',' {
			p.at++
		} else if p.peek(0) != end {
			p.refuse("a comma or %q is expected here", end)
		}
	}
	p.at++
	p.depth--
	return n
}

// flowSkip goes to the next thing in brackets, which stands further in than they do.
func (p *parser) flowSkip(line, indent int) {
	p.skip()
	if p.ended() {
		p.refuseAt(line, "the bracket that is opened here is not closed")
	}
	if p.line > line && p.column() <= indent {
		p.refuse("what stands in brackets has to be further in than the name in front of them")
	}
}

func (p *parser) flowElement(indent int) Node {
	switch p.peek(0) {
	case '[', '{':
		return p.flow(indent)
	case '"', '\'':
		line := p.line
		return Node{Kind: Text, Line: line, Text: p.quoted(indent)}
	}
	line := p.line
	return plainNode(line, p.plain(indent, true))
}

func trimRight(s string) string { return strings.TrimRight(s, " ") }

func blanks(n int) string { return strings.Repeat(" ", n) }
