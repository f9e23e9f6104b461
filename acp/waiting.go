package acp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"kimi-acp/soul"
	store "kimi-acp/soul/session"
)

// Prompts that wait are kept beside the session, a file each, until their turn has begun
// and is recorded: should the program end before, the next one offers them. It runs none
// by itself, since nobody waits for the answer any more, and who sent them may have gone
// on elsewhere.

// maxKeptPrompts bounds the prompts of a session that are kept, with those of earlier
// processes. What is sent beyond it waits in memory alone.
const maxKeptPrompts = 64

// waiting are the prompts of a session that are kept.
type waiting struct {
	mu      sync.Mutex
	next    int      // number of the next file
	count   int      // files that this process has written and not removed
	left    []string // files of earlier processes, oldest first
	running *turn    // whose prompt is kept until its turn has begun
	resend  bool     // what is left runs behind the turn that runs
}

// prompts is where prompts are kept; kept tells whether that is anywhere.
func (s *session) prompts() (files store.Prompts, kept bool) {
	file := s.file()
	if file == nil {
		return store.Prompts{}, false
	}
	return file.Prompts(), true
}

// findWaiting notes what an earlier process has left.
func (s *session) findWaiting() {
	files, _ := s.prompts()
	w := &s.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = nil
	for _, name := range files.Names() { // in the order in which they were sent
		var n int
		if _, err := fmt.Sscanf(name, "%d.json", &n); err != nil || !strings.HasSuffix(name, ".json") {
			continue
		}
		w.next = max(w.next, n+1)
		w.left = append(w.left, name)
	}
}

// keepWaiting keeps the prompt of a turn that has to wait, unless it is kept or has begun.
func (s *session) keepWaiting(t *turn) {
	files, kept := s.prompts()
	w := &s.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	if !kept || t.prompt == nil || t.begun || t.file != "" {
		return
	}
	err := fmt.Errorf("%d are kept already", maxKeptPrompts)
	name := fmt.Sprintf("%08d.json", w.next)
	if len(w.left)+w.count < maxKeptPrompts {
		err = files.Write(name, t.prompt)
	}
	if err != nil {
		s.agent.log.Warn("a prompt that waits is not kept", "session", s.id, "error", err)
		return
	}
	w.next++
	w.count++
	t.file = name
}

// keepAllWaiting keeps what could not be kept while the session was parked.
func (s *session) keepAllWaiting() {
	s.mu.Lock()
	waits := slices.Clone(s.queue[min(1, len(s.queue)):])
	s.mu.Unlock()
	for _, t := range waits {
		s.keepWaiting(t)
	}
}

// waitsOn tells whether a turn may be left to the next process: it is kept, and has not
// begun.
func (s *session) waitsOn(t *turn) bool {
	s.waiting.mu.Lock()
	defer s.waiting.mu.Unlock()
	return t.file != "" && !t.begun
}

// begins says which turn the next TurnBegin is of, nil: none that is known.
func (s *session) begins(t *turn) {
	s.waiting.mu.Lock()
	defer s.waiting.mu.Unlock()
	s.waiting.running = t
}

// hasBegun is called when the beginning of a turn is recorded.
func (s *session) hasBegun() {
	s.waiting.mu.Lock()
	t := s.waiting.running
	s.waiting.running = nil
	s.waiting.mu.Unlock()
	if t != nil {
		s.forget(t)
	}
}

// forget drops what is kept of a turn that has begun, or never will.
func (s *session) forget(t *turn) {
	files, kept := s.prompts()
	w := &s.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	t.begun = true
	if t.file == "" || !kept {
		return
	}
	if i := slices.Index(w.left, t.file); i >= 0 {
		w.left = slices.Delete(w.left, i, i+1)
	} else {
		w.count--
	}
	s.drop(files, t.file)
	t.file = ""
}

func (s *session) drop(files store.Prompts, name string) {
	if err := files.Remove(name); err != nil {
		s.agent.log.Warn("a prompt that waited is still kept", "session", s.id, "error", err)
	}
}

// resend gives the next turn of those that an earlier process has left, nil when they are
// not to run, or there are no more.
func (s *session) resend(behind *turn) (*turn, error) {
	files, kept := s.prompts()
	w := &s.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.resend || len(w.left) == 0 || !kept {
		w.resend = false
		return nil, nil //nolint:nilnil // there is none, which is no failure
	}
	name := w.left[0]
	raw, err := files.Read(name, maxQueuedBytes)
	var in soul.Input
	if err == nil {
		in, err = parsePrompt(raw, s.mind().Status().Images)
	}
	if err != nil {
		w.resend = false
		return nil, fmt.Errorf("a prompt that waited cannot be sent (`/queue clear` forgets it): %w", err)
	}
	return &turn{call: behind.call, input: in, prompt: raw, blocks: blocksToKeep(raw), file: name, ctx: behind.ctx, cancel: behind.cancel}, nil
}

// Waiting tells what an earlier process was sent and has not begun; see soul.Session.
func (d desk) Waiting() []string {
	s := d.session
	files, _ := s.prompts()
	s.waiting.mu.Lock()
	defer s.waiting.mu.Unlock()
	var texts []string
	for _, name := range s.waiting.left {
		text := "(a prompt that cannot be read)"
		if raw, err := files.Read(name, maxQueuedBytes); err == nil {
			if in, err := parsePrompt(raw, true); err == nil {
				text = in.Text
			}
		}
		texts = append(texts, text)
	}
	return texts
}

// EndWaiting has what waits run behind this turn, or forgets it; see soul.Session.
func (d desk) EndWaiting(run bool) {
	s := d.session
	files, _ := s.prompts()
	s.waiting.mu.Lock()
	defer s.waiting.mu.Unlock()
	if run {
		s.waiting.resend = true
		return
	}
	for _, name := range s.waiting.left {
		s.drop(files, name)
	}
	s.waiting.left = nil
}

// showResent shows the prompt of a turn that the editor does not know, as a replay would.
func (s *session) showResent(t *turn) {
	var blocks []json.RawMessage
	_ = json.Unmarshal(t.prompt, &blocks) // it was parsed before
	for _, b := range blocks {
		s.update(userChunk{SessionUpdate: "user_message_chunk", Content: b, MessageID: fmt.Sprintf("user-%d", s.view.prompts+1)})
	}
}
