package tool

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/fileop"
	"kimi-acp/soul/wire"
)

//go:embed writefile.md
var writeFileDescription string

// The modes of WriteFile.
const (
	modeOverwrite = "overwrite"
	modeAppend    = "append"
)

type writeFileArguments struct {
	Path    string `json:"path" jsonschema:"The file: an absolute path, or one relative to the working directory."`
	Content string `json:"content" jsonschema:"The text to write."`
	Mode    string `json:"mode,omitempty" jsonschema:"overwrite replaces the whole file, append adds to its end."`
}

func newWriteFile() Tool {
	return Define(Definition[writeFileArguments]{
		Name:        "WriteFile",
		Description: writeFileDescription,
		Effect:      Edits,
		Defaults:    writeFileArguments{Mode: modeOverwrite},
		Refine: func(a map[string]*jsonschema.Schema) {
			a["path"].MinLength = jsonschema.Ptr(1)
			a["mode"].Enum = []any{modeOverwrite, modeAppend}
		},
		Run: writeFile,
	})
}

func writeFile(ctx context.Context, c *Invocation, in writeFileArguments) wire.ToolReturnValue {
	r, err := c.Edit(ctx, "Write file", fileop.Edit{Path: in.Path, Content: &in.Content, Append: in.Mode == modeAppend})
	if err != nil {
		return editFailed(ctx, r, err)
	}
	size := plural(len(in.Content), "byte")
	switch {
	case r.Change.Before == nil:
		return c.edited(ctx, r, fmt.Sprintf("Made the file %s with %s.", r.Change.Path, size))
	case in.Mode == modeAppend:
		return c.edited(ctx, r, fmt.Sprintf("Added %s to the end of %s.", size, r.Change.Path))
	}
	return c.edited(ctx, r, fmt.Sprintf("Replaced the text of %s by %s.", r.Change.Path, size))
}
