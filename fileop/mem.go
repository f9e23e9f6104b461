package fileop

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
)

// Mem is a Store in memory, for tests and for dry runs. Its roots are judged by
// name alone; it knows no links, no modes and no empty directories.
type Mem struct {
	folders folders

	mu    sync.Mutex
	files map[string][]byte
}

var (
	_ Store = (*Mem)(nil)
	_ Mover = (*Mem)(nil)
)

// NewMem makes an empty store under the given absolute roots.
func NewMem(roots ...string) *Mem {
	m := &Mem{files: map[string][]byte{}}
	for _, r := range roots {
		r = filepath.Clean(r)
		m.folders = append(m.folders, folder{name: r, real: r})
	}
	return m
}

// Read implements Store.
func (m *Mem) Read(ctx context.Context, path string) ([]byte, error) {
	name, err := m.place(ctx, path)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.regular(name); err != nil {
		return nil, err
	}
	data, ok := m.files[name]
	if !ok {
		return nil, missing(name)
	}
	return bytes.Clone(data), nil
}

// Write implements Store.
func (m *Mem) Write(ctx context.Context, path string, data []byte) error {
	return m.write(ctx, path, data, nil)
}

// Replace implements Replacer.
func (m *Mem) Replace(ctx context.Context, path string, old [sha256.Size]byte, data []byte) error {
	expected := digest(old)
	return m.write(ctx, path, data, &expected)
}

func (m *Mem) write(ctx context.Context, path string, data []byte, expected *digest) error {
	name, err := m.place(ctx, path)
	if err != nil {
		return err
	}
	if len(data) > MaxFile {
		return &SizeError{Path: name, Size: int64(len(data)), Max: MaxFile}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.regular(name); err != nil {
		return err
	}
	if expected != nil && digestOf(m.files[name]) != *expected {
		return fmt.Errorf("%s %w", name, ErrStale)
	}
	m.files[name] = append([]byte{}, data...)
	return nil
}

// Remove implements Store.
func (m *Mem) Remove(ctx context.Context, path string) error { return m.remove(ctx, path, nil) }

// Discard implements Replacer.
func (m *Mem) Discard(ctx context.Context, path string, old [sha256.Size]byte) error {
	expected := digest(old)
	return m.remove(ctx, path, &expected)
}

func (m *Mem) remove(ctx context.Context, path string, expected *digest) error {
	name, err := m.place(ctx, path)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.regular(name); err != nil {
		return err
	}
	data, ok := m.files[name]
	if !ok {
		return missing(name)
	}
	if expected != nil && digestOf(data) != *expected {
		return fmt.Errorf("%s %w", name, ErrStale)
	}
	delete(m.files, name)
	return nil
}

// Move implements Mover.
func (m *Mem) Move(ctx context.Context, from, to string) error {
	a, err := m.place(ctx, from)
	if err != nil {
		return err
	}
	b, err := m.place(ctx, to)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(m.regular(a), m.regular(b)); err != nil {
		return err
	}
	data, ok := m.files[a]
	if !ok {
		return missing(a)
	}
	if _, taken := m.files[b]; taken {
		return fmt.Errorf("%s: %w", b, fs.ErrExist)
	}
	delete(m.files, a)
	m.files[b] = data
	return nil
}

func (m *Mem) place(ctx context.Context, path string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	name, err := m.folders.clean(path)
	if err != nil {
		return "", err
	}
	if _, _, ok := m.folders.named(name); !ok {
		return "", m.folders.outside(name, name)
	}
	return name, nil
}

// regular refuses a name that is a directory by the files below it, a root, or
// below a file. The caller holds the lock.
func (m *Mem) regular(name string) error {
	for _, f := range m.folders {
		if f.name == name {
			return fmt.Errorf("%s: %w but a directory", name, ErrNotRegular)
		}
	}
	for other := range m.files {
		if strings.HasPrefix(other, name+string(filepath.Separator)) {
			return fmt.Errorf("%s: %w but a directory", name, ErrNotRegular)
		}
		if strings.HasPrefix(name, other+string(filepath.Separator)) {
			return fmt.Errorf("%s: %w: a part of the path is a file", name, ErrNotRegular)
		}
	}
	return nil
}
