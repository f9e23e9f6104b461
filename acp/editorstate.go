package acp

import (
	"encoding/json"
	"path/filepath"
	"time"

	"kimi-acp/contextprovider"
)

// The messages by which an editor tells what its user looks at. ACP has none of its
// own; docs/acp-extensions.md describes them. Each may be sent as a notification, or
// as a request whose answer says what is wrong with it.
const (
	methodEditorState     = "_kimi/editor_state"
	methodActiveDocument  = "_kimi/workspace/active_document"
	methodOpenDocuments   = "_kimi/workspace/open_documents"
	methodRecentDocuments = "_kimi/workspace/recent_documents"
)

// Bounds on what one message may tell. What is beyond them is left out.
const (
	maxDocuments    = 200
	maxDiagnostics  = 200
	maxSelectedText = 16 << 10 // bytes
	maxPlace        = 1 << 30  // a line or column
)

func tells(method string) bool {
	switch method {
	case methodEditorState, methodActiveDocument, methodOpenDocuments, methodRecentDocuments:
		return true
	}
	return false
}

// told takes in what an editor tells of a session. An error means that nothing of the
// message was used.
func (a *Agent) told(method string, raw json.RawMessage) error {
	p, err := parseParams(raw)
	if err != nil {
		return err
	}
	s, err := a.session(p)
	if err != nil {
		return err
	}
	if s.moment == nil {
		return nil // nobody would be told
	}
	var changes []func(*contextprovider.EditorState)
	add := func(change func(*contextprovider.EditorState), err error) error {
		changes = append(changes, change)
		return err
	}
	switch method {
	case methodActiveDocument:
		err = add(activeDocument(p["document"]))
	case methodOpenDocuments:
		err = add(openDocuments(p["documents"]))
	case methodRecentDocuments:
		err = add(recentDocuments(p["documents"]))
	default:
		if raw, ok := p["activeDocument"]; ok && err == nil {
			err = add(activeDocument(raw))
		}
		if raw, ok := p["openDocuments"]; ok && err == nil {
			err = add(openDocuments(raw))
		}
		if raw, ok := p["recentDocuments"]; ok && err == nil {
			err = add(recentDocuments(raw))
		}
		if raw, ok := p["diagnostics"]; ok && err == nil {
			err = add(problems(raw))
		}
	}
	if err != nil {
		return err
	}
	s.moment.Editor(func(e *contextprovider.EditorState) {
		e.Seen = time.Now()
		if name := p.optionalText("editor"); name != "" {
			e.Editor = clip(name)
		}
		for _, change := range changes {
			change(e)
		}
	})
	return nil
}

// document reads the path of a document. One that is no file on this machine, such as
// an untitled buffer, has none.
func document(raw json.RawMessage, at string) (m members, path string, err error) {
	m, ok := object(raw)
	if !ok {
		return nil, "", invalid("%s must be an object, not %s", at, kindOf(raw))
	}
	uri, err := m.text("uri")
	if err != nil {
		return nil, "", invalid("%s.uri must be a string", at)
	}
	if mention := contextprovider.ParseMention(uri); mention.Kind == contextprovider.MentionFile && filepath.IsAbs(mention.Path) {
		path = filepath.Clean(mention.Path)
	}
	return m, path, nil
}

func activeDocument(raw json.RawMessage) (func(*contextprovider.EditorState), error) {
	if kindOf(raw) == "null" {
		return func(e *contextprovider.EditorState) { e.Active, e.Cursor, e.Selection, e.Visible = "", nil, nil, nil }, nil
	}
	m, path, err := document(raw, "document")
	if err != nil {
		return nil, err
	}
	var cursor *contextprovider.Position
	if raw, ok := m["cursor"]; ok && kindOf(raw) != "null" {
		at, err := position(raw, "cursor")
		if err != nil {
			return nil, err
		}
		cursor = &at
	}
	selection, err := firstSpan(m, "selections")
	if err != nil {
		return nil, err
	}
	visible, err := firstSpan(m, "visibleRanges")
	if err != nil {
		return nil, err
	}
	if selection != nil {
		if selection.From == selection.To {
			selection = nil
		} else if text := m.optionalText("selectedText"); len(text) <= maxSelectedText {
			selection.Text = text
		}
	}
	return func(e *contextprovider.EditorState) {
		e.Active, e.Cursor, e.Selection, e.Visible = path, cursor, selection, nil
		if path == "" {
			e.Cursor, e.Selection = nil, nil
			return
		}
		if visible != nil {
			e.Visible = &contextprovider.LineRange{First: visible.From.Line, Last: visible.To.Line}
		}
	}, nil
}

// firstSpan reads the first of a list of ranges, nil when there is none.
func firstSpan(m members, name string) (*contextprovider.Selection, error) {
	list, _ := m.list(name)
	if len(list) == 0 {
		return nil, nil
	}
	r, ok := object(list[0])
	if !ok {
		return nil, invalid("%s[0] must be an object, not %s", name, kindOf(list[0]))
	}
	from, err := position(r["start"], name+"[0].start")
	if err != nil {
		return nil, err
	}
	to, err := position(r["end"], name+"[0].end")
	if err != nil {
		return nil, err
	}
	if to.Line < from.Line || to.Line == from.Line && to.Column < from.Column {
		from, to = to, from
	}
	return &contextprovider.Selection{From: from, To: to}, nil
}

// position reads a place that counts from 0, as language servers do, as one that
// counts from 1.
func position(raw json.RawMessage, at string) (contextprovider.Position, error) {
	var p struct{ Line, Character *int }
	if json.Unmarshal(raw, &p) != nil || p.Line == nil || p.Character == nil {
		return contextprovider.Position{}, invalid("%s must have the whole numbers line and character, counted from 0", at)
	}
	if *p.Line < 0 || *p.Character < 0 || *p.Line > maxPlace || *p.Character > maxPlace {
		return contextprovider.Position{}, invalid("%s is no place in a text", at)
	}
	return contextprovider.Position{Line: *p.Line + 1, Column: *p.Character + 1}, nil
}

func openDocuments(raw json.RawMessage) (func(*contextprovider.EditorState), error) {
	var open []contextprovider.Document
	err := documents(raw, func(m members, path string) {
		open = append(open, contextprovider.Document{Path: path, Dirty: m.flag("isDirty")})
	})
	return func(e *contextprovider.EditorState) { e.Open = open }, err
}

func recentDocuments(raw json.RawMessage) (func(*contextprovider.EditorState), error) {
	var recent []string
	err := documents(raw, func(_ members, path string) { recent = append(recent, path) })
	return func(e *contextprovider.EditorState) { e.Recent = recent }, err
}

// documents goes through a list of documents that are files.
func documents(raw json.RawMessage, each func(m members, path string)) error {
	var list []json.RawMessage
	if kindOf(raw) != "an array" || json.Unmarshal(raw, &list) != nil {
		return invalid("documents must be an array, not %s", kindOf(raw))
	}
	for _, raw := range list[:min(len(list), maxDocuments)] {
		m, path, err := document(raw, "document")
		if err != nil {
			return err
		}
		if path != "" {
			each(m, path)
		}
	}
	return nil
}

func problems(raw json.RawMessage) (func(*contextprovider.EditorState), error) {
	var list []json.RawMessage
	if kindOf(raw) != "an array" || json.Unmarshal(raw, &list) != nil {
		return nil, invalid("diagnostics must be an array, not %s", kindOf(raw))
	}
	var all []contextprovider.Diagnostic
	for _, raw := range list[:min(len(list), maxDiagnostics)] {
		m, path, err := document(raw, "diagnostic")
		if err != nil {
			return nil, err
		}
		r := m.sub("range")
		from, err := position(r["start"], "diagnostic.range.start")
		if err != nil {
			return nil, err
		}
		to, err := position(r["end"], "diagnostic.range.end")
		if err != nil {
			return nil, err
		}
		var severity int
		if json.Unmarshal(m["severity"], &severity) != nil || severity < 0 || severity > 4 {
			severity = 0
		}
		if path == "" {
			continue
		}
		all = append(all, contextprovider.Diagnostic{
			Path: path, Lines: contextprovider.LineRange{First: from.Line, Last: max(from.Line, to.Line)}, Column: from.Column,
			Severity: contextprovider.Severity(severity), //nolint:gosec // 0 to 4
			Source:   clip(m.optionalText("source")), Code: clip(m.optionalText("code")), Message: clip(m.optionalText("message")),
		})
	}
	return func(e *contextprovider.EditorState) { e.Problems = all }, nil
}
