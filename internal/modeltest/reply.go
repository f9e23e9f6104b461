package modeltest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Reply is what the server answers to one request. The zero value is a stream
// that says nothing and finishes with `stop`.
type Reply struct {
	Parts    []Part
	Finish   string // the finish reason; "": tool_calls after a call, else stop
	NoFinish bool   // send no finish reason
	NoDone   bool   // end without the line [DONE]
	Usage    *Usage // sent in a chunk after the finish reason; nil: none

	Status int         // 0: 200. Others should have a Body
	Header http.Header // laid over the usual header
	Body   string      // with Status or alone: sent in place of the stream

	DropAfter int  // > 0: the connection breaks after so many bytes of the body
	Hangup    bool // the connection breaks before anything of a response
	Silent    bool // nothing comes, not even a header, until the client leaves
	Reset     bool // it breaks by a reset, as when a machine between falls over
	WriteSize int  // > 0: the stream is written and flushed in pieces of so many bytes
}

// Usage counts tokens as the API does.
type Usage struct {
	Prompt, Cached, Completion int
}

// Part is a stretch of a streamed reply.
type Part struct {
	deltas []string        // JSON objects, each sent in a chunk
	lines  []string        // sent as they are, each with a line end
	gate   <-chan struct{} // waited for, nil: none
	stall  bool            // nothing more comes until the client leaves
	call   bool            // counts as a tool call for the finish reason
}

// Text is a piece of the answer in one chunk.
func Text(s string) Part { return Delta(`{"content":%s}`, text(s)) }

// TextPieces is text in chunks of at least n bytes, ended at the next whole rune.
func TextPieces(s string, n int) Part { return pieces(s, n, Text) }

// Think is a piece of thinking in one chunk.
func Think(s string) Part { return Delta(`{"reasoning_content":%s}`, text(s)) }

// ThinkPieces is to Think what TextPieces is to Text.
func ThinkPieces(s string, n int) Part { return pieces(s, n, Think) }

// Call is a whole tool call in one chunk.
func Call(index int, id, name, arguments string) Part {
	return Delta(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}]}`,
		index, text(id), text(name), text(arguments))
}

// CallPieces is a tool call whose arguments come in chunks of at least n bytes
// after the chunk that has its id and name.
func CallPieces(index int, id, name, arguments string, n int) Part {
	p := Call(index, id, name, "")
	rest := pieces(arguments, n, func(s string) Part {
		return Delta(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, index, text(s))
	})
	p.deltas = append(p.deltas, rest.deltas...)
	return p
}

// Delta is a chunk whose delta is the JSON that the format makes.
func Delta(format string, args ...any) Part {
	delta := fmt.Sprintf(format, args...)
	return Part{deltas: []string{delta}, call: strings.Contains(delta, `"tool_calls"`)}
}

// Lines are sent as they are, each with a line end: whole events, comments or
// whatever no provider should send.
func Lines(lines ...string) Part { return Part{lines: lines} }

// Comments are n comment lines, as providers send them to keep a connection open.
func Comments(n int) Part {
	return Lines(slices.Repeat([]string{": keep-alive"}, n)...)
}

// Gate holds the reply until the channel is closed or gives a value.
func Gate(c <-chan struct{}) Part { return Part{gate: c} }

// Stall holds the reply until the client leaves.
func Stall() Part { return Part{stall: true} }

// Twice sends each event of a part two times, as a stuttering proxy does.
func Twice(p Part) Part {
	p.deltas = twice(p.deltas)
	p.lines = twice(p.lines)
	return p
}

func twice(in []string) (out []string) {
	for _, s := range in {
		out = append(out, s, s)
	}
	return out
}

func pieces(s string, n int, part func(string) Part) Part {
	var all Part
	for len(s) > 0 {
		end := min(max(n, 1), len(s))
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end++
		}
		p := part(s[:end])
		all.deltas = append(all.deltas, p.deltas...)
		all.call = all.call || p.call
		s = s[end:]
	}
	return all
}
