package fileop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// isNotebook tells a Jupyter notebook by its name.
func isNotebook(path string) bool { return strings.EqualFold(filepath.Ext(path), ".ipynb") }

// cell is a cell of a notebook: what it holds, and where its source stands in the
// notebook's text.
type cell struct {
	kind    string // code, markdown, raw
	source  string
	outputs []json.RawMessage
	start   int // the JSON value of its source is text[start:end]
	end     int
}

// cellsOf finds the cells of a notebook. ErrBadNotebook means that it is not one of
// the fourth format, which all current programs write.
func cellsOf(text string) ([]cell, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	var cells []cell
	found := false
	err := members(dec, func(key string) error {
		if key != "cells" {
			return skip(dec)
		}
		found = true
		return elements(dec, func() error {
			c, err := readCell(dec)
			cells = append(cells, c)
			return err
		})
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %s", ErrBadNotebook, err.Error())
	case !found:
		return nil, fmt.Errorf("%w: it has no list of cells", ErrBadNotebook)
	}
	if rest := strings.TrimSpace(text[dec.InputOffset():]); rest != "" {
		return nil, fmt.Errorf("%w: something follows behind its end", ErrBadNotebook)
	}
	return cells, nil
}

func readCell(dec *json.Decoder) (c cell, err error) {
	err = members(dec, func(key string) error {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		switch key {
		case "cell_type":
			return json.Unmarshal(raw, &c.kind)
		case "outputs":
			return json.Unmarshal(raw, &c.outputs)
		case "source":
			c.end = int(dec.InputOffset())
			c.start = c.end - len(raw)
			c.source, err = joined(raw)
			return err
		}
		return nil
	})
	if err == nil && c.end == 0 {
		err = errors.New("a cell has no source")
	}
	return c, err
}

// joined is a text that stands as one string or as a list of lines.
func joined(raw json.RawMessage) (string, error) {
	var lines []string
	if err := json.Unmarshal(raw, &lines); err == nil {
		return strings.Join(lines, ""), nil
	}
	var whole string
	err := json.Unmarshal(raw, &whole)
	return whole, err
}

// members calls one for each member of an object; it has to read the value.
func members(dec *json.Decoder, one func(key string) error) error {
	if err := opening(dec, '{'); err != nil {
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		if err := one(key.(string)); err != nil { // the decoder gives nothing else here
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// elements calls one for each element of an array; it has to read the element.
func elements(dec *json.Decoder, one func() error) error {
	if err := opening(dec, '['); err != nil {
		return err
	}
	for dec.More() {
		if err := one(); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

func opening(dec *json.Decoder, want json.Delim) error {
	got, err := dec.Token()
	if err == nil && got != want {
		err = fmt.Errorf("%q is wanted where %v stands", want.String(), got)
	}
	return err
}

func skip(dec *json.Decoder) error {
	var raw json.RawMessage
	return dec.Decode(&raw)
}

// replaceInCells makes replacements in the sources of cells. Each old text has to
// stand in one cell, once, unless all are meant. All else of the notebook stays byte
// for byte, and a source keeps its form, a string or a list of lines.
func (t Text) replaceInCells(path string, rs []Replacement) (Text, error) {
	cells, err := cellsOf(t.Body)
	if err != nil {
		return t, fmt.Errorf("%s: %w", path, err)
	}
	// The sources are edited as one text in which nothing reaches across two cells.
	sources := make([]string, len(cells))
	for i, c := range cells {
		sources[i] = joinLF(c.source)
	}
	all := Text{Body: strings.Join(sources, cellEnd)}
	for i, r := range rs {
		if strings.Contains(r.New, cellEnd) || strings.Contains(r.Old, cellEnd) {
			return t, fmt.Errorf("%s: replacement %d of %d: %w: it holds a NUL character", path, i+1, len(rs), ErrBinary)
		}
	}
	edited, err := all.replace(path, rs)
	if err != nil {
		return t, err
	}
	now := strings.Split(edited.Body, cellEnd)
	var out strings.Builder
	done := 0
	for i, c := range cells {
		if now[i] == sources[i] {
			continue
		}
		out.WriteString(t.Body[done:c.start])
		out.WriteString(sourceLike(t.Body, c, now[i]))
		done = c.end
	}
	out.WriteString(t.Body[done:])
	return t.withBody(out.String()), nil
}

// cellEnd stands between two cells while they are edited. No source holds it.
const cellEnd = "\x00"

// sourceLike writes a source in the form of the old one, a list with its indentation.
func sourceLike(text string, c cell, source string) string {
	old := text[c.start:c.end]
	if !strings.HasPrefix(old, "[") {
		return quoted(source)
	}
	lines := splitLines(source)
	if len(lines) == 0 {
		return "[]"
	}
	margin := " "
	if i := strings.IndexByte(old, '\n'); i < 0 && strings.Contains(text, "\n") && c.source == "" || i >= 0 {
		at := text[strings.LastIndexByte(text[:c.start], '\n')+1 : c.start]
		margin = "\n" + at[:len(at)-len(strings.TrimLeft(at, " \t"))]
	}
	if margin == " " { // on one line
		parts := make([]string, len(lines))
		for i, l := range lines {
			parts[i] = quoted(l)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	inner := margin + " "
	if i := strings.IndexByte(old, '"'); i > 0 && strings.HasPrefix(old[1:], "\n") {
		inner = old[1:i]
	}
	var b strings.Builder
	b.WriteByte('[')
	for i, l := range lines {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(inner + quoted(l))
	}
	return b.String() + margin + "]"
}

// quoted is a JSON string as notebooks have them, with characters as they are.
func quoted(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string can always be written
	return strings.TrimSuffix(b.String(), "\n")
}

// wholeNotebook judges a text that is to take the place of a notebook.
func wholeNotebook(path, content string) error {
	if _, err := cellsOf(content); err != nil {
		return fmt.Errorf("%s: %w; give the whole notebook as JSON, or replace texts in its cells", path, err)
	}
	return nil
}
