package fileop

import (
	"path/filepath"
	"slices"
	"sync"
)

// maxKnown is how many files a session remembers as known to the editor.
const maxKnown = 256

// KnownFile is a file of which the editor has given or told a text in this session,
// and which may therefore be open there, with changes that are not on disk.
type KnownFile struct {
	Name string // as the editor knows it
	Path string // as a Walk names it
}

// knownFiles remembers which files the editor gave, the latest ones. The zero value
// is ready.
type knownFiles struct {
	mu    sync.Mutex
	files []KnownFile // the latest one last
}

func (k *knownFiles) note(f KnownFile) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.Index(k.files, f); i >= 0 {
		k.files = slices.Delete(k.files, i, i+1)
	}
	k.files = append(k.files, f)
	k.files = k.files[max(0, len(k.files)-maxKnown):]
}

func (k *knownFiles) list() []KnownFile {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.files)
}

// Known lists the files of which the editor has given a text, at most 256, the
// latest ones, or those that are known to have unsaved changes. What it holds of them
// now is what Read gives.
func (o *Operator) Known() []KnownFile { return append(o.known.list(), o.knownUnsaved()...) }

// noteKnown remembers a file that the editor has given.
func (o *Operator) noteKnown(p place) { o.known.note(o.knownAs(p)) }

func (o *Operator) knownAs(p place) KnownFile {
	return KnownFile{Name: p.name, Path: filepath.Join(o.folders[p.root].name, p.rel)}
}
