package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"kimi-acp/fileop"
	"kimi-acp/soul/wire"
)

// maxBrief bounds a brief block's text, in characters.
const maxBrief = 100

// Failed is the result of a call that err ended: advice for the model in the
// message, a brief for people. When ctx has ended, that is what it tells.
func Failed(ctx context.Context, err error) wire.ToolReturnValue {
	var rejected *RejectedError
	switch {
	case errors.As(err, &rejected):
		return rejected.result()
	case errors.Is(err, errPlanMode):
		return planModeResult()
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return failure("The call was interrupted before it had done anything.", "Interrupted")
	}
	return failure(sentence(err.Error()), "")
}

// failure is an error result; an empty brief is made of the message.
func failure(message, brief string) wire.ToolReturnValue {
	return wire.FailedTool(message, cmp.Or(brief, shorten(message, maxBrief)))
}

// complete holds results to what everyone relies on: a failed one has a message,
// and a brief stands first in its display.
func complete(v wire.ToolReturnValue) wire.ToolReturnValue {
	if !v.IsError {
		return v
	}
	if v.Message == "" {
		v.Message = "The tool failed and did not say why."
	}
	if len(v.Display) == 0 || v.Display[0].Type != wire.BlockBrief {
		v.Display = append([]wire.Block{wire.Brief(shorten(v.Message, maxBrief))}, v.Display...)
	}
	return v
}

// withNotes adds sentences to a result's message.
func withNotes(v wire.ToolReturnValue, notes []string) wire.ToolReturnValue {
	v.Message = strings.TrimSpace(strings.Join(append([]string{v.Message}, notes...), " "))
	return v
}

// diffBlocks shows the way from before (nil: no file) to after.
func diffBlocks(path string, before *string, after string) []wire.Block {
	old := ""
	if before != nil {
		old = *before
	}
	var blocks []wire.Block
	for _, h := range fileop.Hunks(old, after) {
		blocks = append(blocks, wire.Block{Type: wire.BlockDiff, Diff: &wire.DiffBlock{
			Path:    path,
			OldText: h.OldText, NewText: h.NewText,
			OldStart: h.OldStart, NewStart: h.NewStart,
			IsSummary: h.Summary,
		}})
	}
	return blocks
}

func fileChange(path string, before *string, after string) wire.FileChange {
	old := ""
	if before != nil {
		old = *before
	}
	return wire.FileChange{Path: path, Old: before, New: after, Line: fileop.FirstChangedLine(old, after)}
}

// shorten gives s on one line, cut in the middle to at most n characters, n > 2.
func shorten(s string, n int) string {
	// Only the two ends of a long text can be needed: a character has up to 4 bytes.
	if len(s) > 16*n {
		s = strings.ToValidUTF8(s[:8*n], "") + "…" + strings.ToValidUTF8(s[len(s)-8*n:], "")
	}
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	head := (n - 1) * 2 / 3
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}

// sentence makes an error's text one that can stand among sentences.
func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "."
}

// plural gives "1 line" or "3 lines".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
