package tool

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// maxDMails bounds the messages that go back in one turn: a model that goes back over
// and over gets nowhere.
const maxDMails = 10

// DMail is a message that a model sends back to an earlier point of its turn.
type DMail struct {
	Message    string
	Checkpoint int  // the point, by the id of its checkpoint
	Files      bool // the files that the turn changed since go back too
}

// Mailbox holds such a message from the call of SendDMail to the end of the step. A soul
// says which points there are and takes the message. It may be used by several
// goroutines at once.
type Mailbox struct {
	mu      sync.Mutex
	points  []int // ids of checkpoints, growing
	sent    int   // messages in this turn
	waiting *DMail
}

// Open begins a turn, which has no points yet.
func (m *Mailbox) Open() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.points, m.sent, m.waiting = nil, 0, nil
}

// Mark makes a checkpoint a point to go back to. Ids grow.
func (m *Mailbox) Mark(checkpoint int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.points = append(m.points, checkpoint)
}

// Forget says that the points from a checkpoint on are no longer there.
func (m *Mailbox) Forget(checkpoint int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.points = slices.DeleteFunc(m.points, func(p int) bool { return p >= checkpoint })
}

// Take takes the message out, false when there is none.
func (m *Mailbox) Take() (DMail, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting == nil {
		return DMail{}, false
	}
	mail := *m.waiting
	m.waiting = nil
	return mail, true
}

// post puts a message in. The error, a sentence for the model, says why it may not go.
func (m *Mailbox) post(mail DMail) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.waiting != nil:
		return errors.New("another message of this answer is on its way already, and only one can be")
	case m.sent >= maxDMails:
		return fmt.Errorf("you have gone back %d times in this turn, which is as often as you may; go on from here", m.sent)
	case len(m.points) == 0:
		return errors.New("there is no checkpoint in this turn to go back to")
	case !slices.Contains(m.points, mail.Checkpoint):
		return fmt.Errorf("%d is no checkpoint that can be gone back to; the first one behind the user's last prompt is %d, the last one %d", mail.Checkpoint, m.points[0], m.points[len(m.points)-1])
	}
	m.sent++
	m.waiting = &mail
	return nil
}

// withdraw takes back a message that was posted.
func (m *Mailbox) withdraw() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting != nil {
		m.sent--
		m.waiting = nil
	}
}
