package tool

import (
	"context"
	_ "embed"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/soul/wire"
)

//go:embed editorcontext.md
var editorContextDescription string

// Surroundings knows how things stand around the user. Calls may run side by side.
type Surroundings interface {
	// Section gives one part of it whole. An error says, for the model, which parts
	// there are.
	Section(ctx context.Context, name string) (string, error)
}

type editorContextArguments struct {
	Part string `json:"part" jsonschema:"The part to show."`
}

// NewEditorContext makes the tool that shows a part of the context whole.
func NewEditorContext(s Surroundings) Tool {
	return Define(Definition[editorContextArguments]{
		Name:        "EditorContext",
		Description: editorContextDescription,
		Effect:      ReadOnly,
		Refine: func(a map[string]*jsonschema.Schema) {
			a["part"].Enum = []any{"editor", "files", "symbols", "diagnostics", "git", "diff", "tree", "notes"}
		},
		Run: func(ctx context.Context, _ *Invocation, in editorContextArguments) wire.ToolReturnValue {
			text, err := s.Section(ctx, in.Part)
			if err != nil {
				return failure(sentence(err.Error()), "Nothing there")
			}
			text, cut := clipContext(text)
			message := "The part " + in.Part + " as it stands now."
			if cut {
				message += " Its end is left out."
			}
			return wire.ToolReturnValue{Output: wire.Output{Text: text}, Message: message}
		},
	})
}

// maxContextPart bounds what the tool shows, in bytes.
const maxContextPart = 40_000

func clipContext(text string) (shown string, cut bool) {
	if len(text) <= maxContextPart {
		return text, false
	}
	end := maxContextPart
	for end > 0 && text[end-1] != '\n' {
		end--
	}
	return text[:end], true
}
