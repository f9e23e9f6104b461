package proc

import (
	"sync"
	"time"
)

// capture collects a command's output in bounded memory. One goroutine writes while
// another looks at what there is so far.
type capture struct {
	changed chan struct{} // holds a value when there is output nobody has looked at

	mu    sync.Mutex
	bytes int64
	plain plainText
	kept  window
}

func newCapture(maxBytes int) *capture {
	c := &capture{changed: make(chan struct{}, 1), kept: window{half: maxBytes / 2}}
	c.plain.commit = c.kept.write
	return c
}

// Write takes raw output. It never fails.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.bytes += int64(len(p))
	c.plain.write(p)
	c.mu.Unlock()
	select {
	case c.changed <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (c *capture) snapshot() (text string, truncated bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept.with(c.plain.line).text()
}

// finish gives the final text, after the last write.
func (c *capture) finish() (text string, truncated bool) {
	c.mu.Lock()
	c.plain.flush()
	c.mu.Unlock()
	return c.snapshot()
}

func (c *capture) written() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// watch hands snapshots to send while output comes in, at most one every
// snapshotEvery, until the function it returns is called, which waits for it.
func watch(send func(string), c *capture) (stop func()) {
	if send == nil {
		return func() {}
	}
	stopping, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		pause := time.NewTicker(snapshotEvery)
		defer pause.Stop()
		for {
			select {
			case <-c.changed:
			case <-stopping:
				return
			}
			text, _ := c.snapshot()
			send(text)
			pause.Reset(snapshotEvery)
			select {
			case <-pause.C:
			case <-stopping:
				return
			}
		}
	}()
	return func() {
		close(stopping)
		<-done
	}
}
