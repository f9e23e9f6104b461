package companion

import (
	"hash/maphash"
	"path/filepath"
	"slices"
	"sync"
	"time"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/editors/state"
	"kimi-acp/internal/fileuri"
)

// What is kept at most; what is more is not taken in.
const (
	maxOpen     = 1024     // documents
	maxHeld     = 64 << 20 // bytes of all texts
	maxFindings = 1024     // files with diagnostics
	maxItems    = 1000     // diagnostics of a file
	maxJudged   = 4096     // paths
)

// desk is what the user has before them. Its methods may be called by several
// goroutines at once.
type desk struct {
	seed      maphash.Seed
	sensitive func(roots []string, path string) bool

	// changed holds one token while there is something new to publish.
	changed chan struct{}

	mu          sync.Mutex
	editor      state.Editor
	units       encoding
	roots       []string
	documents   map[string]*document
	held        int // bytes of all texts
	active      *state.Active
	cursors     bool // the editor tells of cursors, so that opening and editing a document need not mean that it is in focus
	explicit    bool // an add-on tells what is in focus, so that nothing else counts
	diagnostics map[string]*state.FileDiagnostics
	judged      map[string]bool // paths in the workspace, and whether they are sensitive
}

func newDesk(sensitive func(roots []string, path string) bool) *desk {
	return &desk{
		seed: maphash.MakeSeed(), sensitive: sensitive, changed: make(chan struct{}, 1), units: utf16Units,
		documents: map[string]*document{}, diagnostics: map[string]*state.FileDiagnostics{},
		judged: map[string]bool{},
	}
}

// update runs f alone, and has what came of it published.
func (d *desk) update(f func(now time.Time)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(time.Now())
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// use sets who the editor is, where it works and, unless it is empty, how it counts.
func (d *desk) use(editor state.Editor, roots []string, units encoding) {
	d.update(func(time.Time) {
		d.editor = editor
		if units != "" {
			d.units = units
		}
		d.setRoots(roots)
	})
}

// agree sets the encoding that a wrapped server chose.
func (d *desk) agree(units encoding) {
	d.update(func(time.Time) { d.units = units })
}

func (d *desk) moveRoots(added, removed []string) {
	d.update(func(time.Time) {
		roots := slices.DeleteFunc(slices.Clone(d.roots), func(r string) bool { return slices.Contains(removed, r) })
		d.setRoots(append(roots, added...))
	})
}

// setRoots changes the workspace, by which is judged what is sensitive.
func (d *desk) setRoots(roots []string) {
	d.roots = nil
	for _, root := range roots {
		if filepath.IsAbs(root) && !slices.Contains(d.roots, root) && len(d.roots) < state.MaxRoots {
			d.roots = append(d.roots, root)
		}
	}
	clear(d.judged)
	for path, doc := range d.documents {
		doc.withheld = d.withholds(path)
	}
}

func (d *desk) inside(path string) bool {
	return slices.ContainsFunc(d.roots, func(root string) bool { return state.Inside(path, root) })
}

// withholds tells whether nothing but the name of a file may be told.
func (d *desk) withholds(path string) bool {
	if !d.inside(path) {
		return false
	}
	sensitive, ok := d.judged[path]
	if !ok {
		if len(d.judged) == maxJudged {
			clear(d.judged)
		}
		sensitive = d.sensitive(d.roots, path)
		d.judged[path] = sensitive
	}
	return sensitive
}

// open takes in a document. That it is opened means that it is in focus only to
// editors that do not tell where the cursor is.
func (d *desk) open(item protocol.TextDocumentItem) {
	path := fileuri.Path(item.URI)
	if path == "" {
		return
	}
	d.update(func(now time.Time) {
		d.forget(path)
		delete(d.judged, path) // it may be another file by now
		if len(d.documents) == maxOpen {
			return
		}
		doc := &document{
			path: path, language: item.LanguageID, version: int(item.Version),
			withheld: d.withholds(path), used: now,
		}
		if d.held+len(item.Text) <= maxHeld {
			doc.hold(item.Text)
		}
		doc.isSaved(d.seed)
		d.documents[path] = doc
		d.held += len(doc.text)
		if !d.cursors && !d.explicit {
			d.active = &state.Active{Path: path, Language: doc.language, Withheld: doc.withheld, At: now}
		}
	})
}

// edit applies what was typed.
func (d *desk) edit(id protocol.VersionedTextDocumentIdentifier, changes []any) {
	path := fileuri.Path(id.URI)
	d.update(func(now time.Time) {
		doc := d.documents[path]
		if doc == nil {
			return
		}
		var (
			end int
			ok  bool
		)
		d.held -= len(doc.text)
		for _, change := range changes {
			end, ok = doc.change(d.units, change)
		}
		if d.held += len(doc.text); d.held > maxHeld {
			d.held -= len(doc.text)
			doc.text, doc.known, ok = nil, false, false
		}
		doc.version, doc.changed, doc.used = int(id.Version), now, now
		doc.touched, doc.modified = true, nil
		if d.explicit {
			return
		}
		switch {
		case d.active != nil && d.active.Path == path:
			d.active.Selection, d.active.At = nil, now
		case !d.cursors:
			d.active = &state.Active{Path: path, Language: doc.language, Withheld: doc.withheld, At: now}
		default:
			return // a change of many files, or one from elsewhere
		}
		if ok {
			cursor := doc.placeOf(end)
			d.active.Cursor = &cursor
		}
	})
}

// save takes note that a document is on disk as it is.
func (d *desk) save(uri string) {
	path := fileuri.Path(uri)
	d.update(func(now time.Time) {
		if doc := d.documents[path]; doc != nil {
			doc.isSaved(d.seed)
			doc.changed = now
		}
	})
}

// close lets go of a document.
func (d *desk) close(uri string) {
	path := fileuri.Path(uri)
	d.update(func(time.Time) {
		d.forget(path)
		if d.active != nil && d.active.Path == path {
			d.active = nil
		}
	})
}

func (d *desk) forget(path string) {
	if doc := d.documents[path]; doc != nil {
		d.held -= len(doc.text)
		delete(d.documents, path)
	}
}
