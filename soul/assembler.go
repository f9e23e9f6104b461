package soul

import (
	"encoding/json"
	"fmt"
	"strings"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// maxAnswer bounds one answer of a model, in bytes of text and arguments.
const maxAnswer = 32 << 20

// maxBlank is how much white space before all other text is held back, in bytes.
const maxBlank = 4 << 10

// maxCalls bounds how many tools one answer calls, since all of them run at once.
const maxCalls = 512

// assembler turns the deltas of one model call into Wire events, at once, and
// into the message that enters the history, at the end.
//
// On the Wire the arguments of a call follow that call, with no other call in
// between; providers may mix the pieces of several. So one call is open at a
// time: pieces of later calls wait until the open one is complete.
type assembler struct {
	send func(wire.Event)

	parts  []llm.Part // complete
	last   llm.Part   // the part that still grows, if grows
	grows  bool
	tail   strings.Builder // what has come to last
	calls  []*streamedCall
	open   int // calls[:open] are complete on the Wire
	size   int
	most   int    // bytes after which the answer is cut off; 0: maxAnswer, which is an error
	blank  string // text so far, white space alone, that was not sent yet
	spoke  bool   // other text was sent
	kept   string // text of an attempt that broke off, to go on from; "" once it shows how this one does
	again  int    // bytes of kept that this attempt has said again so far
	usage  *llm.Usage
	id     string
	finish llm.FinishReason
}

type streamedCall struct {
	index int // as the provider counts
	call  llm.ToolCall
	args  []byte
	end   llm.ArgumentsEnd
	given bool // arguments were sent, be they empty
	sent  int  // bytes of args that are on the Wire
	shown bool // the ToolCall is on the Wire
}

// add takes one delta. An error means that the answer is malformed or too large.
func (a *assembler) add(d llm.Delta) error {
	switch d.Kind {
	case llm.DeltaText:
		return a.text(llm.Text(d.Text), len(d.Text))
	case llm.DeltaThink:
		part := llm.Think(d.Text)
		part.Encrypted = d.Part.Encrypted
		return a.text(part, len(d.Text))
	case llm.DeltaPart:
		return a.text(d.Part, len(d.Part.Media.URL))
	case llm.DeltaCall:
		return a.call(d)
	case llm.DeltaCallPart:
		return a.callPart(d)
	case llm.DeltaUsage:
		usage := d.Usage
		a.usage = &usage
	case llm.DeltaID:
		a.id = d.Text
	case llm.DeltaFinish:
		a.finish = d.Finish
	}
	return nil
}

func (a *assembler) text(p llm.Part, size int) error {
	if err := a.grow(size); err != nil {
		return err
	}
	if a.kept != "" && p.Type == llm.PartText {
		a.resume(p.Text)
		return nil
	}
	if !a.spoke && p.Type == llm.PartText {
		// An answer that is blank is no answer: it goes out with what follows it, if
		// anything does.
		p.Text, a.blank = a.blank+p.Text, ""
		if len(p.Text) < maxBlank && strings.TrimSpace(p.Text) == "" {
			a.blank = p.Text
			return nil
		}
		a.spoke = true
	}
	a.say(p)
	return nil
}

func (a *assembler) call(d llm.Delta) error {
	if len(a.calls) == maxCalls {
		return &llm.Error{Kind: llm.KindMalformed, Message: fmt.Sprintf("the model's answer calls more than %d tools", maxCalls), Final: true}
	}
	c := &streamedCall{index: d.Index, call: d.Call}
	if d.Call.Arguments != nil {
		if err := a.grow(len(*d.Call.Arguments)); err != nil {
			return err
		}
		c.grow(*d.Call.Arguments)
	}
	a.settle() // texts stand before calls
	c.call.ID = a.uniqueID(c.call.ID)
	a.calls = append(a.calls, c)
	a.advance(false)
	return nil
}

func (a *assembler) callPart(d llm.Delta) error {
	if d.Index < 0 { // belongs to no call: shown, and no part of the answer
		if d.Arguments != nil {
			if err := a.grow(len(*d.Arguments)); err != nil {
				return err
			}
		}
		a.send(wire.ToolCallPart{ArgumentsPart: d.Arguments})
		return nil
	}
	for i := len(a.calls) - 1; i >= 0; i-- {
		c := a.calls[i]
		if c.index != d.Index {
			continue
		}
		if d.Arguments != nil {
			if err := a.grow(len(*d.Arguments)); err != nil {
				return err
			}
			c.grow(*d.Arguments)
		}
		switch {
		case i != a.open:
		case d.Arguments == nil && c.shown:
			a.send(wire.ToolCallPart{})
		default:
			a.advance(false)
		}
		return nil
	}
	return &llm.Error{Kind: llm.KindMalformed, Message: fmt.Sprintf("the model sent arguments for tool call %d, which it never began", d.Index)}
}

// advance puts on the Wire what may go there. At the end of the answer, or when
// the open call is whole and another waits, the next one opens.
func (a *assembler) advance(end bool) {
	for a.open < len(a.calls) {
		c := a.calls[a.open]
		switch {
		case !c.shown:
			c.shown, c.sent = true, len(c.args)
			a.send(wire.ToolCall{Call: c.complete()})
		case len(c.args) > c.sent:
			piece := string(c.args[c.sent:])
			c.sent = len(c.args)
			a.send(wire.ToolCallPart{ArgumentsPart: &piece})
		}
		if !end && (a.open+1 == len(a.calls) || !c.whole()) {
			return
		}
		a.open++
	}
}

func (c *streamedCall) grow(arguments string) {
	c.args, c.given = append(c.args, arguments...), true
	c.end.Add(arguments)
}

// whole tells whether the arguments so far are an object that has ended.
func (c *streamedCall) whole() bool { return c.end.Reached() && json.Valid(c.args) }

// complete is the call with the arguments so far.
func (c *streamedCall) complete() llm.ToolCall {
	call := c.call
	call.Arguments = nil
	if c.given {
		args := string(c.args)
		call.Arguments = &args
	}
	return call
}

// message closes the answer and gives it as it enters the history.
func (a *assembler) message() llm.Message {
	a.advance(true)
	a.closePart()
	m := llm.Message{Role: llm.RoleAssistant, Content: a.parts}
	for _, c := range a.calls {
		m.ToolCalls = append(m.ToolCalls, c.complete())
	}
	return m
}

func (a *assembler) grow(n int) error {
	if a.size += n; a.size > maxAnswer {
		return &llm.Error{Kind: llm.KindMalformed, Message: fmt.Sprintf("the model's answer is larger than %d MiB", maxAnswer>>20), Final: true}
	}
	return nil
}

// uniqueID keeps the ids within one message apart, since results are matched by id.
func (a *assembler) uniqueID(id string) string {
	unique := id
	for n := 2; ; n++ {
		taken := unique == ""
		for _, c := range a.calls {
			taken = taken || c.call.ID == unique
		}
		if !taken {
			return unique
		}
		if id == "" {
			id = "call"
		}
		unique = fmt.Sprintf("%s-%d", id, n)
	}
}

// merge adds a part to the message's content; neighbouring texts, and neighbouring
// thoughts up to a signature, become one.
func (a *assembler) merge(p llm.Part) {
	if !a.grows || a.last.Type != p.Type || a.last.Encrypted != nil {
		a.closePart()
	}
	switch p.Type {
	case llm.PartText:
		a.tail.WriteString(p.Text)
	case llm.PartThink:
		a.tail.WriteString(p.Think)
	default:
		a.parts = append(a.parts, p)
		return
	}
	a.grows, a.last = true, llm.Part{Type: p.Type, Encrypted: p.Encrypted}
}

// closePart ends the part that grows.
func (a *assembler) closePart() {
	if !a.grows {
		return
	}
	switch a.last.Type {
	case llm.PartText:
		a.last.Text = a.tail.String()
	case llm.PartThink:
		a.last.Think = a.tail.String()
	}
	a.parts = append(a.parts, a.last)
	a.grows = false
	a.tail.Reset()
}
