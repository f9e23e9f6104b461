package llm

// ArgumentsEnd follows the arguments of a call, which come in pieces, to know when they may
// be whole without reading them from their beginning with each piece. The zero value is
// ready. It is used by one goroutine.
type ArgumentsEnd struct {
	depth    int
	inString bool
	escaped  bool
	reached  bool
}

// Reached tells whether an object or a list has ended on the outermost level.
func (e *ArgumentsEnd) Reached() bool { return e.reached }

// Add takes the next piece.
func (e *ArgumentsEnd) Add(piece string) {
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
