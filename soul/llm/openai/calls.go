package openai

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strings"

	"kimi-acp/soul/llm"
)

const (
	maxCalls = 256     // tool calls of one answer
	maxHeld  = 1 << 20 // bytes of arguments that are kept until a call has a name
)

// calls puts tool calls together. Vendors agree that pieces of a call share an
// index and that the first one has id and name, but not all keep to it: the
// index is missing or always 0, the id comes late, changes or is missing, the
// name comes in pieces or again and again, and arguments begin with a `{}` that
// is not meant.
//
// So a call is held back until its arguments begin, and then told in one delta.
type calls struct {
	all     []*call
	byIndex map[int]*call // the latest call of an index
	ids     map[string]bool
	begun   int
}

// call is one tool call.
type call struct {
	id      string // the vendor's, "": none yet
	name    string
	held    string // arguments that came before the call was told
	extra   json.RawMessage
	begun   bool
	ordinal int // among the calls told
	end     llm.ArgumentsEnd
}

// add takes one piece.
func (s *calls) add(p *callPiece, emit func(llm.Delta) error) error {
	c := s.find(p)
	if c == nil || c.endedBefore(p) {
		if len(s.all) == maxCalls {
			return malformed("the answer has more than %d tool calls", maxCalls)
		}
		c = s.create(p)
	}
	if c.repeatedBy(p) {
		return nil
	}
	if c.id == "" {
		c.id = p.id
	}
	if c.begun {
		return c.goOn(p.arguments, emit)
	}
	c.name = joinName(c.name, p.name)
	if p.extra != nil {
		c.extra = p.extra
	}
	if c.held == placeholder && strings.TrimSpace(p.arguments) != "" {
		c.held = ""
		c.end = llm.ArgumentsEnd{}
	}
	c.held += p.arguments
	c.end.Add(p.arguments)
	if c.name == "" && len(c.held) > maxHeld {
		return malformed("the provider sent a tool call without a name")
	}
	if c.name == "" || c.held == "" || c.held == placeholder {
		return nil
	}
	return s.begin(c, emit)
}

// placeholder are arguments that some gateways send ahead of the real ones.
const placeholder = "{}"

// find gives the call that a piece goes on with, nil if it begins one.
func (s *calls) find(p *callPiece) *call {
	switch {
	case p.index >= 0:
		return s.byIndex[p.index]
	case p.id != "":
		for _, c := range s.all {
			if c.id == p.id {
				return c
			}
		}
		return nil
	case p.position == 0 && len(s.all) > 0:
		return s.all[len(s.all)-1]
	}
	return nil
}

func (s *calls) create(p *callPiece) *call {
	c := &call{}
	s.all = append(s.all, c)
	if p.index >= 0 {
		if s.byIndex == nil {
			s.byIndex = map[int]*call{}
		}
		s.byIndex[p.index] = c
	}
	return c
}

// endedBefore tells whether a piece that goes by the call's index belongs to a
// new call: it has another id and a name of its own, or a name and arguments
// although those of the call are complete.
func (c *call) endedBefore(p *callPiece) bool {
	complete := c.end.Reached()
	if p.id != "" && c.id != "" && p.id != c.id {
		return p.name != "" || complete
	}
	sameCall := p.id != "" && p.id == c.id && p.name == c.name
	return !sameCall && p.name != "" && p.arguments != "" && complete && c.held != placeholder
}

// repeatedBy tells whether a piece is the whole call once more.
func (c *call) repeatedBy(p *callPiece) bool {
	return c.begun && c.end.Reached() && p.id != "" && p.id == c.id && p.name == c.name
}

// goOn tells more arguments of a call.
func (c *call) goOn(arguments string, emit func(llm.Delta) error) error {
	if arguments == "" {
		return nil
	}
	c.end.Add(arguments)
	return emit(llm.Delta{Kind: llm.DeltaCallPart, Index: c.ordinal, Arguments: &arguments})
}

// begin tells a call, and before it those that came earlier and are still held.
func (s *calls) begin(c *call, emit func(llm.Delta) error) error {
	for _, earlier := range s.all {
		if earlier == c {
			break
		}
		if !earlier.begun && earlier.name != "" {
			if err := s.tell(earlier, emit); err != nil {
				return err
			}
		}
	}
	return s.tell(c, emit)
}

func (s *calls) tell(c *call, emit func(llm.Delta) error) error {
	id := c.id
	if id == "" || s.ids[id] {
		id = "call_" + rand.Text()
	}
	if s.ids == nil {
		s.ids = map[string]bool{}
	}
	s.ids[id] = true
	d := llm.Delta{Kind: llm.DeltaCall, Index: s.begun, Call: llm.ToolCall{ID: id, Name: c.name}}
	if c.held != "" {
		d.Call.Arguments = &c.held
	}
	if c.extra != nil {
		d.Call.Extras = bytes.Join([][]byte{[]byte(`{"` + extraContentKey + `":`), c.extra, []byte(`}`)}, nil)
	}
	c.begun = true
	c.ordinal = s.begun
	s.begun++
	return emit(d)
}

// flush tells the calls that are still held at the end of the answer. One that
// has arguments but no name cannot be run.
func (s *calls) flush(emit func(llm.Delta) error) error {
	for _, c := range s.all {
		switch {
		case c.begun:
			continue
		case c.name == "" && c.held == "":
			continue
		case c.name == "":
			return malformed("the provider sent a tool call without a name")
		}
		if err := s.tell(c, emit); err != nil {
			return err
		}
	}
	return nil
}

// joinName adds a piece to a name: the rest of it, the same again, or all of it
// up to here.
func joinName(name, piece string) string {
	if strings.HasPrefix(piece, name) {
		return piece
	}
	return name + piece
}
