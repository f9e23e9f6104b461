package session

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Prompts are files beside a session, in which prompts are kept until they run. The zero
// value is nowhere: it holds nothing, and writing fails. It is used by the session's one
// writer.
type Prompts struct{ dir string }

// Prompts are those beside this session. Nothing is made before the first is written.
func (s *Session) Prompts() Prompts { return Prompts{filepath.Join(s.OwnDir(), "queue")} }

// Names lists what is there, in the order of the names; nil when it cannot be listed.
func (p Prompts) Names() []string {
	if p.dir == "" {
		return nil
	}
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return nil // nearly always there is no such folder
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Read gives the prompt of a name, of at most so many bytes.
func (p Prompts) Read(name string, most int64) (json.RawMessage, error) {
	path := filepath.Join(p.dir, name)
	info, err := os.Lstat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > most) {
		err = fmt.Errorf("%s is no file of at most %d bytes", name, most)
	}
	var raw []byte
	if err == nil {
		raw, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("reading a prompt that waits: %w", err)
	}
	return raw, nil
}

// Write keeps a prompt under a name: whole or not at all, and for the user alone.
func (p Prompts) Write(name string, prompt json.RawMessage) error {
	path := filepath.Join(p.dir, name)
	err := os.MkdirAll(p.dir, 0o700)
	if err == nil {
		err = os.WriteFile(path+".new", prompt, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("keeping a prompt that waits: %w", err)
	}
	return nil
}

// Remove forgets the prompt of a name.
func (p Prompts) Remove(name string) error {
	if err := os.Remove(filepath.Join(p.dir, name)); err != nil {
		return fmt.Errorf("forgetting a prompt that waited: %w", err)
	}
	return nil
}
