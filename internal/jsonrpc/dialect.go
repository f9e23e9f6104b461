package jsonrpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"kimi-acp/internal/jsonstring"
)

// ID is the id of a request as its raw JSON bytes: `1`, `"a"` or `null`; "" when
// there is none. Two ids are the same if their bytes are, so 1 and "1" differ.
type ID string

const nullID ID = "null"

// maxID bounds the bytes of an id, which is kept as long as its request runs.
const maxID = 4 << 10

// StringID is the id whose value is the string s.
func StringID(s string) ID { return ID(jsonstring.Append(nil, s)) }

// Dialect says in which details a protocol differs from the others. It is data:
// the zero value is JSON-RPC 2.0 with string ids only and without texts.
type Dialect struct {
	OptionalVersion bool // a message without "jsonrpc" counts as one of version 2.0
	IntegerIDs      bool // ids may be integers of 64 bits; our own are, too (otherwise decimal strings)
	NullIsNoID      bool // a request with id null is a notification (otherwise it is refused)
	EmptyMethod     bool // an empty method is a name like any other
	ReplaceUTF8     bool // invalid UTF-8 is read as U+FFFD (otherwise it is a parse error)
	SkipBlank       bool // blank lines are skipped (otherwise they are parse errors)
	SilentEmpty     bool // a message that is neither request nor response is ignored
	RejectResponses bool // a malformed response is also answered, as an invalid request without id

	EchoID   bool // an invalid request is answered with its id, where it has a usable one
	Explain  bool // messages of the core's own errors say what is wrong
	NullData bool // an error without data carries "data":null

	CancelMethod string // notification that cancels a request; "" when the protocol has none
	CancelParam  string // member of its params that holds the id

	ParseText   string // message of a parse error
	InvalidText string // message of an invalid request
	MethodText  string // message for an unknown method, %s stands for its name
	ParamsText  string // message for unusable params, %s stands for the method
}

// The dialects of this program.
var (
	// ACP is the Agent Client Protocol: strict, and helpful to who gets it wrong.
	ACP = Dialect{
		IntegerIDs: true, SkipBlank: true, EchoID: true, Explain: true,
		CancelMethod: "$/cancel_request", CancelParam: "requestId",
		ParseText: "Parse error", InvalidText: "Invalid request",
		MethodText: "Method not found: %s", ParamsText: "Invalid params: %s",
	}
	// Wire is the protocol of kimi-cli: as lax as its server, with its words.
	Wire = Dialect{
		OptionalVersion: true, NullIsNoID: true, EmptyMethod: true, ReplaceUTF8: true,
		SilentEmpty: true, RejectResponses: true, NullData: true,
		ParseText: "Invalid JSON format", InvalidText: "Invalid request",
		MethodText: "Unexpected method received: %s",
		ParamsText: "Invalid parameters for method `%s`",
	}
	// LSP is the Language Server Protocol; it goes with ContentLength.
	LSP = Dialect{
		IntegerIDs: true, EchoID: true, Explain: true,
		CancelMethod: "$/cancelRequest", CancelParam: "id",
		ParseText: "Parse error", InvalidText: "Invalid request",
		MethodText: "Method not found: %s", ParamsText: "Invalid params: %s",
	}
)

// MethodNotFound is the error for a method that is not known.
func (d Dialect) MethodNotFound(method string) *Error {
	return &Error{Code: CodeMethodNotFound, Message: fmt.Sprintf(d.MethodText, method)}
}

// InvalidParams is the error for params that the method cannot take.
func (d Dialect) InvalidParams(method string) *Error {
	return &Error{Code: CodeInvalidParams, Message: fmt.Sprintf(d.ParamsText, method)}
}

// invalidRequest is the error for what is no message of the protocol; why is
// told only where the dialect explains.
func (d *Dialect) invalidRequest(why string) *Error {
	if !d.Explain {
		return &Error{Code: CodeInvalidRequest, Message: d.InvalidText}
	}
	return &Error{Code: CodeInvalidRequest, Message: d.InvalidText + ": " + why}
}

// parseError is the error for bytes that are no JSON.
func (d *Dialect) parseError(why string) *Error {
	if !d.Explain {
		return &Error{Code: CodeParse, Message: d.ParseText}
	}
	return &Error{Code: CodeParse, Message: d.ParseText + ": " + why}
}

// readID reads one valid JSON value as an id; nil gives "". It is not ok if the
// dialect has no such ids.
func (d *Dialect) readID(raw []byte) (id ID, ok bool) {
	if len(raw) == 0 {
		return "", true
	}
	if len(raw) > maxID {
		return "", false
	}
	switch raw[0] {
	case '"', 'n':
		return ID(raw), true
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		_, err := strconv.ParseInt(string(raw), 10, 64)
		return ID(raw), err == nil && d.IntegerIDs
	}
	return "", false
}

// namesRequest says that id can name a request: one JSON value, without white
// space around it, of a kind that the dialect has, and not null.
func (d *Dialect) namesRequest(id ID) bool {
	raw := []byte(id)
	_, ok := d.readID(raw)
	return ok && id != "" && id != nullID && json.Valid(raw) && len(bytes.TrimSpace(raw)) == len(raw)
}
