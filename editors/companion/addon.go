package companion

import (
	"encoding/json"
	"time"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/internal/fileuri"
)

// methodEditorState is the notification of add-ons, which can tell more than a
// language server is asked.
const methodEditorState = "kimi/editorState"

// editorState are its params. What is absent stays as it was.
type editorState struct {
	// Encoding is the unit of the positions in this message, as in LSP's
	// positionEncoding; absent: the one that was agreed on.
	Encoding string `json:"encoding"`
	// Active is the document in focus, null for none.
	Active json.RawMessage `json:"active"`
	// Documents tell which are modified.
	Documents []struct {
		URI      string `json:"uri"`
		Modified *bool  `json:"modified"`
	} `json:"documents"`
	// Diagnostics replace what is known of the files that they name.
	Diagnostics []struct {
		URI   string    `json:"uri"`
		Items []finding `json:"items"`
	} `json:"diagnostics"`
}

// activeDocument is the document in focus, as an add-on tells it.
type activeDocument struct {
	URI        string             `json:"uri"`
	LanguageID string             `json:"languageId"`
	Cursor     *protocol.Position `json:"cursor"`
	Selection  *protocol.Range    `json:"selection"`
	Visible    *protocol.Range    `json:"visible"`
}

// told takes in what an add-on tells. From then on it alone says what is in focus. An
// error means that nothing was taken in.
func (d *desk) told(params json.RawMessage) error {
	var p editorState
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	var active *activeDocument
	if p.Active != nil {
		if err := json.Unmarshal(p.Active, &active); err != nil {
			return err
		}
	}
	d.update(func(now time.Time) {
		units := d.units
		if e, ok := named(p.Encoding); ok {
			units = e
		}
		for _, told := range p.Documents {
			if doc := d.documents[fileuri.Path(told.URI)]; doc != nil {
				doc.modified = told.Modified
			}
		}
		for _, told := range p.Diagnostics {
			if path := fileuri.Path(told.URI); path != "" {
				d.setFindings(path, told.Items, units, now)
			}
		}
		if p.Active != nil {
			d.explicit = true
			d.show(active, units, now)
		}
	})
	return nil
}

// show makes a document the active one as it is told; mu is held.
func (d *desk) show(active *activeDocument, units encoding, now time.Time) {
	if active == nil {
		d.active = nil
		return
	}
	d.focus(fileuri.Path(active.URI), now)
	if d.active == nil {
		return
	}
	doc := d.documents[d.active.Path]
	if active.LanguageID != "" {
		d.active.Language = active.LanguageID
	}
	if active.Cursor != nil {
		selection := protocol.Range{Start: *active.Cursor, End: *active.Cursor}
		if active.Selection != nil {
			selection = *active.Selection
		}
		d.point(doc, units, selection, *active.Cursor)
	}
	if active.Visible != nil {
		visible := doc.span(units, *active.Visible)
		d.active.Visible = &visible
	}
}
