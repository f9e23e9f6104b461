package config

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
)

// table reads one table of a document. What is of the wrong type or out of range gets a
// warning and counts as not said; the keys that nobody asked for can be told in the end.
// The nil table is one that says nothing.
type table struct {
	doc      *document
	path     []string
	values   map[string]any
	asked    map[string]bool
	warnings *warnings
	quiet    bool // unknown keys are no one's mistake
}

func newTable(doc *document, w *warnings, quiet bool) *table {
	return &table{doc: doc, values: doc.root, asked: map[string]bool{}, warnings: w, quiet: quiet}
}

// get gives a value, nil if there is none.
func (t *table) get(key string) any {
	if t == nil {
		return nil
	}
	t.asked[key] = true
	return t.values[key]
}

// warn says what is wrong with a key of the table.
func (t *table) warn(key, format string, args ...any) {
	path := t.keyPath(key)
	t.warnings.add(Warning{
		File: t.doc.path,
		Line: t.doc.keys.line(path),
		What: dotted(path) + " " + fmt.Sprintf(format, args...),
	})
}

func (t *table) keyPath(key string) []string {
	return append(slices.Clone(t.path), key)
}

// dotted writes a path of keys as a person would in a file.
func dotted(path []string) string {
	parts := make([]string, len(path))
	for i, key := range path {
		parts[i] = key
		if i > 0 && isElement(key) {
			parts[i-1], parts[i] = "", parts[i-1]+key
			continue
		}
		if key == "" || strings.ContainsFunc(key, notBare) || len(key) > maxName {
			parts[i] = quote(key)
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ".")
}

// isElement tells whether a part of a path is the place of an element in a list.
func isElement(key string) bool {
	inside, ok := strings.CutPrefix(key, "[")
	inside, closed := strings.CutSuffix(inside, "]")
	return ok && closed && inside != "" && strings.Trim(inside, "0123456789") == ""
}

func notBare(r rune) bool {
	return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
}

// text gives a text, and whether there is one.
func (t *table) text(key string) (string, bool) {
	v := t.get(key)
	s, ok := v.(string)
	if v != nil && !ok {
		t.warn(key, "is not a text in quotes; it is not used")
	}
	return s, ok
}

// name gives a text that can be shown on one line, empty if there is none.
func (t *table) name(key string) string {
	s, ok := t.text(key)
	if !ok || s == "" {
		return ""
	}
	if !isName(s) {
		t.warn(key, "is no name of at most %d printable characters; it is not used", maxName)
		return ""
	}
	return s
}

// isName tells whether a text can stand on one line and be chosen by.
func isName(s string) bool {
	return s != "" && len(s) <= maxName && s == strings.TrimSpace(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// flag gives a switch, nil if there is none.
func (t *table) flag(key string) *bool {
	v := t.get(key)
	b, ok := v.(bool)
	if ok {
		return &b
	}
	if v != nil {
		t.warn(key, "is neither true nor false; it is not used")
	}
	return nil
}

// number sets a whole number if there is one within a range, which includes its ends.
func (t *table) number(key string, least, most int, to *int) {
	n, said := t.figure(key)
	if !said {
		return
	}
	if n != math.Trunc(n) || n < float64(least) || n > float64(most) { // the first is true for NaN
		t.warn(key, "is not a whole number between %d and %d; %d is used", least, most, *to)
		return
	}
	*to = int(n)
}

// ratio sets a number if there is one within a range, which includes its ends.
func (t *table) ratio(key string, least, most float64, to *float64) {
	n, said := t.figure(key)
	if !said {
		return
	}
	if math.IsNaN(n) || n < least || n > most {
		t.warn(key, "is not a number between %g and %g; %g is used", least, most, *to)
		return
	}
	*to = n
}

// figure gives a number, NaN for something else, and whether there is anything. All
// numbers of settings are small enough to be held without loss.
func (t *table) figure(key string) (n float64, said bool) {
	switch v := t.get(key).(type) {
	case nil:
		return 0, false
	case int64:
		return float64(v), true
	case float64: // how JSON holds whole numbers, too
		return v, true
	}
	return math.NaN(), true
}

// elements gives the elements of a list, and whether the key is one or is not there.
func (t *table) elements(key string) ([]any, bool) {
	v := t.get(key)
	list, ok := v.([]any)
	return list, ok || v == nil
}

// texts gives a list of texts, nil if there is none.
func (t *table) texts(key string) []string {
	v := t.get(key)
	if v == nil {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		t.warn(key, "is not a list of texts; it is not used")
		return nil
	}
	all := make([]string, 0, len(list))
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			t.warn(key, "has an element that is not a text in quotes; that one is not used")
			continue
		}
		all = append(all, s)
	}
	return all
}

// pairs gives a table of texts, nil if there is none.
func (t *table) pairs(key string) map[string]string {
	inner := t.table(key)
	if inner == nil {
		return nil
	}
	all := make(map[string]string, len(inner.values))
	for _, name := range slices.Sorted(maps.Keys(inner.values)) {
		if s, ok := inner.text(name); ok {
			all[name] = s
		}
	}
	return all
}

// table gives a table within, nil if there is none.
func (t *table) table(key string) *table {
	v := t.get(key)
	if v == nil {
		return nil
	}
	values, ok := v.(map[string]any)
	if !ok {
		t.warn(key, "is not a table; it is not used")
		return nil
	}
	return &table{doc: t.doc, path: t.keyPath(key), values: values, asked: map[string]bool{}, warnings: t.warnings, quiet: t.quiet}
}

// tables gives the tables within a table by their keys, in the order of the file, or of
// the keys where the file's is not known.
func (t *table) tables(key string) (keys []string, all map[string]*table) {
	outer := t.table(key)
	if outer == nil {
		return nil, nil
	}
	all = map[string]*table{}
	for _, k := range slices.Sorted(maps.Keys(outer.values)) {
		if inner := outer.table(k); inner != nil {
			all[k] = inner
		}
	}
	keys = slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(
			cmp.Compare(t.doc.keys.offset(all[a].path), t.doc.keys.offset(all[b].path)),
			cmp.Compare(a, b),
		)
	})
	return keys, all
}

// ignore names keys that may be there.
func (t *table) ignore(keys ...string) {
	for _, key := range keys {
		t.get(key)
	}
}

// unknown warns of the keys that nobody asked for.
func (t *table) unknown() {
	if t == nil || t.quiet {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if t.asked[key] {
			continue
		}
		path := t.keyPath(key)
		t.warnings.add(Warning{
			File: t.doc.path, Line: t.doc.keys.line(path),
			What: "unknown key " + dotted(path) + "; it is not used",
		})
	}
}
