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
	dir  folder
	file file // nil: no step is under way in this process
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
	if err == nil {
		err = s.underway.begin(lines)
	}
	if err != nil {
		return fmt.Errorf("keeping a step: %w", err)
	}
	return nil
}

// begin makes the file anew: a handle that can only append cannot empty it everywhere.
func (u *underway) begin(lines []byte) error {
	_ = u.close() // what was not written of an earlier one is of no use any more
	f, err := u.dir.OpenFile(underwayName, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	u.file = f
	_, err = f.Write(lines)
	return err
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
	if s.underway.file == nil || s.closed || len(line) > maxDid {
		return nil
	}
	if _, err := s.underway.file.Write(line); err != nil {
		return fmt.Errorf("keeping a result: %w", err)
	}
	return nil
}

// forget lets go of a step that is in the history now, or was taken back with it. One
// that stays all the same could be taken for the step of a history that has become as
// long again.
func (u *underway) forget() {
	_ = u.close()                  // what was not written is of no use any more
	_ = u.dir.Remove(underwayName) // mostly there is none
}

func (u *underway) close() error {
	if u.file == nil {
		return nil
	}
	f := u.file
	u.file = nil
	return f.Close() // a step that did not end stays
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
