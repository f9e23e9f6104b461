package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"sync"

	"kimi-acp/soul/wire"
)

const wireName = "wire.jsonl"

// Wire is the view that records to wire.jsonl: attach it to the merged stream of
// the session's Wire. There is one, however often it is asked for. A message that
// has no form ends the recording of its turn, a failure to write ends all of it;
// Err tells of either.
func (s *Session) Wire() wire.View { return s.record }

// recording appends what it receives to wire.jsonl, which is made when there is
// something to write.
type recording struct {
	dir folder

	mu       sync.Mutex
	recorder *wire.Recorder
	log      *log
	failed   error // the first failure
	ended    bool  // nothing is recorded any more
}

func newRecording(dir folder) *recording { return &recording{dir: dir} }

// Receive records a message. The end of a turn outlasts a crash of the machine.
func (r *recording) Receive(m wire.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || wire.Local(m) {
		return
	}
	if r.recorder == nil {
		if err := r.open(); err != nil {
			r.fail(fmt.Errorf("opening the recording: %w", err))
			r.ended = true
			return
		}
	}
	r.recorder.Receive(m)
	if _, ok := m.(wire.TurnEnd); ok {
		r.log.sync()
	}
	if r.log.failed != nil {
		r.fail(r.log.failed)
		r.ended = true
	}
}

func (r *recording) fail(err error) {
	if r.failed == nil {
		r.failed = err
	}
}

// open begins to record. Others may append to the same file, and do.
func (r *recording) open() error {
	log, err := openLog(r.dir, wireName, true)
	if err != nil {
		return err
	}
	r.log = log
	r.recorder = wire.NewRecorder(appender{log}, wire.Recording{
		Empty:  log.size == 0,
		Failed: r.fail,
	})
	return nil
}

func (r *recording) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *recording) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.log == nil {
		return nil
	}
	return r.log.file.Close()
}

// appender is a log as a writer of whole lines.
type appender struct{ log *log }

func (a appender) Write(lines []byte) (int, error) {
	if _, err := a.log.append(lines, false); err != nil {
		return 0, err
	}
	return len(lines), nil
}

// Replay gives what wire.jsonl holds, in order: what stood in it when the replay
// began. What it leaves out it counts, in a *GapError that comes last, with a nil
// message. Any other error ends the replay.
func (s *Session) Replay() iter.Seq2[wire.Message, error] {
	return func(yield func(wire.Message, error) bool) {
		gap := &GapError{}
		err := eachRecorded(s.dir, func(message []byte) bool {
			if m, ok := decodePlainWire(message); ok {
				return yield(m, nil)
			}
			m, err := wire.Decode(message)
			var unknown *wire.UnknownTypeError
			switch {
			case err == nil:
				return yield(m, nil)
			case errors.As(err, &unknown):
				gap.Unknown++
			default:
				gap.Unreadable++
			}
			return true
		}, func() { gap.Unreadable++ })
		switch {
		case errors.Is(err, errStopped):
		case err != nil:
			yield(nil, fmt.Errorf("reading the recording: %w", err))
		case *gap != GapError{}:
			yield(nil, gap)
		}
	}
}

// errStopped says that a reader wanted no more.
var errStopped = errors.New("stopped")

// eachRecorded gives the messages of a wire.jsonl, encoded and valid until the next
// one, until take returns false. Lines that hold none, but for headers, are bad.
func eachRecorded(dir folder, take func(message []byte) bool, bad func()) error {
	f, err := dir.OpenFile(wireName, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		err = eachLine(newLineReader(io.NewSectionReader(f, 0, info.Size()), 0), take, bad)
	}
	return errors.Join(err, f.Close())
}

func eachLine(lines *lineReader, take func(message []byte) bool, bad func()) error {
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(l.text)) == 0 {
			continue
		}
		message, header := recorded(l.text)
		switch {
		case header:
		case message == nil || l.long:
			bad()
		case !take(message):
			return errStopped
		}
	}
}

// recorded takes a line apart: the message in it, or that it is a header. Both are
// zero when it is neither.
func recorded(text []byte) (message []byte, header bool) {
	if message, ok := recordedPlain(text); ok && json.Valid(message) {
		return message, false
	}
	var in struct {
		Version *string         `json:"protocol_version"`
		Message json.RawMessage `json:"message"`
	}
	if json.Unmarshal(text, &in) != nil {
		fixed, ok := escapeControls(text)
		if !ok || json.Unmarshal(fixed, &in) != nil {
			return nil, false
		}
	}
	if len(in.Message) == 0 {
		return nil, in.Version != nil
	}
	return in.Message, false
}
