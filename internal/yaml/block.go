package yaml

// document reads the whole text.
func (p *parser) document() Node {
	p.skip()
	if p.peek(0) == '%' {
		p.refuse("directives are not understood here; remove the line")
	}
	if p.marker() && p.peek(0) == '-' {
		p.at += 3
		if !p.lineEnds() {
			p.refuse("nothing may stand behind ---; begin a new line")
		}
		p.skip()
	}
	n := Node{Kind: Null, Line: p.line}
	if !p.ended() && !p.marker() {
		if !p.beginsEntry() {
			p.refuse("a line `name: value` is expected here")
		}
		n = p.mapping(p.column())
	}
	if n.Kind == Mapping && !p.ended() && p.marker() && p.peek(0) == '.' {
		p.at += 3
		p.skip()
	}
	if !p.ended() {
		p.refuse("what stands here belongs to nothing above; check how far in it is, and have one document in the file")
	}
	return n
}

// deeper counts a mapping or list in another one. It is followed by one p.depth--.
func (p *parser) deeper() {
	if p.depth++; p.depth > maxDepth {
		p.refuse("more than %d mappings and lists stand in one another", maxDepth)
	}
}

// block reads the value that begins here or on a line below, further in than indent.
func (p *parser) block(indent int) Node {
	p.skip()
	switch {
	case p.ended() || p.column() <= indent || p.marker():
		return Node{Kind: Null, Line: p.line}
	case p.beginsItem():
		return p.list(p.column())
	case p.beginsEntry():
		return p.mapping(p.column())
	}
	return p.value(indent)
}

// beginsItem tells whether an item of a list begins here.
func (p *parser) beginsItem() bool { return p.peek(0) == '-' && p.blankAt(1) }

// list reads the list whose items begin at a column.
func (p *parser) list(column int) Node {
	p.deeper()
	n := Node{Kind: List, Line: p.line}
	for !p.ended() && p.column() == column && p.beginsItem() {
		p.at++
		n.Items = append(n.Items, p.block(column))
		p.next(column)
	}
	p.depth--
	return n
}

// mapping reads the mapping whose names begin at a column.
func (p *parser) mapping(column int) Node {
	p.deeper()
	n := Node{Kind: Mapping, Line: p.line}
	seen := map[string]bool{}
	for !p.ended() && p.column() == column && !p.marker() {
		if !p.beginsEntry() {
			p.refuse("a line `name: value` is expected here")
		}
		e := Entry{Line: p.line, Name: p.key()}
		if seen[e.Name] {
			p.refuse("%q is there twice; remove one", e.Name)
		}
		seen[e.Name] = true
		p.spaces()
		p.at++ // the colon
		if p.lineEnds() {
			e.Value = p.below(column)
		} else {
			e.Value = p.value(column)
		}
		n.Entries = append(n.Entries, e)
		p.next(column)
	}
	p.depth--
	return n
}

// below reads the value of a name behind which nothing stands. A list may be as far in as
// the name.
func (p *parser) below(column int) Node {
	p.skip()
	if !p.ended() && p.column() == column && p.beginsItem() {
		return p.list(column)
	}
	return p.block(column)
}

// next goes to what follows an item or entry, which is no further in than the others.
func (p *parser) next(column int) {
	if !p.ended() && p.column() > 0 && !p.lineEnds() && p.text[p.start:p.at] != blanks(p.column()) {
		p.refuse("something stands behind the value; begin a new line")
	}
	p.skip()
	if !p.ended() && p.column() > column {
		p.refuse("this is further in than what it follows; check the spaces in front of it")
	}
}

// beginsEntry tells whether a name and its colon stand here, on one line.
func (p *parser) beginsEntry() bool {
	i := p.at
	switch p.peek(0) {
	case '"', '\'':
		quote := p.text[i]
		for i++; i < len(p.text) && p.text[i] != quote && p.text[i] != '\n'; i++ {
			if quote == '"' && p.text[i] == '\\' {
				i++
			}
		}
		for i++; i < len(p.text) && p.text[i] == ' '; i++ {
		}
		return i < len(p.text) && p.text[i] == ':' && p.blankAt(i+1-p.at)
	case '[', '{', '#', '|', '>':
		return false
	}
	for ; i < len(p.text) && p.text[i] != '\n'; i++ {
		if p.text[i] == '#' && i > p.at && p.text[i-1] == ' ' {
			return false
		}
		if p.text[i] == ':' && p.blankAt(i+1-p.at) {
			return true
		}
	}
	return false
}

// key reads a name, up to its colon.
func (p *parser) key() string {
	line := p.line
	var name string
	if b := p.peek(0); b == '"' || b == '\'' {
		name = p.quoted(p.column())
		p.spaces()
	} else {
		p.plainBegins()
		from := p.at
		for p.peek(0) != ':' || !p.blankAt(1) {
			if p.peek(0) == '\t' {
				p.refuse("there is a tab; use spaces")
			}
			p.at++
		}
		name = trimRight(p.text[from:p.at])
	}
	if p.line != line || len(name) > maxKey {
		p.refuseAt(line, "a name has at most %d bytes, on one line", maxKey)
	}
	if name == "<<" {
		p.refuse("`<<` is not understood here; write out what it stands for")
	}
	return name
}
