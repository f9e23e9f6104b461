package fileop

import (
	"bytes"
	"container/list"
	"errors"
	"fmt"
	"sync"
)

// The bounds of a content store that says nothing else.
const (
	MaxContentBytes = 256 << 20
	MaxContentFiles = 20_000
)

// Errors of content stores.
var (
	// ErrContentLost: the contents were given up for newer ones, or are damaged.
	ErrContentLost = errors.New("the contents are no longer kept")
	// ErrContentsFull: what the turn itself has put leaves no room.
	ErrContentsFull = errors.New("no room to keep the contents")
)

// Contents keeps files' bytes under their digest, up to a bound. It may be called by
// several goroutines at once.
type Contents interface {
	// Put keeps data, for which older contents may be given up: never any that were
	// put since the latest Release, so that ErrContentsFull is possible. With sync
	// they outlast a crash of the machine, else one of the process.
	Put(data []byte, sync bool) (ContentID, error)
	// Get gives the bytes, or an error that wraps ErrContentLost.
	Get(id ContentID) ([]byte, error)
	// Release says that a new turn begins: what was put so far may be given up.
	Release()
}

// ContentLimits bound a content store.
type ContentLimits struct {
	Bytes int64 // 0: MaxContentBytes
	Files int   // 0: MaxContentFiles
}

// contentBudget decides what is kept. It is not safe for several goroutines.
type contentBudget struct {
	limits  ContentLimits
	bytes   int64
	turn    int
	entries map[ContentID]*list.Element // of *contentEntry
	order   *list.List                  // the one that was put last is last
}

type contentEntry struct {
	id   ContentID
	size int64
	turn int
}

func newContentBudget(l ContentLimits) contentBudget {
	if l.Bytes <= 0 {
		l.Bytes = MaxContentBytes
	}
	if l.Files <= 0 {
		l.Files = MaxContentFiles
	}
	return contentBudget{limits: l, entries: map[ContentID]*list.Element{}, order: list.New()}
}

// room lists what has to go for size bytes more; false: they do not fit.
func (b *contentBudget) room(size int64) (evict []ContentID, ok bool) {
	bytes, files := b.bytes+size, len(b.entries)+1
	for e := b.order.Front(); bytes > b.limits.Bytes || files > b.limits.Files; e = e.Next() {
		if e == nil || e.Value.(*contentEntry).turn == b.turn {
			return nil, false
		}
		old := e.Value.(*contentEntry)
		evict = append(evict, old.id)
		bytes, files = bytes-old.size, files-1
	}
	return evict, true
}

func (b *contentBudget) add(id ContentID, size int64, turn int) {
	b.entries[id] = b.order.PushBack(&contentEntry{id: id, size: size, turn: turn})
	b.bytes += size
}

func (b *contentBudget) drop(id ContentID) {
	if e, ok := b.entries[id]; ok {
		b.bytes -= e.Value.(*contentEntry).size
		b.order.Remove(e)
		delete(b.entries, id)
	}
}

// touch makes contents that are there those of the present turn.
func (b *contentBudget) touch(id ContentID) bool {
	e, ok := b.entries[id]
	if ok {
		e.Value.(*contentEntry).turn = b.turn
		b.order.MoveToBack(e)
	}
	return ok
}

// MemContents is a Contents in memory, for tests and for sessions that keep nothing.
type MemContents struct {
	mu     sync.Mutex
	budget contentBudget
	data   map[ContentID][]byte
}

var _ Contents = (*MemContents)(nil)

// NewMemContents makes an empty store.
func NewMemContents(l ContentLimits) *MemContents {
	return &MemContents{budget: newContentBudget(l), data: map[ContentID][]byte{}}
}

// Put implements Contents.
func (m *MemContents) Put(data []byte, _ bool) (ContentID, error) {
	id := contentID(data)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.budget.touch(id) {
		return id, nil
	}
	evict, ok := m.budget.room(int64(len(data)))
	if !ok {
		return "", fullContents(len(data))
	}
	for _, old := range evict {
		m.budget.drop(old)
		delete(m.data, old)
	}
	m.budget.add(id, int64(len(data)), m.budget.turn)
	m.data[id] = append([]byte{}, data...)
	return id, nil
}

// Get implements Contents.
func (m *MemContents) Get(id ContentID) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.data[id]
	if !ok {
		return nil, ErrContentLost
	}
	return bytes.Clone(data), nil
}

// Release implements Contents.
func (m *MemContents) Release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.budget.turn++
}

func fullContents(size int) error {
	return fmt.Errorf("%w: %d bytes more", ErrContentsFull, size)
}
