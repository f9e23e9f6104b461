package tool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kimi-acp/fileop"
	"kimi-acp/soul/wire"
)

// buffers is an editor that holds texts which are not saved; what it does not hold
// it reads from the disk.
type buffers struct {
	disk  fileop.Store
	mu    sync.Mutex
	texts map[string]string
}

func (b *buffers) Read(ctx context.Context, path string) ([]byte, error) {
	b.mu.Lock()
	text, ok := b.texts[path]
	b.mu.Unlock()
	if ok {
		return []byte(text), nil
	}
	return b.disk.Read(ctx, path)
}

func (b *buffers) Write(context.Context, string, []byte) error { return errors.ErrUnsupported }
func (b *buffers) Remove(context.Context, string) error        { return errors.ErrUnsupported }

// place is a workspace on disk with an editor over it.
type place struct {
	*world
	root   string
	editor *buffers
	op     *fileop.Operator
}

func newPlace(t *testing.T, files map[string]string, change func(*Options)) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, root, files)
	disk, err := fileop.OpenDisk(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := disk.Close(); err != nil {
			t.Error(err)
		}
	})
	p := &place{root: root, editor: &buffers{disk: disk, texts: map[string]string{}}}
	p.op = fileop.New(fileop.Options{Disk: disk, Editor: p.editor, EditorReads: true, Roots: []string{root}})
	p.world = newWorld(t, func(o *Options) {
		o.Operator, o.Cwd = p.op, root
		if change != nil {
			change(o)
		}
	})
	return p
}

func writeFiles(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// open is the user opening a file and typing without saving; the session gets to
// know of it by a read.
func (p *place) open(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.root, filepath.FromSlash(name))
	p.editor.mu.Lock()
	p.editor.texts[path] = text
	p.editor.mu.Unlock()
	if _, err := p.op.Read(p.t.Context(), path); err != nil {
		p.t.Fatal(err)
	}
}

// ok is a call that must succeed.
func (p *place) ok(name, args string) wire.ToolReturnValue {
	p.t.Helper()
	v := p.call(p.t.Context(), "1", name, args)
	if v.IsError {
		p.t.Fatalf("%s %s: %s", name, args, v.Message)
	}
	return v
}

// fails is a call that must fail, with these parts in its message.
func (p *place) fails(name, args string, parts ...string) {
	p.t.Helper()
	v := p.call(p.t.Context(), "1", name, args)
	if !v.IsError {
		p.t.Errorf("%s %s succeeded: %s", name, args, v.Message)
	}
	mustContain(p.t, v.Message, parts...)
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
}

func words(text string) string { return strings.Join(strings.Fields(text), " ") }
