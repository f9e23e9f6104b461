package fileop_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"kimi-acp/fileop"
)

// editor stands for a client that reads and writes files for us. Its fields say how
// it differs from a plain one.
type editor struct {
	disk fileop.Store

	hidesStyle bool                // hands out LF and no byte order mark
	ownStyle   bool                // saves with the mark and line ends the file had
	keepsDirty bool                // takes a text without saving it
	drops      bool                // takes a text and forgets it
	format     func(string) string // runs on every text it takes
	empty      bool                // opens a missing file as an empty one
	refuses    error               // answers every request
	noWrites   error               // answers every write
	onRead     func()
	onWrite    func() error // after a text was taken; its error is the answer

	mu      sync.Mutex
	buffers map[string]string // unsaved texts
	written []string          // what was sent, as it came
}

var _ fileop.Store = (*editor)(nil)

func (e *editor) Read(ctx context.Context, path string) ([]byte, error) {
	if e.onRead != nil {
		e.onRead()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.refuses != nil {
		return nil, e.refuses
	}
	if text, ok := e.buffers[path]; ok {
		return []byte(text), nil
	}
	data, err := e.disk.Read(ctx, path)
	if errors.Is(err, fs.ErrNotExist) && e.empty {
		return nil, nil
	}
	if err == nil && e.hidesStyle {
		data = []byte(plain(string(data)))
	}
	return data, err
}

func (e *editor) Write(ctx context.Context, path string, data []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.refuses != nil {
		return e.refuses
	}
	if e.noWrites != nil {
		return e.noWrites
	}
	e.written = append(e.written, string(data))
	text := string(data)
	if e.format != nil {
		text = e.format(text)
	}
	if e.keepsDirty {
		e.put(path, text)
		return nil
	}
	if e.ownStyle {
		old, err := e.disk.Read(ctx, path)
		if err == nil && strings.HasPrefix(string(old), "\ufeff") {
			text = "\ufeff" + text
		}
	}
	delete(e.buffers, path)
	if e.drops {
		return nil
	}
	if err := e.disk.Write(ctx, path, []byte(text)); err != nil || e.onWrite == nil {
		return err
	}
	return e.onWrite()
}

func (e *editor) Remove(context.Context, string) error { return errors.ErrUnsupported }

// edit is the user typing without saving.
func (e *editor) edit(path, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.put(path, text)
}

func (e *editor) put(path, text string) {
	if e.buffers == nil {
		e.buffers = map[string]string{}
	}
	e.buffers[path] = text
}

func plain(s string) string {
	return strings.ReplaceAll(strings.TrimPrefix(s, "\ufeff"), "\r\n", "\n")
}

// desk is a root with a disk in memory, an editor over it and an operator.
type desk struct {
	*testing.T
	root   string
	path   string // a file in it
	disk   *fileop.Mem
	editor *editor
	op     *fileop.Operator
}

// way says what the editor offers.
type way struct{ reads, writes bool }

var ways = map[string]way{
	"disk only":   {},
	"reads only":  {reads: true},
	"writes only": {writes: true},
	"both":        {reads: true, writes: true},
}

func newDesk(t *testing.T, w way) *desk {
	root := t.TempDir()
	disk := fileop.NewMem(root)
	d := &desk{T: t, root: root, path: root + "/file.txt", disk: disk, editor: &editor{disk: disk}}
	d.op = fileop.New(fileop.Options{
		Disk: disk, Editor: d.editor, EditorReads: w.reads, EditorWrites: w.writes, Roots: []string{root},
	})
	return d
}

func (d *desk) save(text string) {
	d.Helper()
	if err := d.disk.Write(d.Context(), d.path, []byte(text)); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) wantDisk(text string) {
	d.Helper()
	got, err := d.disk.Read(d.Context(), d.path)
	if err != nil {
		d.Fatal(err)
	}
	if string(got) != text {
		d.Errorf("the disk holds %q, want %q", got, text)
	}
}

func (d *desk) plan(e fileop.Edit) fileop.Change {
	d.Helper()
	e.Path = d.path
	c, err := d.op.Plan(d.Context(), e)
	if err != nil {
		d.Fatal(err)
	}
	return c
}

func (d *desk) commit(c fileop.Change) fileop.Result {
	d.Helper()
	r, err := d.op.Commit(d.Context(), c)
	if err != nil {
		d.Fatal(err)
	}
	return r
}

func content(s string) fileop.Edit { return fileop.Edit{Content: &s} }

func swap(from, to string) fileop.Edit {
	return fileop.Edit{Replace: []fileop.Replacement{{Old: from, New: to}}}
}
