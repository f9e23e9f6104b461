package tool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kimi-acp/contextprovider"
	"kimi-acp/fileop"
	"kimi-acp/internal/policy"
	"kimi-acp/soul/wire"
)

// Checker finds what an edit has broken. Calls may come side by side.
type Checker interface {
	// NewProblems gives the problems of a file that came with an edit of it and were
	// not there before, and then those that came up in other files since; before is nil
	// for a new file. It waits for what is known soon, less than two seconds, and gives
	// nothing where nothing is. When ctx ends it returns soon.
	NewProblems(ctx context.Context, path string, before *string, after string) []contextprovider.Diagnostic
}

// patchCheck bounds the checks of all files of one patch together.
const patchCheck = 3 * time.Second

// check adds to the result of a committed edit the problems that it brought.
func (c *Invocation) check(ctx context.Context, r fileop.Result, v *wire.ToolReturnValue) {
	checker := c.executor.checker
	if checker == nil || r.Change.Kind == fileop.ActionDelete || r.Change.Kind == fileop.ActionRename || fileop.IsNotebook(r.Change.Path) {
		return
	}
	if c.executor.files.hides(r.Change.Path, r.Change.Real) {
		return
	}
	here, elsewhere := c.problems(checker.NewProblems(ctx, r.Change.Path, r.Change.Before, r.Actual), r.Change.Path)
	if here == "" && elsewhere == "" {
		return
	}
	if v.Output.Text != "" && !strings.HasSuffix(v.Output.Text, "\n") {
		v.Output.Text += "\n"
	}
	if here != "" {
		v.Output.Text += "New problems in " + policy.Visible(relative(r.Change.Path, c.executor.cwd)) + ":\n" + here
	}
	if elsewhere != "" {
		v.Output.Text += "Reported in other files since the edit:\n" + elsewhere
	}
	v.Message += " The output shows problems that came with the edit; mend them, unless a later edit does."
}

// problems shows those of one file, and behind their paths those of others whose text may
// be shown.
func (c *Invocation) problems(all []contextprovider.Diagnostic, path string) (here, elsewhere string) {
	for _, d := range all {
		switch {
		case d.Path == "" || d.Path == path:
			here += problemLine(d)
		case !c.executor.files.hides(d.Path, d.Path):
			elsewhere += policy.Visible(relative(d.Path, c.executor.cwd)) + ":" + problemLine(d)
		}
	}
	return clipCode(here), clipCode(elsewhere)
}

// problemLines shows problems, each as one line.
func problemLines(all []contextprovider.Diagnostic) string {
	var out strings.Builder
	for _, d := range all {
		out.WriteString(problemLine(d))
	}
	return clipCode(out.String())
}

func problemLine(d contextprovider.Diagnostic) string {
	by := strings.TrimSpace(d.Source + " " + d.Code)
	if by != "" {
		by = " (" + by + ")"
	}
	message := strings.Join(strings.Fields(d.Message), " ")
	return policy.Visible(fmt.Sprintf("%d:%d: %s%s: %s", d.Lines.First, d.Column, d.Severity, by, message)) + "\n"
}
