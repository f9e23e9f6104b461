package tool

import (
	"io"
	"sync"
)

// memoryScratch is a fileop.Scratch in memory, for sessions that keep nothing. It has
// the bound of what writes to it.
type memoryScratch struct {
	mu   sync.Mutex
	data []byte
}

// ReadAt reads what was written.
func (m *memoryScratch) ReadAt(p []byte, at int64) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at >= int64(len(m.data)) {
		return 0, io.EOF
	}
	n := copy(p, m.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt writes, and grows as far as needed.
func (m *memoryScratch) WriteAt(p []byte, at int64) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if grow := int(at) + len(p) - len(m.data); grow > 0 {
		m.data = append(m.data, make([]byte, grow)...)
	}
	return copy(m.data[at:], p), nil
}

// Truncate gives up everything behind size.
func (m *memoryScratch) Truncate(size int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data = m.data[:min(size, int64(len(m.data)))]
	return nil
}
