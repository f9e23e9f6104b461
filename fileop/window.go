package fileop

import (
	"context"
	"strings"
)

// WindowReader is a Store that can give a part of a file, as an editor may. It may
// be called by several goroutines at once.
type WindowReader interface {
	// ReadLines gives up to n lines of a file from line first on, counted from 1,
	// with their ends. Errors are those of Store.Read.
	ReadLines(ctx context.Context, path string, first, n int) (string, error)
}

// Window is a run of a file's lines, as the user sees them.
type Window struct {
	Path    string // absolute, as the user and the editor write it
	Real    string // where Path leads with symbolic links resolved
	Text    string // the lines from First on, joined by LF; "" when there are none
	First   int    // number of the first line, from 1
	More    bool   // there are lines behind these
	Total   int    // lines of the whole file; -1: unknown, only this part was read
	Dirty   bool   // unsaved changes were seen; with an unknown Total, in this part
	NotUTF8 bool   // Text holds bytes that are not UTF-8: escape before showing

	Encoding Encoding // of the file
}

// ReadWindow gives up to n lines of a file from line first on, both at least 1, as
// the user sees them. An editor that can is asked for these lines alone; else the
// whole file is read. Errors are those of Read.
func (o *Operator) ReadWindow(ctx context.Context, path string, first, n int) (Window, error) {
	p, err := o.folders.locate(path)
	if err != nil {
		return Window{}, err
	}
	if w, ok := o.editorWindow(ctx, p, first, n); ok {
		return w, nil
	}
	s, err := o.Read(ctx, path)
	if err != nil {
		return Window{}, err
	}
	return s.Lines(first, n), nil
}

// Lines gives up to n lines of a file from line first on, both at least 1.
func (s Snapshot) Lines(first, n int) Window {
	w := Window{
		Path: s.Path, Real: s.Real, First: first, Dirty: s.Dirty, NotUTF8: s.NotUTF8, Encoding: s.Encoding,
		Total: countLines(s.Text),
	}
	w.Text, w.More = cutLines(s.Text, first, n)
	return w
}

// editorWindow asks the editor for a part of a file. It is false where only the
// whole file can tell: the editor gives no parts, or nothing (which may be the end
// of the file, a missing file, or a refusal), or something that is no text, or is
// behind what was written on disk, or gives other lines than it was asked for.
func (o *Operator) editorWindow(ctx context.Context, p place, first, n int) (Window, bool) {
	reader, ok := o.editor.(WindowReader)
	if !o.reads || !ok || o.behind.mayHave(p.key()) {
		return Window{}, false
	}
	// One line more tells whether there are more.
	given, err := reader.ReadLines(ctx, p.name, first, n+1)
	if err != nil || given == "" {
		return Window{}, false
	}
	text, err := Decode([]byte(given))
	if err != nil || countLines(text.Body) > n+1 {
		return Window{}, false
	}
	dirty, ok := o.compareWindow(ctx, p, text.Body, first, n)
	if !ok {
		return Window{}, false
	}
	o.noteKnown(p)
	w := Window{Path: p.name, Real: p.real, First: first, Total: -1, Dirty: dirty, NotUTF8: text.NotUTF8}
	w.Text, w.More = cutLines(text.Body, 1, n)
	return w, true
}

// compareWindow holds what the editor gave against the same lines on disk. It is
// false when the editor seems to have counted from the beginning instead, and when
// there is nothing to compare with.
func (o *Operator) compareWindow(ctx context.Context, p place, given string, first, n int) (dirty, ok bool) {
	data, err := o.disk.Read(ctx, p.name)
	if err != nil {
		return false, false
	}
	disk, err := Decode(data)
	if err != nil || disk.NotUTF8 || disk.Encoding != UTF8 {
		return false, false
	}
	same := func(first int) bool {
		lines, _ := cutLines(disk.Body, first, n+1)
		return sameText(strings.TrimSuffix(lines, "\n"), strings.TrimSuffix(given, "\n"))
	}
	if same(first) {
		return false, true
	}
	return true, first == 1 || !same(1)
}

// mayHave tells whether an editor's text of a file may be one that the disk has
// left behind.
func (b *behindBuffers) mayHave(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.files[key]
	return ok
}

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// cutLines gives up to n lines from line first on, counted from 1, and whether there
// are more.
func cutLines(text string, first, n int) (lines string, more bool) {
	for range first - 1 {
		_, rest, found := strings.Cut(text, "\n")
		if !found {
			return "", false
		}
		text = rest
	}
	end := 0
	for range n {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return text, false
		}
		end += i + 1
	}
	return text[:end], end < len(text)
}
