package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

const (
	optionsName = "options.json"
	originName  = "session.json"
	maxOptions  = 1 << 20 // bytes
)

// Options gives what SetOptions kept, nil when there is nothing that can be read.
func (s *Session) Options() json.RawMessage {
	data, err := readFile(s.ours, optionsName, maxOptions)
	if err != nil || !json.Valid(data) {
		return nil
	}
	return data
}

// SetOptions keeps the caller's own settings of the session, such as its model:
// any JSON of at most 1 MiB, beside kimi-cli's files.
func (s *Session) SetOptions(options json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return writeOptions(s.ours, options)
}

// SetOptions is Session.SetOptions for a session that is not open. One that somebody
// has open is an ErrInUse, one that is not there an ErrNotFound.
func (st *Store) SetOptions(id string, options json.RawMessage) error {
	if err := st.setOptions(id, options); err != nil {
		return fmt.Errorf("session %q: %w", id, err)
	}
	return nil
}

func (st *Store) setOptions(id string, options json.RawMessage) error {
	if err := checkID(id); err != nil {
		return err
	}
	root, err := os.OpenRoot(st.share)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	if err != nil {
		return err
	}
	ours, err := openFolder(root, false, oursName, sessionsName, id)
	switch err = errors.Join(err, root.Close()); {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotFound
	case err != nil:
		return err
	}
	lock, _, err := acquire(ours)
	if err != nil {
		return errors.Join(err, ours.Close())
	}
	err = writeOptions(st.wrap(rootFolder{ours}), options)
	return errors.Join(err, lock.Close(), ours.Close())
}

func writeOptions(ours folder, options json.RawMessage) error {
	switch {
	case len(options) > maxOptions:
		return fmt.Errorf("the options of the session take %d bytes, more than %d", len(options), maxOptions)
	case !json.Valid(options):
		return errors.New("the options of the session are not JSON")
	}
	if err := replaceFile(ours, optionsName, optionsName+".tmp", contents(options)); err != nil {
		return fmt.Errorf("writing the options of the session: %w", err)
	}
	return nil
}

// writeOrigin notes the work dir of a session, for when kimi.json is lost.
func writeOrigin(ours folder, workDir string) error {
	o := object{'{'}
	o.string("work_dir", workDir)
	err := writeLoosely(ours, originName, func(f file) error { return contents(append(o.end(), '\n'))(f) })
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// readOrigin gives the work dir of a session, if it is that of a folder.
func readOrigin(ours folder, dirName string) string {
	data, err := readFile(ours, originName, maxOptions)
	if err != nil {
		return ""
	}
	var in struct {
		WorkDir string `json:"work_dir"`
	}
	if json.Unmarshal(data, &in) != nil || folderOf(in.WorkDir) != dirName {
		return ""
	}
	return in.WorkDir
}
