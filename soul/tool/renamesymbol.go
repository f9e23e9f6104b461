package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/contextprovider"
	"kimi-acp/fileop"
	"kimi-acp/soul/wire"
)

//go:embed renamesymbol.md
var renameSymbolDescription string

type renameArguments struct {
	Path    string `json:"path" jsonschema:"A file in which the symbol stands: an absolute path, or one relative to the working directory."`
	Symbol  string `json:"symbol" jsonschema:"The name as it is."`
	NewName string `json:"new_name" jsonschema:"The name as it is to be."`
	Line    int    `json:"line,omitempty" jsonschema:"The line of the file in which the name stands. Left out: where the file defines it, or else uses it first."`
}

// NewRenameSymbol makes the tool that renames a symbol in all files. code works out
// what changes; the Operator makes the changes.
func NewRenameSymbol(code contextprovider.Code) Tool {
	return Define(Definition[renameArguments]{
		Name:        "RenameSymbol",
		Description: renameSymbolDescription,
		Effect:      Edits,
		Refine: func(a map[string]*jsonschema.Schema) {
			for _, name := range []string{"path", "symbol", "new_name"} {
				a[name].MinLength = jsonschema.Ptr(1)
			}
			a["line"].Minimum = jsonschema.Ptr(1.0)
		},
		Run: func(ctx context.Context, c *Invocation, in renameArguments) wire.ToolReturnValue {
			return renameSymbol(ctx, c, code, in)
		},
	})
}

// renameSymbol plans every file before it asks for the first, as a patch does.
func renameSymbol(ctx context.Context, c *Invocation, code contextprovider.Code, in renameArguments) wire.ToolReturnValue {
	file, err := c.mayRead(ctx, in.Path, false)
	if err != nil {
		return Failed(ctx, err)
	}
	rewrites, err := code.Rename(ctx, contextprovider.Place{Path: file.name, Line: in.Line, Symbol: in.Symbol}, in.NewName)
	if errors.Is(err, contextprovider.ErrNoServer) {
		return failure(sentence(err.Error())+" Find the places with Grep and edit them.", "No language server")
	}
	if err != nil {
		return Failed(ctx, err)
	}
	edits := make([]fileop.Edit, 0, len(rewrites))
	for _, w := range rewrites {
		// As the replacement of the whole text that it was worked out on, it fits that alone.
		edits = append(edits, fileop.Edit{Path: w.Path, Replace: []fileop.Replacement{{Old: w.Before, New: w.After}}})
	}
	card, err := c.planAll(ctx, edits)
	if err != nil {
		return Failed(ctx, err)
	}
	c.Progress(false, "", card)
	v := c.editAll(ctx, edits, card, func(fileop.Edit) string { return "Rename in file" })
	if !v.IsError {
		v.Message = fmt.Sprintf("Renamed %s to %s in %s.", in.Symbol, in.NewName, plural(len(edits), "file")) + " " + v.Message
	}
	return v
}
