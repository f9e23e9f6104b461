package tool

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"kimi-acp/fileop"
)

// maxSeen is how many files a session remembers as read.
const maxSeen = 4096

// seenTexts remembers which text of a file the model got last, so that it does not
// replace another one that it has never seen. The zero value is ready; it may be used
// by several goroutines at once.
type seenTexts struct {
	mu    sync.Mutex
	texts map[string][sha256.Size]byte
}

// note takes down that the model knows this text of a file.
func (s *seenTexts) note(path, text string) {
	sum := sha256.Sum256([]byte(text))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil {
		s.texts = map[string][sha256.Size]byte{}
	}
	if _, known := s.texts[path]; !known && len(s.texts) >= maxSeen {
		for other := range s.texts { // any: of a forgotten file nothing is asked
			delete(s.texts, other)
			break
		}
	}
	s.texts[path] = sum
}

// current is an error when a change takes the place of a whole text that is not the
// one which the model got last. Of files that it has not read nothing is asked, and
// replacements and patches name the text that they are about.
func (s *seenTexts) current(e fileop.Edit, c fileop.Change) error {
	if e.Content == nil || e.Append || c.Before == nil {
		return nil
	}
	s.mu.Lock()
	seen, known := s.texts[c.Path]
	s.mu.Unlock()
	if !known || seen == sha256.Sum256([]byte(*c.Before)) {
		return nil
	}
	return fmt.Errorf("%s %w, so its whole text is not replaced: read it again, then write what keeps the other's changes", c.Path, fileop.ErrStale)
}
