package session

import (
	"bytes"
	"encoding/json"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// The pieces of a line of wire.jsonl as both programs write it.
var (
	recordHead  = []byte(`{"timestamp": `)
	messageHead = []byte(`, "message": `)
	typeHead    = []byte(`{"type": "`)
	payloadHead = []byte(`", "payload": `)
)

// recordedPlain takes apart the form that all lines of ours have, without looking
// through the message. It tells whether the line has that form.
func recordedPlain(text []byte) (message []byte, ok bool) {
	rest, ok := bytes.CutPrefix(text, recordHead)
	if !ok {
		return nil, false
	}
	number := 0
	for number < len(rest) && (rest[number] >= '0' && rest[number] <= '9' || rest[number] == '.') {
		number++
	}
	message, ok = bytes.CutPrefix(rest[number:], messageHead)
	if !ok || number == 0 || !bytes.HasSuffix(message, []byte("}}")) {
		return nil, false
	}
	return message[:len(message)-1], true
}

// decodePlainWire reads the messages that a recording has most of, in a fraction of the
// time that any JSON takes. It tells whether the message is one of these.
func decodePlainWire(message []byte) (wire.Message, bool) {
	rest, ok := bytes.CutPrefix(message, typeHead)
	if !ok {
		return nil, false
	}
	kind, payload, ok := bytes.Cut(rest, payloadHead)
	if !ok || !bytes.HasSuffix(payload, []byte("}")) {
		return nil, false
	}
	payload = payload[:len(payload)-1]
	switch string(kind) {
	case "TurnEnd":
		return wire.TurnEnd{}, string(payload) == "{}"
	case "TurnBegin":
		text, ok := plainMember(payload, `{"user_input": `)
		return wire.TurnBegin{UserInput: wire.UserInput{Text: text}}, ok
	case "ContentPart":
		if text, ok := plainMember(payload, `{"type": "text", "text": `); ok {
			return wire.ContentPart{Part: llm.Text(text)}, true
		}
	case "StatusUpdate":
		var s wire.StatusUpdate
		err := json.Unmarshal(payload, &s)
		return s, err == nil
	}
	return nil, false
}

// plainMember reads an object of which the last member is a string, and all before it
// stands in head.
func plainMember(object []byte, head string) (text string, ok bool) {
	rest, ok := bytes.CutPrefix(object, []byte(head))
	if !ok {
		return "", false
	}
	text, rest, ok = plainString(rest)
	return text, ok && string(rest) == "}"
}
