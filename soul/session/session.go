package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"kimi-acp/soul/llm"
)

const contextName = "context.jsonl"

// Session is an open session, and its only writer among the programs that lock. Its
// methods may be called at once.
//
// An append that fails is final: that one and all later ones to the same file give
// the first error and write nothing, so that a file has an end and no gap. The
// caller goes on in memory and says so; see Err.
type Session struct {
	id, workDir, own string
	dir, ours        folder
	held             []io.Closer // let go of in this order
	maxLine          int         // bytes, the bound of what is written

	mu       sync.Mutex
	context  *log
	sums     *log // nil: none are kept
	restored Restored
	mend     []byte // lines that complete the history, to be written before others
	state    State
	closed   bool
	settle   func() // of a new session, before what is written to it can be said to last

	record   *recording // of the Wire
	asides   asides
	underway underway
}

// ID is the session's id.
func (s *Session) ID() string { return s.id }

// WorkDir is the folder that the session belongs to, "" when that is not known.
func (s *Session) WorkDir() string { return s.workDir }

// OwnDir is the absolute path of the folder for what is ours, such as the journal
// of changes. It is there, and only its owner can enter it. The names lock, options.json,
// session.json, asides.jsonl, step.jsonl, context.sums and those that begin with torn- are taken.
func (s *Session) OwnDir() string { return s.own }

// Restored is what context.jsonl held when the session was opened, or was last
// rotated or reverted. The messages are the caller's to read, not to change.
func (s *Session) Restored() Restored {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restored
}

// DropMessages lets go of the messages in Restored, once the caller has them.
func (s *Session) DropMessages() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restored.Messages = nil
}

// Err gives the first failure to write the history or the recording, nil while both
// are kept.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.context.failed, s.record.failure())
}

// AppendSystem writes the system prompt, once: it is frozen until Rotate. A file
// with a history and without a prompt, as old programs left it, is rewritten with
// the prompt in front.
func (s *Session) AppendSystem(prompt string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := appendSystem(nil, prompt)
	switch {
	case s.restored.System != "":
		return errors.New("the session has a system prompt, which does not change")
	case len(line) > s.maxLine:
		return s.tooLong(len(line))
	case s.context.size > 0:
		return s.prepend(line)
	}
	if err := s.append(line, false); err != nil { // the first step makes it last
		return err
	}
	s.restored.System = prompt
	return nil
}

// AppendMessages writes messages in one write, and returns when they will outlast a
// crash of the machine. Callers give whole steps: an assistant message together
// with the results of its tool calls. A message that has no form, or takes more
// than 64 MiB, is an error that is not final.
func (s *Session) AppendMessages(messages ...llm.Message) error {
	lines, err := s.encode(nil, messages...)
	if err != nil {
		return err
	}
	return s.appendLines(lines, true)
}

// AppendTurn writes a checkpoint, ≥ 0, and behind it the message that opens a turn, or
// tells the model of the checkpoint. It does not wait for the disk: the next step makes
// both last.
func (s *Session) AppendTurn(checkpoint int, m llm.Message) error {
	if checkpoint < 0 || checkpoint > maxNumber {
		return outOfRange("checkpoint", checkpoint)
	}
	lines, err := s.encode(appendCheckpoint(nil, checkpoint), m)
	if err != nil {
		return err
	}
	return s.appendLines(lines, false)
}

// AppendStep is AppendMessages for a step of which the model reported the usage:
// tokens is the size of the context up to and with the answer, 0: it is not known.
// It stands between the answer and the results, as kimi-cli has it.
func (s *Session) AppendStep(answer llm.Message, tokens int, results ...llm.Message) error {
	if tokens < 0 || tokens > maxNumber {
		return outOfRange("usage", tokens)
	}
	lines, err := s.encode(nil, answer)
	if err != nil {
		return err
	}
	if tokens > 0 {
		lines = appendUsage(lines, tokens)
	}
	if lines, err = s.encode(lines, results...); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.append(lines, true); err != nil {
		return err
	}
	if s.underway.file != nil {
		s.underway.forget()
	}
	return nil
}

// encode appends messages as lines that can be read again.
func (s *Session) encode(lines []byte, messages ...llm.Message) ([]byte, error) {
	for _, m := range messages {
		start := len(lines)
		var err error
		if lines, err = appendMessage(lines, m); err != nil {
			return nil, fmt.Errorf("writing the history: %w", err)
		}
		if n := len(lines) - start; n > s.maxLine {
			return nil, s.tooLong(n)
		}
	}
	return lines, nil
}

func (s *Session) tooLong(n int) error {
	return fmt.Errorf("writing the history: a record takes %d bytes, more than %d", n, s.maxLine)
}

// AppendCheckpoint writes a checkpoint, ≥ 0, to which RevertTo can go back.
func (s *Session) AppendCheckpoint(id int) error {
	if id < 0 || id > maxNumber {
		return outOfRange("checkpoint", id)
	}
	return s.appendLines(appendCheckpoint(nil, id), false)
}

// AppendUsage writes the size in tokens, ≥ 0, that the model reported for all
// messages so far.
func (s *Session) AppendUsage(tokens int) error {
	if tokens < 0 || tokens > maxNumber {
		return outOfRange("usage", tokens)
	}
	return s.appendLines(appendUsage(nil, tokens), false)
}

func outOfRange(of string, n int) error {
	return fmt.Errorf("writing the history: %s %d is out of range", of, n)
}

func (s *Session) appendLines(lines []byte, sync bool) error {
	if len(lines) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.append(lines, sync)
}

// append writes lines, and before them what completes the history. The caller
// holds the lock.
func (s *Session) append(lines []byte, sync bool) error {
	if s.closed {
		return ErrClosed
	}
	mends := len(s.mend) > 0
	if mends {
		sync = true // what it was made of goes
		lines = append(s.mend[:len(s.mend):len(s.mend)], lines...)
	}
	if sync && s.settle != nil {
		s.settle()
		s.settle = nil
	}
	at, err := s.context.append(lines, sync)
	if err != nil {
		return err
	}
	if mends {
		s.mend = nil
		s.underway.forget()
	}
	if s.sums == nil {
		return nil
	}
	if _, err := s.sums.append(appendSum(nil, at, lines), false); err != nil {
		// The sums end here, and what follows is not checked when it is read.
		_ = s.sums.file.Close()
		s.sums = nil
	}
	return nil
}

// Mend writes what completes the history, where it ends in tool calls without
// results; the next append would do it too.
func (s *Session) Mend() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mend) == 0 {
		return nil
	}
	return s.append(nil, true)
}

// Reread reads the history again, for a caller that dropped its messages or wants those
// that were written since; see Restored. What cannot be read is given up, see Err.
func (s *Session) Reread() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return fmt.Errorf("reading the history again: %w", err)
	}
	err := s.context.file.Close()
	if s.sums != nil {
		err = errors.Join(err, s.sums.file.Close())
	}
	s.sums, s.context.file = nil, nil
	if err = errors.Join(err, s.load(notes{})); err != nil {
		s.lose(err)
		return fmt.Errorf("reading the history again: %w", err)
	}
	return nil
}

// load reads context.jsonl and makes it ready for appending. The caller holds the
// lock, or is the only one who knows the session.
func (s *Session) load(found notes) error {
	history, err := openLog(s.dir, contextName, false)
	if err != nil {
		return fmt.Errorf("opening the history: %w", err)
	}
	s.context = history
	rotations, err := rotationsIn(s.dir)
	if err != nil {
		return fmt.Errorf("opening the history: %w", err)
	}
	data, _ := readFile(s.ours, sumsName, maxSums) // without it nothing is checked
	extents, whole := parseSums(data, rotations)
	r := newRestorer(newVerifier(extents))
	r.notes = found
	if err := r.read(history.file, history.size); err != nil {
		return fmt.Errorf("reading the history: %w", err)
	}
	if r.torn != nil {
		s.setAside(r.torn, &r.notes)
	}
	step, err := s.unfinished()
	if err != nil {
		r.notes.add(KindUnanswered, "what tools had done when the program ended cannot be read: %v", err)
	}
	var done []byte
	for _, l := range step {
		r.take(l)
		done = append(append(done, l.text...), '\n')
	}
	if s.restored, s.mend, err = r.finish(); err != nil {
		return fmt.Errorf("repairing the history: %w", err)
	}
	s.mend = append(done, s.mend...)
	s.restored.Rotations = rotations
	// Without sums the history is as good, but is not checked at the next opening.
	s.sums, _ = openSums(s.ours, rotations, whole && r.sums.fits())
	return nil
}

// setAside moves a torn last line out of the history, where it would be in the way
// of programs that append without looking. When that fails it stays, and the next
// append begins on a line of its own.
func (s *Session) setAside(torn *line, n *notes) {
	name, err := s.keepTorn(io.NewSectionReader(s.context.file, torn.at, torn.size))
	if err == nil {
		err = cut(s.dir, contextName, torn.at)
	}
	if err == nil {
		err = s.context.look()
	}
	if err != nil {
		n.add(KindTornTail, "the history ends in %d bytes of a torn line, which are left out and could not be moved away: %v", torn.size, err)
		return
	}
	n.add(KindTornTail, "the history ended in %d bytes of a torn line; they were moved to %s", torn.size, s.own+string(os.PathSeparator)+name)
}

// maxTorn bounds how many torn pieces are kept.
const maxTorn = 100

// keepTorn writes a file of ours with what is damaged and leaves its place.
func (s *Session) keepTorn(piece io.Reader) (name string, err error) {
	for i := range maxTorn {
		name = fmt.Sprintf("torn-%d", i+1)
		err = writeNew(s.ours, name, func(w io.Writer) error {
			_, err := io.Copy(w, piece)
			return err
		})
		if !errors.Is(err, fs.ErrExist) {
			s.ours.Sync()
			return name, err
		}
	}
	return "", fmt.Errorf("%d torn pieces are kept already", maxTorn)
}

// Close lets go of the session, and of its lock last. What was written stays valid;
// nothing can be written any more.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	errs := []error{s.record.close(), s.asides.close(), s.underway.close()}
	if s.context != nil && s.context.file != nil {
		errs = append(errs, s.context.file.Close())
	}
	if s.sums != nil {
		errs = append(errs, s.sums.file.Close())
	}
	for _, c := range s.held {
		errs = append(errs, c.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing the session: %w", err)
	}
	return nil
}
