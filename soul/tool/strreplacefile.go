package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/fileop"
	"kimi-acp/soul/wire"
)

//go:embed strreplacefile.md
var strReplaceFileDescription string

type strReplaceFileArguments struct {
	Path string        `json:"path" jsonschema:"The file: an absolute path, or one relative to the working directory."`
	Edit []replacement `json:"edit" jsonschema:"The replacements, made one after the other. A single one may stand without the list."`
}

type replacement struct {
	Old        string `json:"old" jsonschema:"The text to replace, exactly as it stands in the file, with its indentation and line breaks."`
	New        string `json:"new" jsonschema:"The text to put in its place."`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"Replace every occurrence instead of the only one."`
}

func newStrReplaceFile() Tool {
	return Define(Definition[strReplaceFileArguments]{
		Name:        "StrReplaceFile",
		Description: strReplaceFileDescription,
		Effect:      Edits,
		Refine: func(a map[string]*jsonschema.Schema) {
			a["path"].MinLength = jsonschema.Ptr(1)
			a["edit"].MinItems = jsonschema.Ptr(1)
			a["edit"].Items.Properties["replace_all"].Default = []byte("false")
		},
		Run: strReplaceFile,
	})
}

func strReplaceFile(ctx context.Context, c *Invocation, in strReplaceFileArguments) wire.ToolReturnValue {
	e := fileop.Edit{Path: in.Path}
	for _, r := range in.Edit {
		e.Replace = append(e.Replace, fileop.Replacement{Old: r.Old, New: r.New, All: r.ReplaceAll})
	}
	r, err := c.Edit(ctx, "Edit file", e)
	if err != nil {
		return editFailed(ctx, r, err)
	}
	return c.edited(ctx, r, fmt.Sprintf("Edited %s: %s made.", r.Change.Path, plural(countReplacements(r.Change, e.Replace), "replacement")))
}

// countReplacements counts the places that an edit has changed, by making it again: a
// replacement of all occurrences is as many as there were by its turn.
func countReplacements(c fileop.Change, rs []fileop.Replacement) int {
	if c.Before == nil || fileop.IsNotebook(c.Path) { // a notebook's texts are not as they are read
		return len(rs)
	}
	lf := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	text, n := *c.Before, 0
	for _, r := range rs {
		if r.All {
			n += strings.Count(text, lf(r.Old))
			text = strings.ReplaceAll(text, lf(r.Old), lf(r.New))
			continue
		}
		n++
		text = strings.Replace(text, lf(r.Old), lf(r.New), 1)
	}
	return n
}
