package kernel

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

const (
	maxComplaint  = 1 << 10 // bytes of one line
	maxComplaints = 500     // lines of one program that are logged
)

// complaints takes what a program writes to standard error: into the log, line by line,
// and the last line is kept to say why the program ended.
type complaints struct {
	log *slog.Logger

	mu     sync.Mutex
	line   []byte // that has not ended
	last   string
	logged int
}

// Write takes all of p. It never fails: a program must not end for what it prints.
func (c *complaints) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		c.line = append(c.line, line[:min(len(line), maxComplaint-len(c.line))]...)
		if ended {
			c.end()
		}
		rest = after
	}
	return len(p), nil
}

func (c *complaints) end() {
	text := strings.TrimSpace(strings.ToValidUTF8(string(c.line), "\ufffd"))
	c.line = c.line[:0]
	if text == "" {
		return
	}
	c.last = text
	switch c.logged++; {
	case c.logged < maxComplaints:
		c.log.Info("the kernel wrote", "stderr", text)
	case c.logged == maxComplaints:
		c.log.Warn("the kernel writes on; no more of it is logged")
	}
}

// words is the last line, "" for none.
func (c *complaints) words() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if line := strings.TrimSpace(strings.ToValidUTF8(string(c.line), "\ufffd")); line != "" {
		return line
	}
	return c.last
}
