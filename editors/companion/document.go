package companion

import (
	"bytes"
	"hash/maphash"
	"slices"
	"time"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/editors/state"
)

// maxDocument is the size in bytes up to which a document's text is kept.
const maxDocument = 8 << 20

// document is an open document.
type document struct {
	path     string
	language string
	version  int
	withheld bool
	text     []byte
	known    bool   // text is what the editor has
	saved    uint64 // hash of the text that was opened or saved
	// modified is what the editor itself said since the last edit or save, nil: nothing.
	modified *bool
	touched  bool // it was edited since it was opened or saved
	changed  time.Time
	used     time.Time
}

// hold takes a whole text.
func (d *document) hold(text string) {
	d.text, d.known = nil, len(text) <= maxDocument
	if d.known {
		d.text = []byte(text)
	}
}

// change applies one change of the editor and gives where it ends. A change that
// does not fit the text means that it was lost; the next whole text mends that.
func (d *document) change(e encoding, change any) (end int, ok bool) {
	switch c := change.(type) {
	case protocol.TextDocumentContentChangeEventWhole:
		d.hold(c.Text)
		return 0, false
	case protocol.TextDocumentContentChangeEvent:
		if !d.known || c.Range == nil {
			return 0, false
		}
		from, to := e.offset(d.text, c.Range.Start), e.offset(d.text, c.Range.End)
		if from > to || len(d.text)+len(c.Text) > maxDocument {
			d.text, d.known = nil, false
			return 0, false
		}
		d.text = slices.Replace(d.text, from, to, []byte(c.Text)...)
		return from + len(c.Text), true
	}
	return 0, false
}

// dirty tells whether the text is other than on disk.
func (d *document) dirty(seed maphash.Seed) bool {
	switch {
	case d.modified != nil:
		return *d.modified
	case !d.touched || !d.known:
		return d.touched
	}
	return maphash.Bytes(seed, d.text) != d.saved
}

// isSaved says that what the editor has is on disk.
func (d *document) isSaved(seed maphash.Seed) {
	d.saved, d.touched, d.modified = maphash.Bytes(seed, d.text), false, nil
}

// place and span are encoding.place for this document. Both work on nil, a document
// that is not open.
func (d *document) place(e encoding, p protocol.Position) state.Position {
	if d == nil {
		return e.place(nil, false, p)
	}
	return e.place(d.text, d.known, p)
}

func (d *document) span(e encoding, r protocol.Range) state.Range {
	return state.Range{Start: d.place(e, r.Start), End: d.place(e, r.End)}
}

// excerpt gives the text of a range, "" where it is not known.
func (d *document) excerpt(e encoding, r protocol.Range) (text string, cut bool) {
	if d == nil || !d.known || d.withheld {
		return "", false
	}
	from, to := e.offset(d.text, r.Start), e.offset(d.text, r.End)
	if from >= to {
		return "", false
	}
	// One byte more than the limit makes state cut it, and say so.
	return string(bytes.ToValidUTF8(d.text[from:min(to, from+state.MaxSelection+1)], nil)), to-from > state.MaxSelection
}

// placeOf gives the position of a byte.
func (d *document) placeOf(offset int) state.Position {
	before := d.text[:offset]
	lines, start := 0, 0
	for {
		next := lineEnd(before[start:])
		if next < 0 {
			break
		}
		start += next + 1
		if before[start-1] == '\r' && start < len(before) && before[start] == '\n' {
			start++
		}
		lines++
	}
	return state.Position{Line: lines + 1, Column: len(bytes.Runes(before[start:])) + 1, Byte: offset - start}
}
