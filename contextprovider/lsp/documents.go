package lsp

import (
	"errors"
	"fmt"
	"sync"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/internal/fileuri"
)

// Bounds on the files that a server holds open for us.
const (
	maxOpen     = 24
	maxOpenSize = 8 << 20 // bytes of their texts together
	maxText     = 1 << 20 // bytes of one of them
)

// document is a file whose text a server has from us.
type document struct {
	version int
	text    string
	told    int64 // the mark of the server's findings when it was told the text
	used    int64
}

// documents are the files that a server holds open. Messages about them go out in the
// order of their versions. It may be used by several goroutines at once.
type documents struct {
	notify func(method string, params any) error
	mark   func() int64 // of the server's findings

	mu    sync.Mutex
	open  map[string]*document
	clock int64
	size  int
	last  map[string]int // versions of files that were closed: numbers only grow
}

func newDocuments(notify func(string, any) error, f *findings) *documents {
	return &documents{notify: notify, mark: f.mark, open: map[string]*document{}, last: map[string]int{}}
}

// errOvertaken says that the server was told a newer text of a file.
var errOvertaken = errors.New("the file was shown to the language server in the meantime")

// sync sees to it that the server has this text of a file, and gives its version and
// whether the server was told anything.
func (d *documents) sync(path, text string) (version int, told bool, err error) {
	if err := fits(path, text); err != nil {
		return 0, false, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.tell(path, text)
}

// syncSince is sync for a text that was read when the server had this version of the file,
// 0 for none. If it has another one by now, the text may be old: then nothing is told, and
// the error is errOvertaken.
func (d *documents) syncSince(version int, path, text string) (now int, told bool, err error) {
	if err := fits(path, text); err != nil {
		return 0, false, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if doc := d.open[path]; doc != nil && doc.version != version && doc.text != text {
		return doc.version, false, errOvertaken
	}
	return d.tell(path, text)
}

// fits refuses texts that are too large for a server.
func fits(path, text string) error {
	if len(text) > maxText {
		return fmt.Errorf("%s is too large for a language server, more than %d bytes", path, maxText)
	}
	return nil
}

// tell does the work of sync; mu is held.
func (d *documents) tell(path, text string) (version int, told bool, err error) {
	d.clock++
	mark := d.mark() // what is found from here on may be about this text
	doc := d.open[path]
	if doc == nil {
		d.makeRoom(len(text))
		doc = &document{version: d.last[path] + 1, text: text, told: mark, used: d.clock}
		err := d.notify(protocol.MethodTextDocumentDidOpen, protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{
			URI: fileuri.Of(path), LanguageID: languageID(path), Version: protocol.Integer(doc.version), Text: text, //nolint:gosec // counts edits
		}})
		if err != nil {
			return 0, false, err
		}
		d.open[path] = doc
		d.size += len(text)
		return doc.version, true, nil
	}
	doc.used = d.clock
	if doc.text == text {
		return doc.version, false, nil
	}
	next := doc.version + 1
	if err := d.notify(protocol.MethodTextDocumentDidChange, protocol.DidChangeTextDocumentParams{
		TextDocument:   protocol.VersionedTextDocumentIdentifier{TextDocumentIdentifier: identifier(path), Version: protocol.Integer(next)}, //nolint:gosec // counts edits
		ContentChanges: []any{protocol.TextDocumentContentChangeEventWhole{Text: text}},
	}); err != nil {
		return 0, false, err
	}
	d.size += len(text) - len(doc.text)
	doc.version, doc.text, doc.told = next, text, mark
	return next, true, nil
}

// saved tells the server that a file it holds open was written.
func (d *documents) saved(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open[path] == nil {
		return nil
	}
	return d.notify(protocol.MethodTextDocumentDidSave, protocol.DidSaveTextDocumentParams{TextDocument: identifier(path)})
}

// close tells the server to read a file from disk from now on.
func (d *documents) close(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut(path)
}

// version is that of a file's text, 0 when the server does not hold it open.
func (d *documents) version(path string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if doc := d.open[path]; doc != nil {
		return doc.version
	}
	return 0
}

// told is the mark of the server's findings when it was told the text that it has of a
// file: what it found before is about another one.
func (d *documents) told(path string) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if doc := d.open[path]; doc != nil {
		return doc.told
	}
	return 0
}

// holds tells whether the server has this very text of a file.
func (d *documents) holds(path, text string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	doc := d.open[path]
	return doc != nil && doc.text == text
}

// paths lists the open files.
func (d *documents) paths() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]string, 0, len(d.open))
	for path := range d.open {
		all = append(all, path)
	}
	return all
}

// makeRoom closes the files that were used longest ago. mu is held.
func (d *documents) makeRoom(size int) {
	for len(d.open) > 0 && (len(d.open) >= maxOpen || d.size+size > maxOpenSize) {
		oldest := ""
		for path, doc := range d.open {
			if oldest == "" || doc.used < d.open[oldest].used {
				oldest = path
			}
		}
		d.shut(oldest)
	}
}

// shut closes a file; mu is held.
func (d *documents) shut(path string) {
	doc := d.open[path]
	if doc == nil {
		return
	}
	delete(d.open, path)
	d.size -= len(doc.text)
	if len(d.last) >= maxFiles {
		clear(d.last) // a server that mixes up versions that old is no concern
	}
	d.last[path] = doc.version
	// What fails here has failed for everything: the server is gone.
	_ = d.notify(protocol.MethodTextDocumentDidClose, protocol.DidCloseTextDocumentParams{TextDocument: identifier(path)})
}

func identifier(path string) protocol.TextDocumentIdentifier {
	return protocol.TextDocumentIdentifier{URI: fileuri.Of(path)}
}
