package tool

import (
	"context"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// Definition is a tool as data, with its arguments as the Go struct In. The
// fields' json tags name the arguments, `omitempty` makes one optional, and
// their jsonschema tags describe them.
type Definition[In any] struct {
	Name        string
	Description string
	Effect      Effect
	// Defaults is what arguments are that a call leaves out.
	Defaults In
	// Refine adds limits to the inferred schemas of the arguments, by name; nil:
	// there are none.
	Refine func(arguments map[string]*jsonschema.Schema)
	// Run serves a call whose arguments have been checked.
	Run func(ctx context.Context, c *Invocation, in In) wire.ToolReturnValue
}

// Define makes the tool of a definition. Its schema is inferred when it is first
// needed; a type that has no schema is a bug and panics then.
func Define[In any](d Definition[In]) Tool {
	return &defined[In]{
		def:    d,
		schema: sync.OnceValue(func() *argumentSchema { return inferSchema(d.Name, d.Defaults, d.Refine) }),
	}
}

type defined[In any] struct {
	def    Definition[In]
	schema func() *argumentSchema
}

func (t *defined[In]) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: t.def.Name, Description: t.def.Description, Parameters: t.schema().text}
}

func (t *defined[In]) Effect() Effect { return t.def.Effect }

func (t *defined[In]) Run(ctx context.Context, c *Invocation) wire.ToolReturnValue {
	in := t.def.Defaults
	notes, err := t.schema().decode(c.Arguments, &in)
	if err != nil {
		return failure("Error validating JSON arguments: "+err.Error(), "Invalid arguments")
	}
	return withNotes(t.def.Run(ctx, c, in), notes)
}
