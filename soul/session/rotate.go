package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Rotate begins the history anew: what it was becomes context_N.jsonl, and
// context.jsonl is empty. The system prompt is to be written again.
func (s *Session) Rotate() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rotate(0)
}

// RevertTo goes back to what the history was before a checkpoint was written; all
// of it becomes context_N.jsonl. Restored tells what the history is then. An
// ErrNoCheckpoint changes nothing.
func (s *Session) RevertTo(checkpoint int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return err
	}
	keep, err := s.find(checkpoint)
	if err != nil {
		return err
	}
	return s.rotate(keep)
}

// writable tells why the history cannot be written.
func (s *Session) writable() error {
	switch {
	case s.closed:
		return ErrClosed
	case s.context.failed != nil:
		return s.context.failed
	}
	return s.context.check()
}

// find gives the offset at which a checkpoint's line begins.
func (s *Session) find(checkpoint int) (int64, error) {
	lines := newLineReader(io.NewSectionReader(s.context.file, 0, s.context.size), 0)
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("checkpoint %d: %w", checkpoint, ErrNoCheckpoint)
		}
		if err != nil {
			return 0, fmt.Errorf("looking for checkpoint %d: %w", checkpoint, err)
		}
		if l.long {
			continue
		}
		if r, err := decodeRecord(l.text); err == nil && r.role == roleCheckpoint && r.number == checkpoint {
			return l.at, nil
		}
	}
}

// rotate keeps the first bytes of the history, and a copy of all of it under the
// next free name. It is a copy so that context.jsonl is whole at any time.
func (s *Session) rotate(keep int64) error {
	return s.rotateTo(func(w io.Writer) error { return s.copyHistory(w, keep) })
}

// rotateTo copies the history away and puts another one in its place.
func (s *Session) rotateTo(write func(io.Writer) error) error {
	if err := s.writable(); err != nil {
		return err
	}
	name, err := s.copyAway()
	if err != nil {
		return fmt.Errorf("keeping the old history: %w", err)
	}
	replaced, err := s.replace(write)
	if !replaced {
		_ = s.dir.Remove(name) // the history is as it was, and needs no copy
	}
	if err != nil {
		return fmt.Errorf("beginning the history anew: %w", err)
	}
	return nil
}

// copyAway copies the history to the next free context_N.jsonl.
func (s *Session) copyAway() (name string, err error) {
	n, err := rotationsIn(s.dir)
	if err != nil {
		return "", err
	}
	for range 100 { // others may take a name in between
		n++
		name = rotatedName(n)
		err = writeNew(s.dir, name, func(w io.Writer) error { return s.copyHistory(w, s.context.size) })
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return name, err
}

// copyHistory writes the first bytes of the history.
func (s *Session) copyHistory(w io.Writer, size int64) error {
	f, err := s.dir.OpenFile(contextName, os.O_RDONLY)
	if err != nil {
		return err
	}
	n, err := io.Copy(w, io.NewSectionReader(f, 0, size))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(err, f.Close())
}

// prepend puts a line before the history.
func (s *Session) prepend(line []byte) error {
	if err := s.writable(); err != nil {
		return err
	}
	size := s.context.size
	_, err := s.replace(func(w io.Writer) error {
		if _, err := w.Write(line); err != nil {
			return err
		}
		return s.copyHistory(w, size)
	})
	if err != nil {
		return fmt.Errorf("writing the system prompt: %w", err)
	}
	return nil
}

// replace puts another history in the place of this one and reads it. Unless it was
// replaced, the old one is there and goes on. What cannot be read is given up.
func (s *Session) replace(write func(io.Writer) error) (replaced bool, err error) {
	// A file that is open cannot be replaced everywhere, and sums tell of one file.
	err = s.context.file.Close()
	s.context.file = nil
	if s.sums != nil {
		_ = s.sums.file.Close()
		s.sums = nil
	}
	if gone := s.ours.Remove(sumsName); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	if err == nil {
		err = replaceFile(s.dir, contextName, "context.tmp", write)
		replaced = err == nil
	}
	if replaced {
		s.underway.forget()
	}
	if loading := s.load(notes{}); loading != nil {
		s.lose(loading)
		err = errors.Join(err, loading)
	}
	return replaced, err
}

// lose gives the history up.
func (s *Session) lose(err error) {
	if s.context != nil && s.context.file != nil {
		_ = s.context.file.Close() // nothing can be written to it anyway
	}
	s.context = &log{failed: err}
}

// rotationsIn is the number of the newest context_N.jsonl, 0 when there is none.
func rotationsIn(dir folder) (int, error) {
	names, err := dir.Names()
	newest := 0
	for _, name := range names {
		number := strings.TrimSuffix(strings.TrimPrefix(name, "context_"), ".jsonl")
		if n, err := strconv.Atoi(number); err == nil && n < maxNumber && name == rotatedName(n) {
			newest = max(newest, n)
		}
	}
	return newest, err
}

func rotatedName(n int) string { return "context_" + strconv.Itoa(n) + ".jsonl" }
