package companion

import (
	"time"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/editors/state"
	"kimi-acp/internal/fileuri"
)

// cursor takes in where the cursor is. A selection of which it is an end stays.
func (d *desk) cursor(uri string, p protocol.Position) {
	path := fileuri.Path(uri)
	d.update(func(now time.Time) {
		d.cursors = true
		if d.explicit {
			return
		}
		at := d.documents[path].place(d.units, p)
		var selection *state.Selection
		if old := d.active; old != nil && old.Path == path && old.Selection != nil &&
			(old.Selection.Start == at || old.Selection.End == at) {
			selection = old.Selection
		}
		d.focus(path, now)
		if d.active != nil {
			d.active.Cursor, d.active.Selection = &at, selection
		}
	})
}

// asked takes in the range for which actions are asked, which is what is selected, or
// the cursor when it is empty; and what is wrong there.
func (d *desk) asked(uri string, r protocol.Range, findings []finding) {
	path := fileuri.Path(uri)
	d.update(func(now time.Time) {
		d.cursors = true
		if path != "" {
			d.foundAt(path, r, findings, now)
		}
		if d.explicit {
			return
		}
		d.focus(path, now)
		if d.active != nil {
			d.point(d.documents[path], d.units, r, r.End)
		}
	})
}

// focus makes a document the active one; one that is no file makes that none.
func (d *desk) focus(path string, now time.Time) {
	if path == "" {
		d.active = nil
		return
	}
	d.active = &state.Active{Path: path, Withheld: d.withholds(path), At: now}
	if doc := d.documents[path]; doc != nil {
		doc.used = now
		d.active.Language, d.active.Withheld = doc.language, doc.withheld
	}
}

// point sets the active document's selection and cursor; an empty range is none.
func (d *desk) point(doc *document, units encoding, r protocol.Range, cursor protocol.Position) {
	at := doc.place(units, cursor)
	d.active.Cursor, d.active.Selection = &at, nil
	if r.Start != r.End {
		text, cut := doc.excerpt(units, r)
		d.active.Selection = &state.Selection{Range: doc.span(units, r), Text: text, Cut: cut}
	}
}

// snapshot gives what may be told: what lies in the workspace, and of sensitive files
// the names.
func (d *desk) snapshot() state.State {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := state.State{Editor: d.editor, Roots: d.roots}
	if d.active != nil && d.inside(d.active.Path) {
		active := *d.active
		s.Active = &active
	}
	for path, doc := range d.documents {
		if !d.inside(path) {
			continue
		}
		told := state.Document{
			Path: path, Language: doc.language, Version: doc.version, Dirty: doc.dirty(d.seed),
			Withheld: doc.withheld, Changed: doc.changed, Used: doc.used,
		}
		if told.Dirty && doc.known && !doc.withheld && len(doc.text) <= state.MaxText {
			text := string(doc.text)
			told.Text = &text
		}
		s.Documents = append(s.Documents, told)
	}
	for path, found := range d.diagnostics {
		if d.inside(path) && !d.withholds(path) {
			s.Diagnostics = append(s.Diagnostics, *found)
		}
	}
	return s
}
