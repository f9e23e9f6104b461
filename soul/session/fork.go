package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"kimi-acp/internal/uuid"
)

// forkPrefix stands before the title of a fork, as kimi-cli has it.
const forkPrefix = "Fork: "

// Fork makes a session of a work dir, an absolute path, that begins with all that
// another session holds: its history, its recording, the caller's options and what
// was set aside. Settings are not taken over. The other session stays as it is, and
// may be open; the caller sees to it that no turn of it runs. An ErrNotFound says
// that there is none of that id.
func (st *Store) Fork(from, workDir string) (*Session, error) {
	s, err := st.fork(from, workDir)
	if err != nil {
		return nil, fmt.Errorf("forking session %q: %w", from, err)
	}
	return s, nil
}

func (st *Store) fork(from, workDir string) (*Session, error) {
	workDir, err := cleanWorkDir(workDir)
	if err != nil {
		return nil, err
	}
	return existing(st, from, func(root *os.Root) (*Session, error) { return st.forkIn(root, from, workDir) })
}

func (st *Store) forkIn(root *os.Root, from, workDir string) (*Session, error) {
	found, err := st.find(root, from)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, ErrNotFound
	}
	source := found[0]
	for _, c := range found[1:] {
		if c.compare(source) < 0 {
			source = c
		}
	}
	theirs, err := openFolder(root, false, sessionsName, source.dir, from)
	if err != nil {
		return nil, err
	}
	defer func() { _ = theirs.Close() }() // it was only read
	s, err := st.createIn(root, workDir, uuid.New())
	if err != nil {
		return nil, err
	}
	s.settle()
	s.settle = nil
	if err := s.takeOver(root, rootFolder{theirs}, from); err != nil {
		id := s.ID()
		return nil, errors.Join(err, s.Close(), st.deleteIn(root, id))
	}
	return s, nil
}

// takeOver fills a new session with what another one holds.
func (s *Session) takeOver(root *os.Root, theirs folder, from string) error {
	s.mu.Lock()
	_, err := s.replace(func(w io.Writer) error { return copyFile(w, theirs, contextName) })
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if err := s.takeOverRecording(theirs); err != nil {
		return err
	}
	if own, err := openFolder(root, false, oursName, sessionsName, from); err == nil {
		// What is ours is missed by nobody: without it less is shown.
		_ = copyTo(s.ours, rootFolder{own}, optionsName)
		_ = copyTo(s.ours, rootFolder{own}, asidesName)
		_ = own.Close()
	}
	d, _ := describe(theirs) // what cannot be read has no title
	return s.UpdateState(func(st *State) {
		st.CustomTitle = shorten(forkPrefix+d.title, maxTitle)
		st.TitleGenerated = true
	})
}

// takeOverRecording copies what was recorded up to the end of the last whole turn.
func (s *Session) takeOverRecording(theirs folder) error {
	f, err := theirs.OpenFile(wireName, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	var end int64
	if err == nil {
		end, err = endOfTurns(io.NewSectionReader(f, 0, info.Size()))
	}
	if err == nil && end > 0 {
		err = replaceFile(s.dir, wireName, wireName+".tmp", func(w io.Writer) error {
			_, err := io.Copy(w, io.NewSectionReader(f, 0, end))
			return err
		})
	}
	return errors.Join(err, f.Close())
}

// endOfTurns is the offset behind the last end of a turn in a recording.
func endOfTurns(r io.Reader) (end int64, err error) {
	lines := newLineReader(r, 0)
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			return end, nil
		}
		if err != nil {
			return 0, err
		}
		// A text that says the same is escaped, or it is no line of its own.
		if l.ended && bytes.HasSuffix(l.text, []byte(`"message": {"type": "TurnEnd", "payload": {}}}`)) {
			end = l.at + l.size
		}
	}
}

// copyTo copies a file from one folder to another; one that is not there is left out.
func copyTo(to, from folder, name string) error {
	if _, err := from.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return replaceFile(to, name, name+".tmp", func(w io.Writer) error { return copyFile(w, from, name) })
}

func copyFile(w io.Writer, from folder, name string) error {
	f, err := from.OpenFile(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = io.Copy(w, io.NewSectionReader(f, 0, info.Size()))
	}
	return errors.Join(err, f.Close())
}
