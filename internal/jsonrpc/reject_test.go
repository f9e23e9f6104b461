package jsonrpc

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const (
	acpParse = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: %s"}}`
	notJSON  = `the bytes are not one JSON value`
	ping     = `{"jsonrpc":"2.0","id":"next","method":"ping"}`
	pong     = `{"jsonrpc":"2.0","id":"next","result":null}`
)

func acpInvalid(id, why string) string {
	text, _ := json.Marshal("Invalid request: " + why)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":%s}}`, id, text)
}

// Each case is followed by a good request, which must be served: bad input never
// ends a connection.
func TestACPLines(t *testing.T) {
	parse := fmt.Sprintf(acpParse, notJSON)
	const (
		noObject  = "a message must be one object"
		badID     = "the id must be a string or an integer of 64 bits"
		noMethod  = "there is no method"
		badMethod = "the method must be a string"
		noVersion = `"jsonrpc" must be "2.0"`
	)
	ok := func(id, result string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
	}
	tests := []struct{ name, line, want string }{
		{"P1 A4 bad JSON", `{bad json`, parse},
		{"P30 two objects on a line", `{"jsonrpc":"2.0","id":1,"method":"a"} {"jsonrpc":"2.0","id":2,"method":"b"}`, parse},
		{"P30 deep nesting", `{"jsonrpc":"2.0","id":1,"method":"a","params":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, parse},
		{"P30 invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\xff\"}", fmt.Sprintf(acpParse, "the bytes are not UTF-8")},
		{"A5 empty batch", `[]`, acpInvalid("null", noObject)},
		{"P2 A5 batch", `[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"b"}]`, acpInvalid("null", noObject)},
		{"A5 number", `1`, acpInvalid("null", noObject)},
		{"P2 A5 string", `"str"`, acpInvalid("null", noObject)},
		{"A5 null", `null`, acpInvalid("null", noObject)},
		{"P2 only a version", `{"jsonrpc":"2.0"}`, acpInvalid("null", noMethod)},
		{"empty object", `{}`, acpInvalid("null", noVersion)},
		{"P3 A6 no method", `{"jsonrpc":"2.0","id":5}`, acpInvalid("5", noMethod)},
		{"P3 A6 empty method", `{"jsonrpc":"2.0","id":"x","method":""}`, acpInvalid(`"x"`, "the method must not be empty")},
		{"A6 method is a number", `{"jsonrpc":"2.0","id":5,"method":7}`, acpInvalid("5", badMethod)},
		{"A6 method is null", `{"jsonrpc":"2.0","id":5,"method":null}`, acpInvalid("5", badMethod)},
		{"P4 A7 version missing", `{"id":5,"method":"a"}`, acpInvalid("5", noVersion)},
		{"P4 A7 version 1.0", `{"jsonrpc":"1.0","id":5,"method":"a"}`, acpInvalid("5", noVersion)},
		{"A7 version is a number", `{"jsonrpc":2.0,"id":5,"method":"a"}`, acpInvalid("5", noVersion)},
		{"P30 names have a case", `{"JSONRPC":"2.0","ID":5,"METHOD":"a"}`, acpInvalid("null", noVersion)},
		{"P5 A9 id null", `{"jsonrpc":"2.0","id":null,"method":"a"}`, acpInvalid("null", "the id of a request must not be null")},
		{"P5 id is an object", `{"jsonrpc":"2.0","id":{"a":1},"method":"a"}`, acpInvalid("null", badID)},
		{"id is an array", `{"jsonrpc":"2.0","id":[1],"method":"a"}`, acpInvalid("null", badID)},
		{"id is a bool", `{"jsonrpc":"2.0","id":true,"method":"a"}`, acpInvalid("null", badID)},
		{"id is a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"a"}`, acpInvalid("null", badID)},
		{"id is beyond int64", `{"jsonrpc":"2.0","id":9223372036854775808,"method":"a"}`, acpInvalid("null", badID)},
		{"id is too long", `{"jsonrpc":"2.0","id":"` + strings.Repeat("i", maxID) + `","method":"a"}`, acpInvalid("null", badID)},

		{"A8 string id", `{"jsonrpc":"2.0","id":"a b","method":"a"}`, ok(`"a b"`, "null")},
		{"A8 negative id", `{"jsonrpc":"2.0","id":-7,"method":"a"}`, ok(`-7`, "null")},
		{"A8 large id", `{"jsonrpc":"2.0","id":9223372036854775807,"method":"a"}`, ok(`9223372036854775807`, "null")},
		{"A8 unicode id", `{"jsonrpc":"2.0","id":"é\u00e9😀","method":"a"}`, ok(`"é\u00e9😀"`, "null")},
		{"P14 numbers stay as they are", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"n":[9007199254740993,12345678901234567890,1.0]}}`, ok("1", `{"n":[9007199254740993,12345678901234567890,1.0]}`)},
		{"last of a name wins", `{"jsonrpc":"1.0","id":1,"id":2,"method":"none","method":"a","jsonrpc":"2.0","params":{},"params":[3]}`, ok("2", `[3]`)},
		{"names may be escaped", `{"jsonrpc":"2.0","id":1,"m\u0065thod":"\u0061","params":"p"}`, ok("1", `"p"`)},
		{"unknown members", `{"x":{"id":9},"jsonrpc":"2.0","id":1,"method":"a","_meta":[{"method":"none"}]}`, ok("1", `null`)},
		{"A15 blank line", ` ` + "\t", ``},
		{"A15 CRLF", `{"jsonrpc":"2.0","id":1,"method":"a"}` + "\r", ok("1", "null")},
		{"P7 params null are absent", `{"jsonrpc":"2.0","id":1,"method":"a","params":null}`, ok("1", "null")},
		{"A10 unknown method", `{"jsonrpc":"2.0","id":1,"method":"none"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found: none"}}`},
		{"A10 unknown notification", `{"jsonrpc":"2.0","method":"none"}`, ``},
		{"A12 notification with bad params", `{"jsonrpc":"2.0","method":"a","params":17}`, ``},
		{"A12 notification that panics", `{"jsonrpc":"2.0","method":"boom"}`, ``},
		{"P24 A23 panic", `{"jsonrpc":"2.0","id":1,"method":"boom"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}`},
		{"A18 response to nothing", `{"jsonrpc":"2.0","id":77,"result":{}}`, ``},
		{"A18 error to nothing", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, ``},
		{"A18 malformed response to nothing", `{"jsonrpc":"2.0","id":77,"error":"x"}`, ``},
		{"cancel of nothing", `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`, ``},
		{"cancel without params", `{"jsonrpc":"2.0","method":"$/cancel_request"}`, ``},
		{"cancel with bad params", `{"jsonrpc":"2.0","method":"$/cancel_request","params":[1]}`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := pong + "\n"
			if tt.want != "" {
				want = tt.want + "\n" + want
			}
			equal(t, exchange(t, echo{ACP}, Options{Dialect: ACP}, joinLines(tt.line, ping)), want)
		})
	}
}

func TestP30_A15_ByteOrderMark(t *testing.T) {
	equal(t, exchange(t, echo{ACP}, Options{Dialect: ACP}, "\ufeff"+ping), pong+"\n")
	equal(t, exchange(t, echo{ACP}, Options{Dialect: ACP}, joinLines(ping, "\ufeff"+ping)),
		joinLines(pong, fmt.Sprintf(acpParse, notJSON)))
}

// The reactions of reference kimi-cli to raw lines, byte for byte.
func TestWireLines(t *testing.T) {
	const (
		parse   = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Invalid JSON format","data":null}}`
		refused = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request","data":null}}`
	)
	tests := []struct{ name, line, want string }{
		{"not JSON", `{bad`, parse},
		{"blank", ``, parse},
		{"spaces", "  \t", parse},
		{"array", `[]`, refused},
		{"null", `null`, refused},
		{"string", `"x"`, refused},
		{"wrong version", `{"jsonrpc":"1.0","id":"1","method":"a"}`, refused},
		{"integer id", `{"jsonrpc":"2.0","id":1,"method":"a"}`, refused},
		{"object id", `{"id":{},"method":"a"}`, refused},
		{"method is a number", `{"id":"1","method":5}`, refused},
		{"malformed error", `{"id":"1","error":{"code":"x"}}`, refused},
		{"error is a string", `{"id":"1","error":"x"}`, refused},
		{"version missing", `{"id":"1","method":"a","params":{"x":1}}`, `{"jsonrpc":"2.0","id":"1","result":{"x":1}}`},
		{"empty object", `{}`, ``},
		{"only an id", `{"id":"1"}`, ``},
		{"id and method null", `{"id":null,"method":null}`, ``},
		{"response to nothing", `{"id":"1","result":null}`, ``},
		{"error to nothing", `{"id":"1","error":{"code":1,"message":"m","data":null}}`, ``},
		{"unknown method", `{"id":"1","method":"none"}`, `{"jsonrpc":"2.0","id":"1","error":{"code":-32601,"message":"Unexpected method received: none","data":null}}`},
		{"unknown method without id", `{"method":"none"}`, ``},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"a"}`, ``},
		{"empty id", `{"id":"","method":"a"}`, `{"jsonrpc":"2.0","id":"","result":null}`},
		{"empty method", `{"id":"1","method":""}`, `{"jsonrpc":"2.0","id":"1","result":null}`},
		{"invalid UTF-8", "{\"id\":\"1\",\"method\":\"a\",\"params\":\"x\xffy\"}", "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":\"x\ufffdy\"}"},
		{"panic", `{"id":"1","method":"boom"}`, `{"jsonrpc":"2.0","id":"1","error":{"code":-32603,"message":"Internal error","data":null}}`},
		{"no cancel notification", `{"id":"1","method":"$/cancel_request"}`, `{"jsonrpc":"2.0","id":"1","result":null}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := pong + "\n"
			if tt.want != "" {
				want = tt.want + "\n" + want
			}
			equal(t, exchange(t, echo{Wire}, Options{Dialect: Wire}, joinLines(tt.line, ping)), want)
		})
	}
	equal(t, Wire.InvalidParams("steer").Message, "Invalid parameters for method `steer`")
}

func TestA17_AnySplit(t *testing.T) {
	var input, want strings.Builder
	for i := range 100 {
		fmt.Fprintf(&input, `{"jsonrpc":"2.0","id":%d,"method":"a","params":["é"]}`+"\r\n", i)
		fmt.Fprintf(&want, `{"jsonrpc":"2.0","id":%d,"result":["é"]}`+"\n", i)
	}
	equal(t, exchange(t, echo{ACP}, Options{Dialect: ACP}, input.String()), want.String())

	p := connect(t, echo{ACP}, Options{Dialect: ACP})
	go func() {
		for _, b := range []byte(input.String()) {
			if _, err := p.in.Write([]byte{b}); err != nil {
				t.Errorf("write: %v", err)
			}
		}
		p.in.Close()
	}()
	p.want(strings.Split(strings.TrimSpace(want.String()), "\n")...)
	p.wantClose()
}
