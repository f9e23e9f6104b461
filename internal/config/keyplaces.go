package config

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// maxKeyDepth bounds the depth of the keys whose places are kept; no setting lies deeper.
const maxKeyDepth = 5

// keyPlaces finds where in a valid TOML text each key first stands, since decoding into
// maps forgets it. An element
// of an array has a place, keys within it have none.
type keyPlaces struct {
	text    []byte
	offsets map[string]int // by the key's path, as pathOf writes it
}

func findKeys(text []byte) keyPlaces {
	k := keyPlaces{text: text, offsets: map[string]int{}}
	var (
		p     unstable.Parser
		table []string
	)
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = k.note(nil, e.Key())
		case unstable.KeyValue:
			k.noteValue(table, e)
		}
	}
	return k
}

// elementPath is the path of an element of an array, counted from 0.
func elementPath(array []string, i int) []string {
	return append(append([]string(nil), array...), "["+strconv.Itoa(i)+"]")
}

// noteValue notes the keys of `key = value`, those within a value that is a table, and
// the elements of one that is an array.
func (k keyPlaces) noteValue(table []string, e *unstable.Node) {
	path := k.note(table, e.Key())
	if len(path) >= maxKeyDepth {
		return
	}
	if e.Value().Kind == unstable.Array {
		i := 0
		for c := e.Value().Children(); c.Next(); i++ {
			if offset := int(c.Node().Raw.Offset); offset > 0 { // arrays in arrays have none
				k.offsets[pathOf(elementPath(path, i))] = offset
			}
		}
	}
	if e.Value().Kind != unstable.InlineTable {
		return
	}
	for c := e.Value().Children(); c.Next(); {
		if c.Node().Kind == unstable.KeyValue {
			k.noteValue(path, c.Node())
		}
	}
}

// note notes each part of a dotted key and gives its path, cut at maxKeyDepth.
func (k keyPlaces) note(table []string, key unstable.Iterator) []string {
	path := append([]string(nil), table...)
	for len(path) < maxKeyDepth && key.Next() {
		path = append(path, string(key.Node().Data))
		at := pathOf(path)
		if _, known := k.offsets[at]; !known {
			k.offsets[at] = int(key.Node().Raw.Offset)
		}
	}
	return path
}

// offset is the place of a key in bytes, -1 if it has none.
func (k keyPlaces) offset(path []string) int {
	if at, known := k.offsets[pathOf(path)]; known {
		return at
	}
	return -1
}

// line is the place of a key in lines from 1, 0 if it has none.
func (k keyPlaces) line(path []string) int {
	at := k.offset(path)
	if at < 0 {
		return 0
	}
	return 1 + bytes.Count(k.text[:at], []byte("\n"))
}

// pathOf writes a path of keys as one text. A key may hold dots, so these do not divide.
func pathOf(keys []string) string { return strings.Join(keys, "\x00") }
