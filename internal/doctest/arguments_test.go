package doctest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// schema is what the JSON Schema of a tool's argument says.
type schema struct {
	Type        string          `json:"type"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Enum        []any           `json:"enum"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	MinLength   *int            `json:"minLength"`
	MaxLength   *int            `json:"maxLength"`
	MinItems    *int            `json:"minItems"`
	MaxItems    *int            `json:"maxItems"`
	Pattern     string          `json:"pattern"`
	Items       *schema         `json:"items"`
	Properties  properties      `json:"properties"`
	Required    []string        `json:"required"`
}

func (s schema) requires(name string) bool { return slices.Contains(s.Required, name) }

// properties are the members of an object, in the order of the text.
type properties []property

type property struct {
	name string
	schema
}

// UnmarshalJSON reads an object and keeps its order.
func (p *properties) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil { // the brace
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var s schema
		if err := d.Decode(&s); err != nil {
			return fmt.Errorf("%v: %w", name, err)
		}
		*p = append(*p, property{fmt.Sprint(name), s})
	}
	return nil
}

// decodeSchema reads a tool's schema. What it does not know is an error, so that
// no limit is left out of a page.
func decodeSchema(t *testing.T, of string, text json.RawMessage) schema {
	t.Helper()
	var s schema
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		t.Fatalf("the schema of %s: %v", of, err)
	}
	return s
}

// value is what p points at, or a default.
func value[T, N int | float64](p *T, byDefault N) N {
	if p == nil {
		return byDefault
	}
	return N(*p)
}

// argumentRows describes arguments, those inside others too.
func argumentRows(of schema, within string) (rows [][]string) {
	for _, p := range of.Properties {
		name := within + p.name
		rows = append(rows, []string{code(name), typeOf(p.schema), defaultOf(p.schema, of.requires(p.name)), rangeOf(p.schema), p.Description})
		rows = append(rows, argumentRows(p.schema, name+".")...)
		for items, brackets := p.Items, "[]"; items != nil; items, brackets = items.Items, brackets+"[]" {
			rows = append(rows, argumentRows(*items, name+brackets+".")...)
		}
	}
	return rows
}

func typeOf(s schema) string {
	if s.Items != nil {
		return "array of " + typeOf(*s.Items) + "s"
	}
	return s.Type
}

func defaultOf(s schema, required bool) string {
	switch {
	case required:
		return "required"
	case s.Default == nil:
		return "none"
	}
	return code(string(s.Default))
}

func rangeOf(s schema) string {
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, code(fmt.Sprint(v)))
		}
		return strings.Join(values, ", ")
	}
	var limits []string
	for _, l := range []struct{ low, high, unit string }{
		{show(s.Minimum), show(s.Maximum), ""},
		{show(s.MinLength), show(s.MaxLength), " characters"},
		{show(s.MinItems), show(s.MaxItems), " items"},
	} {
		switch {
		case l.low != "" && l.high != "":
			limits = append(limits, l.low+" to "+l.high+l.unit)
		case l.low != "":
			limits = append(limits, l.low+l.unit+" or more")
		case l.high != "":
			limits = append(limits, "up to "+l.high+l.unit)
		}
	}
	if s.Pattern != "" {
		limits = append(limits, code(s.Pattern))
	}
	if s.Items != nil {
		if each := rangeOf(*s.Items); each != "" {
			limits = append(limits, "each: "+each)
		}
	}
	return strings.ReplaceAll(strings.Join(limits, "; "), "1 characters or more", "not empty")
}

func show[T int | float64](p *T) string {
	if p == nil {
		return ""
	}
	return strconv.FormatFloat(float64(*p), 'f', -1, 64)
}

func TestArgumentRows(t *testing.T) {
	s := decodeSchema(t, "x", []byte(`{"type":"object","required":["z"],"properties":{
		"z":{"type":"string","minLength":1,"description":"last letter first"},
		"a":{"type":"array","minItems":1,"maxItems":4,"items":{"type":"object","required":["k"],"properties":{"k":{"type":"integer","minimum":1,"maximum":1000000}}}},
		"e":{"type":"string","enum":["x","y"],"default":"x"}}}`))
	got := table(nil, argumentRows(s, ""))
	want := "|\n|\n" +
		"| `z` | string | required | not empty | last letter first |\n" +
		"| `a` | array of objects | none | 1 to 4 items |  |\n" +
		"| `a[].k` | integer | required | 1 to 1000000 |  |\n" +
		"| `e` | string | `\"x\"` | `x`, `y` |  |\n"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
