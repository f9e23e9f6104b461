package tool

import (
	"fmt"
	"strings"

	"kimi-acp/fileop"
	"kimi-acp/internal/policy"
	"kimi-acp/soul/wire"
)

// filesOf is a planned change as an editor shows it; nothing for a mere move, which
// has no diff.
func filesOf(c fileop.Change) []wire.FileChange {
	switch {
	case c.Kind == fileop.ActionDelete:
		f := fileChange(c.Path, c.Before, "")
		f.Deleted = true
		return []wire.FileChange{f}
	case c.NewPath == "":
		return []wire.FileChange{fileChange(c.Path, c.Before, c.After)}
	case c.After == *c.Before:
		return nil
	}
	return []wire.FileChange{fileChange(c.NewPath, c.Before, c.After)}
}

// resultPath is where a changed file is, or was.
func resultPath(c fileop.Change) string {
	if c.NewPath != "" {
		return c.NewPath
	}
	return c.Path
}

// editAction is what is asked for. Deleting is asked for also where edits are
// accepted, and an answer about edits does not cover it.
func editAction(verb string, c fileop.Change) Action {
	a := Action{
		Name:        "edit file",
		Description: verb + " " + codeSpan(policy.Visible(c.Path)),
		Effect:      Edits,
		Bound:       c.Digest(),
		Display:     diffBlocks(resultPath(c), c.Before, c.After),
		Files:       filesOf(c),
	}
	switch c.Kind {
	case fileop.ActionDelete:
		a.Name, a.Scope = "delete file", "deletions in this workspace"
	case fileop.ActionRename:
		a.Description += " to " + codeSpan(policy.Visible(c.NewPath))
	}
	if c.NotText {
		a.Description += fmt.Sprintf(" (no text, %s)", plural(c.Size, "byte"))
	}
	return a
}

// patchCard names the files of a patch; one that breaks off or is none has no names.
func patchCard(card Card, patch, cwd string) Card {
	edits, err := fileop.ParsePatch(patch)
	if err != nil {
		return card
	}
	verbs, names := map[string]bool{}, []string{}
	for _, e := range edits {
		verb := strings.TrimSuffix(editVerb(e), " file")
		verbs[verb] = true
		at := absolute(e.Path, cwd)
		name := codeSpan(policy.Visible(shorten(relative(at, cwd), maxTitle)))
		if e.MoveTo != "" {
			at = absolute(e.MoveTo, cwd)
			name += " to " + codeSpan(policy.Visible(shorten(relative(at, cwd), maxTitle)))
		}
		card.Locations = append(card.Locations, Location{Path: at})
		names = append(names, name)
	}
	verb := "Patch"
	if len(verbs) == 1 {
		verb = strings.TrimSuffix(editVerb(edits[0]), " file")
	}
	switch verb {
	case "Delete":
		card.Kind = "delete"
	case "Move":
		card.Kind = "move"
	}
	const shown = 3
	if more := len(names) - shown; more > 0 {
		names = append(names[:shown], fmt.Sprintf("and %d more", more))
	}
	card.Title = verb + " " + strings.Join(names, ", ")
	return card
}
