package fileop_test

import (
	"context"
	"errors"
	"testing"

	"kimi-acp/fileop"
	"kimi-acp/fileop/storetest"
)

// TestBytesOutside runs the suite on memory, on disk, and under an editor that reads.
// An editor that writes speaks text, so what it makes of other encodings is its own.
func TestBytesOutside(t *testing.T) {
	stores := map[string]func(*testing.T, string) fileop.Store{
		"memory": func(_ *testing.T, root string) fileop.Store { return fileop.NewMem(root) },
		"disk":   func(t *testing.T, root string) fileop.Store { return openDisk(t, root) },
	}
	for name, open := range stores {
		for _, reads := range []bool{false, true} {
			t.Run(name+map[bool]string{false: "", true: " under an editor"}[reads], func(t *testing.T) {
				storetest.BytesOutside(t, func(t *testing.T) storetest.Workspace {
					root := t.TempDir()
					disk := open(t, root)
					editor := decodes{disk: disk}
					return storetest.Workspace{Store: disk, Root: root, KnownOnly: reads, Operator: fileop.New(fileop.Options{
						Disk: disk, Editor: editor, EditorReads: reads, Roots: []string{root},
					})}
				})
			})
		}
	}
}

// decodes is an editor that shows a file's text, whatever encoding it is in.
type decodes struct{ disk fileop.Store }

func (e decodes) Read(ctx context.Context, path string) ([]byte, error) {
	data, err := e.disk.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	text, err := fileop.Decode(data)
	return []byte(text.Body), err
}

func (e decodes) Write(context.Context, string, []byte) error { return errors.ErrUnsupported }
func (e decodes) Remove(context.Context, string) error        { return errors.ErrUnsupported }
