package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
	switch {
	case s.closed:
		return ErrClosed
	case len(options) > maxOptions:
		return fmt.Errorf("the options of the session take %d bytes, more than %d", len(options), maxOptions)
	case !json.Valid(options):
		return errors.New("the options of the session are not JSON")
	}
	if err := replaceFile(s.ours, optionsName, optionsName+".tmp", contents(options)); err != nil {
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
