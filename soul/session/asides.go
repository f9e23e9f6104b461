package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

const (
	asidesName    = "asides.jsonl"
	maxAside      = 8 << 20   // bytes of one
	maxAsidesFile = 512 << 20 // bytes of all; further ones are refused
)

// asides keeps what kimi-cli's files have no place for, under keys, beside them. What
// stands there completes the recording and is missed by nobody who lacks it, so it is
// not synced, and a damaged line is a missing one.
type asides struct {
	dir folder

	mu     sync.Mutex
	log    *log
	index  map[string]asidePlace // nil until something is looked for
	reader file
}

// asidePlace is a line's place.
type asidePlace struct {
	at   int64
	size int
}

// asideLine is a line of the file. Key comes first: the index reads no further.
type asideLine struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
}

// SetAside keeps a value of at most 8 MiB of JSON under a key, beside kimi-cli's
// files. A later value of the same key replaces it; one that is known to stand there
// already, since something was looked for, is not written again. An error loses that
// value alone.
func (s *Session) SetAside(key string, value any) error {
	raw, err := json.Marshal(value)
	if err == nil && len(raw) > maxAside {
		err = fmt.Errorf("it takes %d bytes, more than %d", len(raw), maxAside)
	}
	var line []byte
	if err == nil {
		line, err = json.Marshal(asideLine{key, raw})
	}
	if err == nil {
		err = s.asides.set(key, append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keeping %q beside the session: %w", key, err)
	}
	return nil
}

// Aside reads what SetAside kept under a key into value, and tells whether there was
// something.
func (s *Session) Aside(key string, value any) bool {
	line, ok := s.asides.get(key)
	if !ok {
		return false
	}
	var in asideLine
	return json.Unmarshal(line, &in) == nil && in.Key == key && json.Unmarshal(in.Value, value) == nil
}

func (a *asides) set(key string, line []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.index != nil {
		if old, ok := a.find(key); ok && bytes.Equal(old, bytes.TrimSuffix(line, []byte{'\n'})) {
			return nil
		}
	}
	if a.log == nil {
		log, err := openLog(a.dir, asidesName, true)
		if err != nil {
			return err
		}
		a.log = log
	}
	if a.log.size+int64(len(line)) > maxAsidesFile {
		return fmt.Errorf("%s is full", asidesName)
	}
	at, err := a.log.append(line, false)
	if err == nil && a.index != nil {
		a.index[key] = asidePlace{at, len(line) - 1}
	}
	return err
}

func (a *asides) get(key string) ([]byte, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.index == nil {
		if err := a.read(); err != nil {
			return nil, false
		}
	}
	return a.find(key)
}

// find gives a line of the index, without its end.
func (a *asides) find(key string) ([]byte, bool) {
	place, ok := a.index[key]
	if !ok {
		return nil, false
	}
	if a.reader == nil { // the file was made after the index
		f, err := a.dir.OpenFile(asidesName, os.O_RDONLY)
		if err != nil {
			return nil, false
		}
		a.reader = f
	}
	line := make([]byte, place.size)
	if _, err := a.reader.ReadAt(line, place.at); err != nil {
		return nil, false
	}
	return line, true
}

// read makes the index. The file stays open for what is looked for next.
func (a *asides) read() error {
	f, err := a.dir.OpenFile(asidesName, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		a.index = map[string]asidePlace{}
		return nil
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	index := map[string]asidePlace{}
	lines := newLineReader(io.NewSectionReader(f, 0, info.Size()), 0)
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(err, f.Close())
		}
		if key, ok := keyOf(l.text); ok && l.ended && !l.long {
			index[key] = asidePlace{l.at, len(l.text)}
		}
	}
	a.index, a.reader = index, f
	return nil
}

// keyOf reads the key at the beginning of a line, and nothing behind it.
func keyOf(text []byte) (key string, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"key":`))
	if !ok {
		return "", false
	}
	key, _, ok = plainString(rest)
	return key, ok
}

func (a *asides) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	if a.log != nil {
		errs = append(errs, a.log.file.Close())
	}
	if a.reader != nil {
		errs = append(errs, a.reader.Close())
	}
	a.log, a.reader, a.index = nil, nil, nil
	return errors.Join(errs...)
}
