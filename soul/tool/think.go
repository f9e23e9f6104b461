package tool

import (
	"context"
	_ "embed"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/soul/wire"
)

//go:embed think.md
var thinkDescription string

type thinkArguments struct {
	Thought string `json:"thought" jsonschema:"What you think."`
}

func newThink() Tool {
	return Define(Definition[thinkArguments]{
		Name:        "Think",
		Description: thinkDescription,
		Effect:      ReadOnly,
		Refine:      func(a map[string]*jsonschema.Schema) { a["thought"].MinLength = jsonschema.Ptr(1) },
		Run: func(context.Context, *Invocation, thinkArguments) wire.ToolReturnValue {
			return wire.ToolReturnValue{Message: "The thought was noted."}
		},
	})
}
