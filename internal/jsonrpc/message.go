package jsonrpc

import "encoding/json"

// kind is what a message turned out to be.
type kind uint8

const (
	invalid      kind = iota // to be refused with why
	request                  // has a method and an id
	notification             // has a method and no id
	response                 // has an id and an outcome; with why set, an unusable one
	bare                     // has an id and nothing else: an unusable response, or no request
	empty                    // has neither method nor id, and the dialect does not mind
)

// message is a JSON object of the protocol after its envelope was judged.
type message struct {
	kind    kind
	id      ID // "" when there is none or it is unusable
	method  string
	params  json.RawMessage // nil when absent or null
	result  json.RawMessage
	failure *Error
	why     string
}

// classify judges an envelope, whose values are valid JSON, by the dialect.
func (d *Dialect) classify(e envelope) message {
	id, ok := d.readID(e.id)
	if !ok {
		return message{why: "the id must be " + d.idWords()}
	}
	if e.method == nil || (d.SilentEmpty && isNull(e.method)) {
		return d.classifyOutcome(e, id)
	}
	m := message{id: id, why: d.badVersion(e)}
	if m.why != "" {
		return m
	}
	if e.method[0] != '"' {
		m.why = "the method must be a string"
		return m
	}
	m.method = unquote(e.method)
	if m.method == "" && !d.EmptyMethod {
		m.why = "the method must not be empty"
		return m
	}
	if !isNull(e.params) {
		m.params = e.params
	}
	switch {
	case id == nullID && d.NullIsNoID:
		m.id, m.kind = "", notification
	case id == nullID:
		m.why = "the id of a request must not be null"
	case id == "":
		m.kind = notification
	default:
		m.kind = request
	}
	return m
}

// classifyOutcome judges an envelope without a method.
func (d *Dialect) classifyOutcome(e envelope, id ID) message {
	m := message{id: id, why: d.badVersion(e)}
	// Old peers send both members and set one to null.
	failed := e.failure != nil && !isNull(e.failure)
	succeeded := e.result != nil && !(failed && isNull(e.result))
	switch {
	case id != "" && (e.result != nil || e.failure != nil):
		m.kind = response
	case m.why != "": // invalid
	case id == "" && d.SilentEmpty:
		m.kind = empty
	case id == "" || id == nullID && !d.SilentEmpty:
		m.why = "there is no method"
	default:
		m.kind, m.why = bare, "there is no method"
	}
	if m.kind != response || m.why != "" {
		return m
	}
	switch {
	case failed && succeeded:
		m.why = "both result and error"
	case failed:
		if m.failure = readError(e.failure); m.failure == nil {
			m.why = "the error is malformed"
		}
	case succeeded:
		m.result = e.result
	default:
		m.why = "the error is null"
	}
	return m
}

// badVersion says what is wrong with the version, "" if nothing is.
func (d *Dialect) badVersion(e envelope) string {
	if string(e.version) == `"2.0"` || (e.version == nil && d.OptionalVersion) {
		return ""
	}
	return `"jsonrpc" must be "2.0"`
}

func (d *Dialect) idWords() string {
	if d.IntegerIDs {
		return "a string or an integer of 64 bits"
	}
	return "a string"
}

// readError reads the error of a response, nil if it is none.
func readError(raw []byte) *Error {
	var e struct {
		Code    *int            `json:"code"`
		Message *string         `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if json.Unmarshal(raw, &e) != nil || e.Code == nil || e.Message == nil {
		return nil
	}
	failure := &Error{Code: *e.Code, Message: *e.Message}
	if len(e.Data) > 0 && !isNull(e.Data) {
		failure.Data = e.Data
	}
	return failure
}

func isNull(raw []byte) bool { return string(raw) == "null" }
