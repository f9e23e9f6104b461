package openai

import "unicode/utf8"

// fastChunk reads the event that makes up nearly all of a stream, a piece of
// text or thinking, without the cost of a general decoder. It gives up, with
// false, on everything that it does not know to the letter; decodeChunk then
// reads the line. What it does read, it reads as decodeChunk does.
func fastChunk(line []byte, c *chunk) bool {
	*c = chunk{}
	s := scanner{b: line}
	var seen fieldSet
	if !s.next('{') {
		return false
	}
	for {
		key, ok := s.key()
		if !ok {
			return false
		}
		switch string(key) {
		case "id":
			if !seen.add(fieldID) {
				return false
			}
			c.id, ok = s.word()
		case "choices":
			ok = seen.add(fieldChoices) && s.next('[') && s.choice(c) && s.next(']')
		case "object", "model", "created", "system_fingerprint", "service_tier", "provider":
			ok = s.scalar()
		case "usage", "error", "message":
			ok = s.null()
		default:
			ok = false
		}
		if !ok {
			return false
		}
		if s.next(',') {
			continue
		}
		if !s.next('}') {
			return false
		}
		s.blanks()
		return s.i == len(s.b) && seen.has(fieldChoices)
	}
}

// choice reads the only choice of an event.
func (s *scanner) choice(c *chunk) bool {
	var seen fieldSet
	if !s.next('{') {
		return false
	}
	for {
		key, ok := s.key()
		if !ok {
			return false
		}
		switch string(key) {
		case "delta":
			ok = seen.add(fieldDelta) && s.delta(c)
		case "index":
			ok = s.integer()
		case "finish_reason", "logprobs", "stop_reason", "matched_stop", "usage":
			ok = s.null()
		default:
			ok = false
		}
		if !ok {
			return false
		}
		if !s.next(',') {
			return s.next('}')
		}
	}
}

// delta reads what is new in a choice.
func (s *scanner) delta(c *chunk) bool {
	var seen fieldSet
	if !s.next('{') {
		return false
	}
	for {
		key, ok := s.key()
		if !ok {
			return false
		}
		switch string(key) {
		case "content":
			ok = seen.add(fieldContent) && (s.null() || s.text(&c.text))
		case "reasoning_content":
			ok = seen.add(fieldThink)
			if ok && !s.null() {
				ok = s.text(&c.think)
				c.hasThink = true
			}
		case "role":
			ok = s.scalar()
		case "tool_calls", "function_call", "refusal", "reasoning":
			ok = s.null()
		default:
			ok = false
		}
		if !ok {
			return false
		}
		if !s.next(',') {
			return s.next('}')
		}
	}
}

// fieldSet notes the fields seen in an object: of a field that comes twice, only
// the general decoder knows which counts.
type fieldSet uint8

const (
	fieldID fieldSet = 1 << iota
	fieldChoices
	fieldDelta
	fieldContent
	fieldThink
)

func (f *fieldSet) has(field fieldSet) bool { return *f&field != 0 }

func (f *fieldSet) add(field fieldSet) bool {
	if f.has(field) {
		return false
	}
	*f |= field
	return true
}

// scanner reads JSON from the left. Its methods give false where the JSON is
// not what they read; the place is then of no use, except after next and null.
type scanner struct {
	b []byte
	i int
}

func (s *scanner) blanks() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\r' || s.b[s.i] == '\n') {
		s.i++
	}
}

// next takes one character, with blanks before it.
func (s *scanner) next(c byte) bool {
	s.blanks()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// key takes the name of a field and the colon.
func (s *scanner) key() ([]byte, bool) {
	word, ok := s.word()
	return word, ok && s.next(':')
}

// word takes a string of printable ASCII without escapes.
func (s *scanner) word() ([]byte, bool) {
	if !s.next('"') {
		return nil, false
	}
	for start := s.i; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return s.b[start : s.i-1], true
		case c == '\\' || c < ' ' || c > '~':
			return nil, false
		}
	}
	return nil, false
}

// text takes a string with the short escapes.
func (s *scanner) text(to *string) bool {
	if !s.next('"') {
		return false
	}
	start, ascii := s.i, true
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			raw := s.b[start:s.i]
			s.i++
			*to = string(raw)
			return ascii || utf8.Valid(raw)
		case c == '\\':
			return s.escaped(start, to)
		case c < ' ':
			return false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return false
}

// escaped takes a string that began at start and has escapes from here on.
func (s *scanner) escaped(start int, to *string) bool {
	out := make([]byte, s.i-start, len(s.b)-start)
	copy(out, s.b[start:s.i])
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			*to = string(out)
			return utf8.Valid(out)
		case c < ' ':
			return false
		case c != '\\':
			out = append(out, c)
			continue
		}
		s.i++
		if s.i == len(s.b) {
			return false
		}
		c, ok := unescape(s.b[s.i])
		if !ok {
			return false
		}
		out = append(out, c)
	}
	return false
}

func unescape(c byte) (byte, bool) {
	switch c {
	case 'n':
		return '\n', true
	case 't':
		return '\t', true
	case 'r':
		return '\r', true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case '"', '\\', '/':
		return c, true
	}
	return 0, false
}

// scalar takes and forgets null, a word or an integer.
func (s *scanner) scalar() bool {
	s.blanks()
	if s.i < len(s.b) && s.b[s.i] == '"' {
		_, ok := s.word()
		return ok
	}
	return s.null() || s.integer()
}

// null takes the word null.
func (s *scanner) null() bool {
	s.blanks()
	if len(s.b)-s.i >= 4 && string(s.b[s.i:s.i+4]) == "null" {
		s.i += 4
		return true
	}
	return false
}

// integer takes and forgets an integer of at least 0 without a leading zero.
func (s *scanner) integer() bool {
	s.blanks()
	start := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	digits := s.i - start
	return digits == 1 || digits > 1 && s.b[start] != '0'
}
