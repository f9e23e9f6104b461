package scripted

import (
	"strconv"
	"strings"
	"time"

	"kimi-acp/soul/llm"
)

// The script language. Lines end where Python's splitlines ends them; blank
// lines, lines that begin with `#` or a Markdown fence, and a lone `echo` are
// skipped. The others are `kind: payload`; one space after the colon is dropped.
//
//	text, think           a piece of the answer or of thinking; one pair of quotes around it is removed
//	image_url, audio_url, video_url   a URL, or an object {"url", "id"}
//	tool_call             an object or k=v tokens: id, name, arguments (a string), extras
//	tool_call_part        more arguments of the call before it: text, or {"arguments_part"}; null for none
//	id                    the id of the answer
//	usage                 an object or k=v tokens with the fields of llm.Usage
//	error                 `<status> [message]`, `connection [message]` or `timeout [message]`: the call fails
//
// Two kinds are ours:
//
//	finish                stop, tool_calls, length or content_filter; without it the answer says what fits
//	sleep                 a pause before what follows, as `20ms` or `1.5s`, at most an hour
const maxSleep = time.Hour

// script is a parsed script.
type script struct {
	steps  []step
	id     string     // "": none
	usage  *llm.Usage // nil: none
	finish llm.FinishReason
}

// step is one line that takes place in order: a delta, or a pause alone.
type step struct {
	pause time.Duration
	delta llm.Delta // Kind 0: none
}

func (s *script) streamable() bool {
	for _, st := range s.steps {
		if st.delta.Kind != 0 {
			return true
		}
	}
	return false
}

// parser carries what one line needs of the lines before it.
type parser struct {
	script
	calls    int  // tool calls so far
	openCall bool // the delta before belongs to the latest call
}

// line is one line of a script with what error texts quote of it.
type line struct {
	number  int // from 1
	raw     string
	payload string
}

// parse reads a whole script. Its error is an *llm.Error: of the first line that
// is wrong, or the failure that an `error` line asks for.
func parse(text string) (*script, error) {
	var p parser
	for i, raw := range splitLines(text) {
		trimmed := strings.TrimFunc(raw, isSpace)
		if trimmed == "" || trimmed[0] == '#' || strings.HasPrefix(trimmed, "```") || strings.ToLower(trimmed) == "echo" {
			continue
		}
		kind, payload, ok := strings.Cut(trimmed, ":")
		if !ok {
			return nil, failf("Invalid echo DSL at line %d: %s", i+1, quote(raw))
		}
		kind = strings.ToLower(strings.TrimFunc(kind, isSpace))
		ln := line{number: i + 1, raw: raw, payload: strings.TrimPrefix(payload, " ")}
		if err := p.line(kind, ln); err != nil {
			return nil, err
		}
	}
	return &p.script, nil
}

func (p *parser) line(kind string, ln line) (err error) {
	switch kind {
	case "id":
		p.id = unquote(strings.TrimFunc(ln.payload, isSpace))
	case "usage":
		p.usage, err = parseUsage(ln)
	case "error":
		err = simulatedError(ln)
	case "finish":
		p.finish, err = parseFinish(ln)
	case "sleep":
		var d time.Duration
		d, err = parseSleep(ln)
		p.steps = append(p.steps, step{pause: d})
	default:
		var d llm.Delta
		d, err = p.delta(kind, ln)
		p.steps = append(p.steps, step{delta: d})
	}
	return err
}

func (p *parser) delta(kind string, ln line) (llm.Delta, error) {
	wasOpen := p.openCall
	p.openCall = false
	switch kind {
	case "text":
		return llm.Delta{Kind: llm.DeltaText, Text: unquote(ln.payload)}, nil
	case "think":
		return llm.Delta{Kind: llm.DeltaThink, Text: unquote(ln.payload)}, nil
	case string(llm.PartImage), string(llm.PartAudio), string(llm.PartVideo):
		media, err := parseMedia(kind, ln)
		return llm.Delta{Kind: llm.DeltaPart, Part: llm.Part{Type: llm.PartType(kind), Media: media}}, err
	case "tool_call":
		call, err := parseCall(ln)
		p.calls++
		p.openCall = true
		return llm.Delta{Kind: llm.DeltaCall, Index: p.calls - 1, Call: call}, err
	case "tool_call_part":
		arguments, err := parseCallPart(ln)
		index := -1
		if wasOpen {
			index = p.calls - 1
			p.openCall = true
		}
		return llm.Delta{Kind: llm.DeltaCallPart, Index: index, Arguments: arguments}, err
	default:
		return llm.Delta{}, failf("Unknown echo DSL kind '%s' at line %d: %s", kind, ln.number, quote(ln.raw))
	}
}

func parseFinish(ln line) (llm.FinishReason, error) {
	reason := llm.FinishReason(unquote(strings.TrimFunc(ln.payload, isSpace)))
	switch reason {
	case llm.FinishStop, llm.FinishToolCalls, llm.FinishLength, llm.FinishContentFilter:
		return reason, nil
	default:
		return "", failf("Invalid finish at line %d: expected stop, tool_calls, length or content_filter, got %s",
			ln.number, quote(string(reason)))
	}
}

func parseSleep(ln line) (time.Duration, error) {
	text := strings.TrimFunc(ln.payload, isSpace)
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxSleep {
		return 0, failf("Invalid sleep at line %d: expected a duration from 0s to 1h like 20ms, got %s", ln.number, quote(text))
	}
	return d, nil
}

// simulatedError makes the failure that an `error` line asks for.
func simulatedError(ln line) error {
	payload := strings.TrimFunc(ln.payload, isSpace)
	if payload == "" {
		return failf("Empty error payload at line %d: %s", ln.number, quote(ln.raw))
	}
	first, message, _ := strings.Cut(payload, " ")
	message = strings.TrimFunc(message, isSpace)
	or := func(text string) string {
		if message != "" {
			return message
		}
		return text
	}
	switch strings.ToLower(first) {
	case "connection":
		return &llm.Error{Kind: llm.KindConnection, Message: or("Simulated connection error")}
	case "timeout":
		return &llm.Error{Kind: llm.KindTimeout, Message: or("Simulated timeout error")}
	}
	status, ok := parseInt(first)
	if !ok {
		return failf("Invalid error spec at line %d: expected status code or 'connection'/'timeout', got %s", ln.number, quote(first))
	}
	return &llm.Error{
		Kind:    llm.KindOfStatus(status),
		Status:  status,
		Message: or("Simulated " + strconv.Itoa(status) + " error"),
	}
}
