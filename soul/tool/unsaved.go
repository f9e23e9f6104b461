package tool

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"kimi-acp/fileop"
)

// unsavedFile is a file that the editor has and the disk has not.
type unsavedFile struct {
	snapshot fileop.Snapshot
	rel      string // from where the search begins, with slashes
}

// unsavedFiles gives the files below a place, by their paths, that only the editor
// has. An empty place stands for all roots, and rel then begins at the working
// directory, with ".." for another root.
func unsavedFiles(ctx context.Context, e *Executor, place string) []unsavedFile {
	from := e.cwd
	if place != "" {
		resolved, err := e.operator.Resolve(place)
		if err != nil {
			return nil
		}
		from = resolved
	}
	var out []unsavedFile
	for _, known := range e.overlay.Known() {
		rel, err := filepath.Rel(from, known.Path)
		if err != nil || place != "" && !filepath.IsLocal(rel) || onDisk(ctx, e, known.Path) {
			continue
		}
		s, err := e.overlay.Read(ctx, known.Name)
		if err != nil {
			continue // it was closed
		}
		out = append(out, unsavedFile{snapshot: s, rel: filepath.ToSlash(rel)})
	}
	slices.SortStableFunc(out, func(a, b unsavedFile) int { return strings.Compare(a.snapshot.Path, b.snapshot.Path) })
	return out
}

func onDisk(ctx context.Context, e *Executor, path string) bool {
	for _, err := range e.tree.Walk(ctx, path, fileop.WalkOptions{MaxDepth: 1, MaxEntries: 1}) {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return true // an empty folder
}
