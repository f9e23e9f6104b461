package jsonrpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"kimi-acp/internal/jsonrpc"
)

// A handler decides at once what can be decided at once, and leaves to Go what
// takes time.
func ExampleConn() {
	handle := func(call *jsonrpc.Call) {
		switch call.Method() {
		case "add":
			var terms []int
			if json.Unmarshal(call.Params(), &terms) != nil {
				call.Reply(nil, jsonrpc.ACP.InvalidParams(call.Method()))
				return
			}
			call.Go(func(context.Context) (any, error) {
				sum := 0
				for _, term := range terms {
					sum += term
				}
				return sum, nil
			})
		default:
			call.Reply(nil, jsonrpc.ACP.MethodNotFound(call.Method()))
		}
	}
	input := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"add","params":[1,2,3]}` + "\n")
	conn := jsonrpc.NewConn(input, os.Stdout, jsonrpc.HandlerFunc(handle), jsonrpc.Options{
		Dialect: jsonrpc.ACP,
		Linger:  time.Minute,
	})
	if err := conn.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: {"jsonrpc":"2.0","id":1,"result":6}
}
