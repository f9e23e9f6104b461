package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/fileop"
	"kimi-acp/soul/wire"
)

//go:embed applypatch.md
var applyPatchDescription string

type applyPatchArguments struct {
	Patch string `json:"patch" jsonschema:"The patch. Paths are absolute, or relative to the working directory."`
}

func newApplyPatch() Tool {
	return Define(Definition[applyPatchArguments]{
		Name:        "ApplyPatch",
		Description: applyPatchDescription,
		Effect:      Edits,
		Refine: func(a map[string]*jsonschema.Schema) {
			a["patch"].MinLength = jsonschema.Ptr(1)
		},
		Run: applyPatch,
	})
}

// applyPatch first plans every file, and goes on only if all of them can be changed.
// Then it asks and writes file by file.
func applyPatch(ctx context.Context, c *Invocation, in applyPatchArguments) wire.ToolReturnValue {
	edits, err := fileop.ParsePatch(in.Patch)
	if err != nil {
		return Failed(ctx, err)
	}
	card, err := c.planAll(ctx, edits)
	if err != nil {
		return Failed(ctx, err)
	}
	c.Progress(false, "", card)
	return c.editAll(ctx, edits, card, editVerb)
}

// editAll asks for planned edits and makes them, file by file. The checks of all of them
// have one time limit, which asking does not count towards.
func (c *Invocation) editAll(ctx context.Context, edits []fileop.Edit, card []wire.FileChange, verb func(fileop.Edit) string) wire.ToolReturnValue {
	p := patching{total: len(edits), left: patchCheck}
	for _, e := range edits {
		r, err := c.edit(ctx, verb(e), e, card)
		if p.take(ctx, c, e, r, err); p.over {
			break
		}
	}
	return p.result()
}

// planAll works out every edit and changes nothing. The error names each file that
// the patch does not fit.
func (c *Invocation) planAll(ctx context.Context, edits []fileop.Edit) ([]wire.FileChange, error) {
	var card []wire.FileChange
	var errs []error
	for _, e := range edits {
		change, err := c.plan(ctx, e)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		card = append(card, filesOf(change)...)
	}
	switch {
	case len(errs) > 0 && len(edits) == 1:
		return nil, errs[0]
	case len(errs) > 0:
		return nil, fmt.Errorf("nothing was changed, since the patch does not fit %s of %d:\n%w",
			plural(len(errs), "file"), len(edits), errors.Join(errs...))
	}
	return card, nil
}

func editVerb(e fileop.Edit) string {
	switch {
	case e.Delete:
		return "Delete file"
	case e.MoveTo != "":
		return "Move file"
	case e.New:
		return "Write file"
	}
	return "Edit file"
}

// patching collects what comes of the files of a patch.
type patching struct {
	total  int
	left   time.Duration // for what edits have broken
	done   []string      // sentences about the files that were changed
	failed []string      // and about those that were not
	output strings.Builder
	first  *wire.ToolReturnValue // the first failure
	value  wire.ToolReturnValue
	over   bool // no further file is asked for
}

func (p *patching) take(ctx context.Context, c *Invocation, e fileop.Edit, r fileop.Result, err error) {
	var v wire.ToolReturnValue
	if err != nil {
		v = editFailed(ctx, r, err)
	} else {
		began := time.Now()
		bounded, cancel := context.WithTimeout(ctx, p.left)
		v = c.edited(bounded, r, patched(r.Change))
		cancel()
		p.left -= time.Since(began)
	}
	p.value.Display = append(p.value.Display, withoutBrief(v.Display)...)
	p.value.Files = append(p.value.Files, v.Files...)
	p.output.WriteString(v.Output.Text)
	if !v.IsError {
		p.done = append(p.done, v.Message)
		return
	}
	if p.first == nil {
		p.first = &v
	}
	p.failed = append(p.failed, e.Path+": "+v.Message)
	var rejected *RejectedError
	// A rejection is about one file, unless nobody can be asked at all; whatever else
	// goes wrong may go wrong again.
	p.over = !errors.As(err, &rejected) || rejected.Cause != nil
}

func withoutBrief(blocks []wire.Block) []wire.Block {
	if len(blocks) > 0 && blocks[0].Type == wire.BlockBrief {
		return blocks[1:]
	}
	return blocks
}

func (p *patching) result() wire.ToolReturnValue {
	if len(p.done) == 0 && len(p.failed) == 1 && p.total == 1 {
		return *p.first
	}
	v := p.value
	v.Output.Text = p.output.String()
	if len(p.failed) == 0 {
		v.Message = strings.Join(p.done, " ")
		return v
	}
	v.IsError = true
	lines := append([]string{fmt.Sprintf("%d of %s changed.", len(p.done), plural(p.total, "file"))}, p.done...)
	lines = append(append(lines, "Not changed:"), p.failed...)
	if left := p.total - len(p.done) - len(p.failed); left > 0 {
		lines = append(lines, fmt.Sprintf("After that %s of the patch not tried.", were(left)))
	}
	v.Message = strings.Join(lines, "\n")
	v.Display = append([]wire.Block{wire.Brief(fmt.Sprintf("%d of %s changed", len(p.done), plural(p.total, "file")))}, v.Display...)
	return v
}

func were(files int) string {
	if files == 1 {
		return "1 file was"
	}
	return fmt.Sprintf("%d files were", files)
}

// patched says what a change has done.
func patched(c fileop.Change) string {
	switch {
	case c.Kind == fileop.ActionDelete:
		return fmt.Sprintf("Deleted %s.", c.Path)
	case c.Kind == fileop.ActionRename && c.Before != nil && c.After != *c.Before:
		return fmt.Sprintf("Moved %s to %s and edited it.", c.Path, c.NewPath)
	case c.Kind == fileop.ActionRename:
		return fmt.Sprintf("Moved %s to %s.", c.Path, c.NewPath)
	case c.Before == nil:
		return fmt.Sprintf("Made the file %s.", c.Path)
	}
	return fmt.Sprintf("Edited %s.", c.Path)
}
