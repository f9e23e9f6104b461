package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// argumentSchema is the JSON Schema of a tool's arguments. It may be used by
// several goroutines at once.
type argumentSchema struct {
	root    *jsonschema.Schema
	text    json.RawMessage // root, as the model gets it
	resolve func() *jsonschema.Resolved
}

// inferSchema makes the schema of In's fields, with the defaults that are not
// zero. It panics when the types have no schema, since that is a bug.
func inferSchema[In any](tool string, defaults In, refine func(map[string]*jsonschema.Schema)) *argumentSchema {
	root, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("tool %s: infer the schema of its arguments: %v", tool, err))
	}
	simplify(root)
	var known map[string]json.RawMessage
	if b, err := json.Marshal(defaults); err != nil {
		panic(fmt.Sprintf("tool %s: encode the default arguments: %v", tool, err))
	} else if err := json.Unmarshal(b, &known); err != nil {
		panic(fmt.Sprintf("tool %s: decode the default arguments: %v", tool, err))
	}
	for name, value := range known {
		if !slices.Contains(root.Required, name) {
			root.Properties[name].Default = value
		}
	}
	if refine != nil {
		refine(root.Properties)
	}
	text, err := json.Marshal(root)
	if err != nil {
		panic(fmt.Sprintf("tool %s: encode the schema of its arguments: %v", tool, err))
	}
	return &argumentSchema{root: root, text: text, resolve: sync.OnceValue(func() *jsonschema.Resolved {
		resolved, err := root.Resolve(nil)
		if err != nil {
			panic(fmt.Sprintf("tool %s: resolve the schema of its arguments: %v", tool, err))
		}
		return resolved
	})}
}

// simplify makes an inferred schema one that every model provider takes: a type
// in each place, no unions with null, and no ban on further properties (calls
// with too many arguments are served, see coerce).
func simplify(s *jsonschema.Schema) {
	if len(s.Types) > 0 {
		s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
		s.Type, s.Types = s.Types[0], nil
	}
	s.AdditionalProperties = nil
	for _, p := range s.Properties {
		simplify(p)
	}
	if s.Items != nil {
		simplify(s.Items)
	}
}

// decode checks a JSON object against the schema and stores it in into, which
// holds the defaults. The notes say what was mended on the way. An error names
// the argument and what was expected of it.
func (s *argumentSchema) decode(object json.RawMessage, into any) (notes []string, err error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, fmt.Errorf("decode the arguments: %w", err)
	}
	c := coercion{}
	value = c.coerce(s.root, value, "")
	if err := s.resolve().Validate(value); err != nil {
		return nil, explain(s.root, value, "", err)
	}
	plain, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode the checked arguments: %w", err)
	}
	if err := json.Unmarshal(plain, into); err != nil {
		return nil, fmt.Errorf("decode the checked arguments: %w", err)
	}
	return c.notes, nil
}

// explain says in a sentence where value fails the schema, and what was
// expected there; cause is the validator's verdict. The validator judges, but
// its texts repeat whole values, which can be megabytes.
func explain(s *jsonschema.Schema, value any, at string, cause error) error {
	switch v := value.(type) {
	case map[string]any:
		if s.Type != "object" {
			break
		}
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				return fmt.Errorf("`%s` is missing, it must be %s", join(at, name), expected(s.Properties[name]))
			}
		}
		for _, name := range s.PropertyOrder {
			if p, ok := v[name]; ok {
				if err := invalid(s.Properties[name], p); err != nil {
					return explain(s.Properties[name], p, join(at, name), err)
				}
			}
		}
	case []any:
		if s.Type != "array" || s.Items == nil {
			break
		}
		for i, item := range v {
			if err := invalid(s.Items, item); err != nil {
				return explain(s.Items, item, fmt.Sprintf("%s[%d]", at, i), err)
			}
		}
	}
	if at == "" {
		return fmt.Errorf("the arguments do not fit: %s", shorten(cause.Error(), 200))
	}
	return fmt.Errorf("`%s` must be %s, not %s", at, expected(s), found(value))
}

func invalid(s *jsonschema.Schema, value any) error {
	resolved, err := s.CloneSchemas().Resolve(nil)
	if err != nil {
		return err
	}
	return resolved.Validate(value)
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// expected says in words what a schema wants.
func expected(s *jsonschema.Schema) string {
	switch {
	case len(s.Enum) > 0:
		var values []string
		for _, e := range s.Enum {
			values = append(values, fmt.Sprintf("%q", e))
		}
		return "one of " + strings.Join(values, ", ")
	case s.Type == "integer" && s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf("an integer from %v to %v", *s.Minimum, *s.Maximum)
	case s.Type == "integer":
		return "an integer"
	case s.Type == "string" && s.MaxLength != nil && s.MinLength != nil:
		return fmt.Sprintf("a string of %d to %d characters", *s.MinLength, *s.MaxLength)
	case s.Type == "string" && s.MinLength != nil:
		return "a string that is not empty"
	case s.Type == "array" && s.Items != nil:
		text := "an array of " + s.Items.Type + "s"
		if s.MinItems != nil {
			text += fmt.Sprintf(", at least %d", *s.MinItems)
		}
		if s.MaxItems != nil {
			text += fmt.Sprintf(", at most %d", *s.MaxItems)
		}
		return text
	case s.Type == "object":
		return "an object with " + strings.Join(quoted(s.Required), ", ")
	}
	return "a " + s.Type
}

func quoted(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, "`"+n+"`")
	}
	return out
}

// found says in words what a value is.
func found(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		if v == "" {
			return "an empty string"
		}
		return "the string " + fmt.Sprintf("%q", shorten(v, 60))
	case bool:
		return fmt.Sprint(v)
	case []any:
		return fmt.Sprintf("an array of %d", len(v))
	case map[string]any:
		return "an object"
	}
	return fmt.Sprint(value)
}
