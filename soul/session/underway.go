package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"kimi-acp/soul/llm"
)

const (
	underwayName = "step.jsonl"
	maxDid       = 8 << 20   // bytes of what is kept of one result
	maxUnderway  = 256 << 20 // bytes that are read
)

// underway keeps a step whose tools run, since the history takes steps whole: an answer,
// and the results as they come. It stands beside kimi-cli's files and counts only as
// long as the history ends where it did when the tools were started. It is not synced,
// and what cannot be kept of it is missed only where the program is killed.
type underway struct {
	file file // nil: not opened yet
	some bool // there is something in it
}

// underwayHead is the first line of the file.
type underwayHead struct {
	At int64 `json:"at"` // the size of the history
}

// BeginStep keeps an answer whose tools are about to run, until AppendStep. When the
// program ends before that, the next opening has it in its history, with the results
// that StepDid has kept by then.
func (s *Session) BeginStep(answer llm.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return err
	}
	head, err := json.Marshal(underwayHead{s.context.size})
	if err != nil {
		return fmt.Errorf("keeping a step: %w", err)
	}
	lines, err := appendMessage(append(head, '\n'), answer)
	if err == nil && s.underway.file == nil {
		s.underway.file, err = s.ours.OpenFile(underwayName, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	}
	if err == nil {
		err = s.underway.file.Truncate(0)
	}
	if err == nil {
		s.underway.some = true
		_, err = s.underway.file.Write(lines)
	}
	if err != nil {
		return fmt.Errorf("keeping a step: %w", err)
	}
	return nil
}

// StepDid keeps the result of one of the step's calls. It may be called side by side. A
// result of more than 8 MiB is not kept.
func (s *Session) StepDid(result llm.Message) error {
	line, err := appendMessage(nil, result)
	if err != nil {
		return fmt.Errorf("keeping a result: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.underway.some || s.closed || len(line) > maxDid {
		return nil
	}
	if _, err := s.underway.file.Write(line); err != nil {
		return fmt.Errorf("keeping a result: %w", err)
	}
	return nil
}

// settle forgets the step, which is in the history now.
func (u *underway) settle() {
	if u.some {
		u.some = false
		// When it stays, it belongs to a history that ended elsewhere.
		_ = u.file.Truncate(0)
	}
}

func (u *underway) close() error {
	if u.file == nil {
		return nil
	}
	return u.file.Close() // a step that did not end stays
}

// unfinished gives the step at which the program ended, as lines of the history: a
// message of the model, and the results that are there. It is nil when there is none.
func (s *Session) unfinished() ([]line, error) {
	f, err := s.ours.OpenFile(underwayName, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines, err := readUnderway(f, s.context.size)
	return lines, errors.Join(err, f.Close())
}

func readUnderway(f file, at int64) ([]line, error) {
	reader := newLineReader(io.NewSectionReader(f, 0, maxUnderway), 0)
	var all []line
	for {
		l, err := reader.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if l.number == 1 {
			var head underwayHead
			if json.Unmarshal(l.text, &head) != nil || head.At != at {
				return nil, nil
			}
			continue
		}
		if !l.ended || l.long {
			break
		}
		role := string(llm.RoleTool)
		if len(all) == 0 {
			role = string(llm.RoleAssistant)
		}
		if r, err := decodeRecord(l.text); err != nil || r.role != role {
			break
		}
		l.text = bytes.Clone(l.text)
		all = append(all, l)
	}
	return all, nil
}
