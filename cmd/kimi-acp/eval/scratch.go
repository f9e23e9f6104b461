package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// scratch is the folder of one task: work in it is where the model works.
type scratch struct{ dir string }

// maxWorkFile bounds a file that is read back, in bytes.
const maxWorkFile = 1 << 20

func newScratch(t Task) (s scratch, err error) {
	dir, err := os.MkdirTemp("", "kimi-acp-eval-")
	if err != nil {
		return scratch{}, fmt.Errorf("make a scratch folder: %w", err)
	}
	// The model is told the real path.
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	s = scratch{dir}
	for _, d := range []string{s.work(), s.home()} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return scratch{}, errors.Join(fmt.Errorf("make a scratch folder: %w", err), s.remove())
		}
	}
	for dir, files := range map[string]map[string]string{s.work(): t.work, s.dir: t.beside} {
		for name, text := range files {
			if err := write(filepath.Join(dir, filepath.FromSlash(name)), text); err != nil {
				return scratch{}, errors.Join(err, s.remove())
			}
		}
	}
	return s, nil
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the task's files: %w", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("make the task's files: %w", err)
	}
	return nil
}

func (s scratch) work() string { return filepath.Join(s.dir, "work") }
func (s scratch) home() string { return filepath.Join(s.dir, "home") }

// files reads what is in the working folder.
func (s scratch) files() (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(s.work(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(s.work(), path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if info.Size() > maxWorkFile {
			out[rel] = fmt.Sprintf("(%d bytes)", info.Size())
			return nil
		}
		data, err := os.ReadFile(path)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what the task left: %w", err)
	}
	return out, nil
}

// touched names a file beside the working folder that is not as it was.
func (s scratch) touched(t Task) string {
	for name, text := range t.beside {
		data, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(name)))
		if err != nil || string(data) != text {
			return name
		}
	}
	return ""
}

func (s scratch) remove() error {
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("remove the scratch folder: %w", err)
	}
	return nil
}
