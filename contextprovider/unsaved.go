package contextprovider

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"kimi-acp/fileop"
)

// Bounds on what is told of unsaved changes.
const (
	maxUnsavedFiles = 4
	maxUnsavedLines = 80      // of one file
	aroundUnsaved   = 3       // lines before and behind
	maxUnsavedText  = 1 << 20 // bytes of a file in which they are looked for
	allLines        = 1 << 30
)

// unsaved gives those lines of the files with unsaved changes in which they differ from
// what is on disk, the active file's first. A file whose changes cannot be told is left
// out: that it has some says the editor's section.
func (f Files) unsaved(ctx context.Context, q Query, told []FileSnapshot) []FileSnapshot {
	if f.Disk == nil || q.Editor == nil {
		return nil
	}
	var dirty []Document
	for _, d := range q.Editor.Open {
		switch {
		case !d.Dirty || !f.Readable(d.Path) || carries(q.Mentions, d.Path):
		case d.Path == q.Editor.Active:
			dirty = append([]Document{d}, dirty...)
		default:
			dirty = append(dirty, d)
		}
	}
	var all []FileSnapshot
	for _, d := range dirty[:min(len(dirty), maxUnsavedFiles)] {
		if s, ok := f.unsavedIn(ctx, d); ok && !slices.ContainsFunc(told, s.within) {
			all = append(all, s)
		}
	}
	return all
}

// carries tells whether a prompt holds the text of a file itself.
func carries(mentions []Mention, path string) bool {
	return slices.ContainsFunc(mentions, func(m Mention) bool {
		return m.Embedded && m.Kind == MentionFile && m.Lines == nil && filepath.Clean(m.Path) == path
	})
}

func (f Files) unsavedIn(ctx context.Context, d Document) (FileSnapshot, bool) {
	data, err := f.Disk(ctx, d.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return FileSnapshot{}, false
	}
	disk, err := fileop.Decode(data)
	if err != nil {
		return FileSnapshot{}, false
	}
	var buffer string
	if d.Text != nil {
		text, err := fileop.Decode([]byte(*d.Text))
		if err != nil {
			return FileSnapshot{}, false
		}
		buffer = text.Body
	} else {
		w, err := f.Windows.ReadWindow(ctx, d.Path, 1, allLines)
		if err != nil || !w.Dirty {
			return FileSnapshot{}, false
		}
		buffer = w.Text
	}
	if len(buffer) > maxUnsavedText || len(disk.Body) > maxUnsavedText {
		return FileSnapshot{}, false
	}
	before, now := splitLines(disk.Body), splitLines(buffer)
	first, end, ok := differing(before, now)
	if !ok {
		return FileSnapshot{}, false
	}
	first, end = max(first-aroundUnsaved, 0), min(end+aroundUnsaved, len(now))
	s := FileSnapshot{Path: d.Path, First: first + 1, Total: len(now), Dirty: true, More: end-first > maxUnsavedLines}
	s.Text = strings.Join(now[first:min(end, first+maxUnsavedLines)], "\n")
	return s, true
}

// differing gives the range of lines in which a text is not as it was before; a range
// without lines where some were only taken out. ok is false when nothing differs.
func differing(before, now []string) (first, end int, ok bool) {
	for first < len(before) && first < len(now) && before[first] == now[first] {
		first++
	}
	end, was := len(now), len(before)
	for end > first && was > first && now[end-1] == before[was-1] {
		end--
		was--
	}
	return first, end, first < end || first < was
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// within tells whether another snapshot shows all that this one does.
func (s FileSnapshot) within(other FileSnapshot) bool {
	lines := func(f FileSnapshot) int { return f.First + len(splitLines(f.Text)) }
	return other.Path == s.Path && other.Dirty && other.Withheld == "" && other.First <= s.First && lines(other) >= lines(s)
}
