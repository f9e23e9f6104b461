package fileop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
)

// maxJournalLine bounds a line of a journal, in bytes. An action takes far less.
const maxJournalLine = 1 << 20

// journalFile writes the records of a journal: an action's state, one a line.
type journalFile struct {
	w         io.Writer
	torn      bool       // the last line has no end
	unwritten []ActionID // whose latest state is still to be written, in order
}

// journalRecord is a line of the file. The sum is that of the action's bytes.
type journalRecord struct {
	Sum    string          `json:"crc32c"`
	Action json.RawMessage `json:"action"`
}

func encodeAction(a *TaskAction) ([]byte, error) {
	action, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	line := fmt.Appendf(nil, `{"crc32c":"%s","action":`, sumOf(action))
	return append(append(line, action...), "}\n"...), nil
}

// decodeAction reads a line without its end.
func decodeAction(line []byte) (*TaskAction, error) {
	var r journalRecord
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, err
	}
	if sumOf(r.Action) != r.Sum {
		return nil, errors.New("its sum is wrong")
	}
	var a TaskAction
	if err := json.Unmarshal(r.Action, &a); err != nil {
		return nil, err
	}
	if _, ok := a.number(); !ok || a.Path == "" || a.State == "" {
		return nil, errors.New("it is not an action")
	}
	return &a, nil
}

func sumOf(data []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
}

// number is that of the action's id.
func (a *TaskAction) number() (int, bool) {
	if len(a.ID) < 2 || a.ID[0] != 'a' {
		return 0, false
	}
	n, err := strconv.Atoi(string(a.ID[1:]))
	return n, err == nil && n > 0
}

// flush writes what is unwritten, a Write for each record. What fails stays and is
// written before the next one, on a line of its own; Health tells. With sync, what was
// written outlasts a crash of the machine. The caller holds the lock.
func (j *Journal) flush(sync bool) {
	err := j.writeAll()
	if s, ok := j.file.w.(interface{ Sync() error }); ok && err == nil && sync {
		err = s.Sync()
	}
	if err != nil {
		err = fmt.Errorf("writing the journal of changes: %w", err)
	}
	j.failure = err
}

func (j *Journal) writeAll() error {
	for len(j.file.unwritten) > 0 {
		if a, ok := j.actions[j.file.unwritten[0]]; ok {
			line, err := encodeAction(a)
			if err != nil {
				return err
			}
			if err := j.file.write(line); err != nil {
				return err
			}
		}
		j.file.unwritten = slices.Delete(j.file.unwritten, 0, 1)
	}
	return nil
}

func (f *journalFile) write(line []byte) error {
	if f.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := f.w.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if n > 0 {
		f.torn = line[n-1] != '\n'
	}
	return err
}

// load takes over what an old journal holds: of each action the latest state.
func (j *Journal) load(old io.Reader) error {
	r := bufio.NewReaderSize(old, 64<<10)
	for {
		line, ended, err := readJournalLine(r)
		if err != nil {
			return err
		}
		if len(line) > 0 {
			if a, err := decodeAction(line); err != nil {
				j.damaged++
			} else {
				j.index(a)
				n, _ := a.number()
				j.last, j.seq = max(j.last, n), max(j.seq, a.Seq)
			}
		}
		if !ended {
			j.file.torn = len(line) > 0
			return nil
		}
	}
}

// readJournalLine reads a line; one that is too long comes back cut, and so damaged.
func readJournalLine(r *bufio.Reader) (line []byte, ended bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if room := maxJournalLine - len(line); room > 0 {
			line = append(line, part[:min(len(part), room)]...)
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte{'\n'}), true, nil
		case errors.Is(err, io.EOF):
			return line, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}
