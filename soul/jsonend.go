package soul

// jsonEnd follows a JSON object that comes in pieces, to know when it may be whole without
// reading it from its beginning with each piece. The zero value is ready.
type jsonEnd struct {
	depth    int
	inString bool
	escaped  bool
	reached  bool // an object or a list has ended on the outermost level
}

func (e *jsonEnd) add(piece string) {
	for i := range len(piece) {
		switch c := piece[i]; {
		case e.escaped:
			e.escaped = false
		case e.inString:
			e.escaped = c == '\\'
			e.inString = c != '"'
		case c == '"':
			e.inString = true
		case c == '{' || c == '[':
			e.depth++
		case c == '}' || c == ']':
			e.depth--
			e.reached = e.reached || e.depth == 0
		}
	}
}
