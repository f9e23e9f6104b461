package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// coercion turns what a model sent into what it plainly meant, as far as a
// schema tells: numbers, booleans, arrays and objects that came as strings, one
// object where a list of objects belongs, null for something that may be left
// out. Everything else is left for the validator to refuse.
type coercion struct {
	notes []string // what the model should know
}

// coerce gives value, decoded with json.Number, in the form that s describes. No
// json.Number is left in it where s has a type, so that the validator never
// computes with exponents of any size.
func (c *coercion) coerce(s *jsonschema.Schema, value any, at string) any {
	if text, ok := value.(string); ok {
		value = fromString(s.Type, text)
	}
	switch v := value.(type) {
	case json.Number:
		return c.number(s, v, at)
	case map[string]any:
		if s.Type == "array" && s.Items != nil && s.Items.Type == "object" {
			return []any{c.coerce(s.Items, v, at+"[0]")}
		}
		if s.Type == "object" {
			return c.object(s, v, at)
		}
	case []any:
		if s.Type == "array" && s.Items != nil {
			out := make([]any, len(v))
			for i, item := range v {
				out[i] = c.coerce(s.Items, item, fmt.Sprintf("%s[%d]", at, i))
			}
			return out
		}
	}
	return value
}

// object keeps the properties that s knows and notes the others.
func (c *coercion) object(s *jsonschema.Schema, v map[string]any, at string) any {
	out := make(map[string]any, len(s.Properties))
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		property, ok := s.Properties[name]
		switch {
		case !ok:
			unknown = append(unknown, shorten(join(at, name), 40))
		case v[name] == nil && !slices.Contains(s.Required, name):
			// null stands for "left out".
		default:
			out[name] = c.coerce(property, v[name], join(at, name))
		}
	}
	if n := len(unknown); n > 0 {
		const shown = 5
		text := strings.Join(quoted(unknown[:min(n, shown)]), ", ")
		if n > shown {
			text += fmt.Sprintf(" and %d more", n-shown)
		}
		c.notes = append(c.notes, "Unknown arguments were ignored: "+text+".")
	}
	return out
}

// number gives an int where the number is whole, and a float64 otherwise; what
// is too large for them becomes the largest there is. An integer beyond the
// schema's maximum means "as many as there may be".
func (c *coercion) number(s *jsonschema.Schema, n json.Number, at string) any {
	whole, err := strconv.Atoi(n.String())
	if err != nil {
		f, _ := n.Float64() // out of range: infinite, with the right sign
		if f != math.Trunc(f) || s.Type != "integer" {
			return min(max(f, -math.MaxFloat64), math.MaxFloat64)
		}
		switch {
		case f >= math.MaxInt:
			whole = math.MaxInt
		case f <= math.MinInt:
			whole = math.MinInt
		default:
			whole = int(f)
		}
	}
	if s.Type == "integer" && s.Maximum != nil && float64(whole) > *s.Maximum {
		whole = int(*s.Maximum)
		c.notes = append(c.notes, fmt.Sprintf("`%s` was lowered to its maximum, %d.", at, whole))
	}
	return whole
}

// fromString reads a string as the type that a schema wants, where it is one.
func fromString(wanted, text string) any {
	var value any
	switch wanted {
	case "integer", "number", "boolean", "array", "object":
		mended, err := mendJSON(text)
		if err != nil || mended == "" {
			return text
		}
		dec := json.NewDecoder(strings.NewReader(mended))
		dec.UseNumber()
		if dec.Decode(&value) != nil {
			return text
		}
	default:
		return text
	}
	fits := false
	switch value.(type) {
	case json.Number:
		fits = wanted == "integer" || wanted == "number"
	case bool:
		fits = wanted == "boolean"
	case []any, map[string]any:
		fits = wanted == "array" || wanted == "object"
	}
	if !fits {
		return text
	}
	return value
}
