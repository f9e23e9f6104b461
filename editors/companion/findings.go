package companion

import (
	"bytes"
	"encoding/json"
	"time"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/editors/state"
	"kimi-acp/internal/fileuri"
)

// finding is a diagnostic as editors send it. That of glsp loses the code.
type finding struct {
	Range    protocol.Range  `json:"range"`
	Severity int             `json:"severity"`
	Source   string          `json:"source"`
	Code     json.RawMessage `json:"code"`
	Message  json.RawMessage `json:"message"`
}

// diagnostic gives the finding for the agent.
func (f finding) diagnostic(doc *document, e encoding) state.Diagnostic {
	severities := []state.Severity{"", state.Error, state.Warning, state.Information, state.Hint}
	g := state.Diagnostic{Range: doc.span(e, f.Range), Source: f.Source, Code: plain(f.Code), Message: words(f.Message)}
	if f.Severity > 0 && f.Severity < len(severities) {
		g.Severity = severities[f.Severity]
	}
	return g
}

// plain gives a string or a number as text.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(bytes.TrimSpace(raw))
}

// words gives a message, which newer editors may wrap.
func words(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var wrapped struct {
		Value string `json:"value"`
	}
	_ = json.Unmarshal(raw, &wrapped) // what is neither says nothing
	return wrapped.Value
}

// published takes in all that a server finds wrong with a file.
func (d *desk) published(uri string, findings []finding) {
	path := fileuri.Path(uri)
	if path == "" {
		return
	}
	d.update(func(now time.Time) { d.setFindings(path, findings, d.units, now) })
}

// setFindings replaces what is wrong with a file; mu is held.
func (d *desk) setFindings(path string, findings []finding, units encoding, now time.Time) {
	if d.diagnostics[path] == nil && (len(findings) == 0 || len(d.diagnostics) == maxFindings) {
		return
	}
	items := make([]state.Diagnostic, 0, min(len(findings), maxItems))
	for _, f := range findings[:min(len(findings), maxItems)] {
		items = append(items, f.diagnostic(d.documents[path], units))
	}
	d.diagnostics[path] = &state.FileDiagnostics{Path: path, Items: items, At: now}
}

// foundAt takes in what is wrong in a part of a file; mu is held. What is known of the
// rest stays, unless the file was edited since: then its places are not right any more.
func (d *desk) foundAt(path string, part protocol.Range, findings []finding, now time.Time) {
	doc, old := d.documents[path], d.diagnostics[path]
	if old == nil || doc != nil && doc.changed.After(old.At) {
		d.setFindings(path, findings, d.units, now)
		return
	}
	span := doc.span(d.units, part)
	var items []state.Diagnostic
	for _, item := range old.Items {
		if before(item.Range.End, span.Start) || before(span.End, item.Range.Start) {
			items = append(items, item)
		}
	}
	for _, f := range findings {
		if len(items) < maxItems {
			items = append(items, f.diagnostic(doc, d.units))
		}
	}
	d.diagnostics[path] = &state.FileDiagnostics{Path: path, Items: items, At: now}
}

func before(a, b state.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Byte < b.Byte
}
