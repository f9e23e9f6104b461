package fileop

import (
	"slices"
	"strings"
	"sync"
)

const (
	maxBehind      = 1024 // files that behindBuffers remembers
	maxBehindTexts = 16   // replaced texts of one file that it remembers
)

// behindBuffers remembers files that were written on disk past an editor that only
// reads. Until the editor notices, it goes on handing out a text that was replaced:
// that is an old text and not an unsaved one. The zero value is ready.
type behindBuffers struct {
	mu    sync.Mutex
	files map[string]behindBuffer
}

type behindBuffer struct {
	disk     digest   // what was written last
	replaced []digest // the texts that it took the place of, oldest first
}

// note says that the disk held before, showing the text shown, and now holds after.
func (b *behindBuffers) note(key string, before digest, shown string, after []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.files == nil {
		b.files = map[string]behindBuffer{}
	}
	f, known := b.files[key]
	if !known && len(b.files) >= maxBehind {
		for other := range b.files { // any: a forgotten file is asked about, not damaged
			delete(b.files, other)
			break
		}
	}
	if f.disk != before {
		f.replaced = nil // somebody else wrote in between
	}
	f.replaced = append(slices.Clone(f.replaced), digestOfText(shown))
	f.replaced = f.replaced[max(0, len(f.replaced)-maxBehindTexts):]
	f.disk = digestOf(after)
	b.files[key] = f
}

// has says whether an editor's text is merely one that the disk has left behind.
func (b *behindBuffers) has(key string, disk digest, text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, ok := b.files[key]
	return ok && f.disk == disk && slices.Contains(f.replaced, digestOfText(text))
}

func digestOfText(s string) digest {
	return digestOf([]byte(strings.ReplaceAll(joinLF(s), "\r", "\n")))
}
