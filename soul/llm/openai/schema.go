package openai

import (
	"bytes"
	"encoding/json"
	"slices"

	"kimi-acp/internal/jsonstring"
)

// maxSchemaDepth bounds how deep a schema is looked into. What lies deeper is
// passed on as it is.
const maxSchemaDepth = 64

// typedSchema gives a JSON Schema in which every schema beneath the root says
// its type, which Moonshot demands. The order of fields, which models read too,
// stays. Schemas that are not objects, as true, stay as they are.
func typedSchema(schema json.RawMessage) json.RawMessage {
	return typed(schema, maxSchemaDepth, true)
}

// place says what stands under a keyword of a schema.
type place uint8

const (
	noSchema    place = iota
	oneOrMany         // a schema or a list of them
	namedSchema       // an object of schemas
)

func placeOf(keyword string) place {
	switch keyword {
	case "items", "prefixItems", "additionalProperties", "anyOf", "oneOf", "allOf":
		return oneOrMany
	case "properties", "patternProperties", "$defs", "definitions":
		return namedSchema
	}
	return noSchema
}

func typed(schema json.RawMessage, depth int, root bool) json.RawMessage {
	fields, ok := readFields(schema)
	if !ok || depth == 0 {
		return schema
	}
	for i := range fields {
		f := &fields[i]
		switch placeOf(f.name) {
		case noSchema:
		case oneOrMany:
			var list []json.RawMessage
			if json.Unmarshal(f.value, &list) != nil {
				f.value = typed(f.value, depth-1, false)
				continue
			}
			for j := range list {
				list[j] = typed(list[j], depth-1, false)
			}
			f.value = writeList(list)
		case namedSchema:
			if named, ok := readFields(f.value); ok {
				for j := range named {
					named[j].value = typed(named[j].value, depth-1, false)
				}
				f.value = writeFields(named)
			}
		}
	}
	if !root && !saysType(fields) {
		fields = append(fields, field{"type", json.RawMessage(`"` + inferType(fields) + `"`)})
	}
	return writeFields(fields)
}

// saysType tells whether a schema has a type or leaves it to others.
func saysType(fields []field) bool {
	return slices.ContainsFunc(fields, func(f field) bool {
		switch f.name {
		case "type", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "$ref":
			return true
		}
		return false
	})
}

// inferType gives the type that a schema means: that of its values, or else the
// one that its keywords are about, or else string.
func inferType(fields []field) string {
	byKeyword := "string"
	for _, f := range fields {
		switch f.name {
		case "enum":
			var values []json.RawMessage
			if json.Unmarshal(f.value, &values) == nil && len(values) > 0 {
				return commonType(values)
			}
		case "const":
			return commonType([]json.RawMessage{f.value})
		}
		if t := typeOfKeyword(f.name); t != "" && byKeyword == "string" {
			byKeyword = t
		}
	}
	return byKeyword
}

func typeOfKeyword(keyword string) string {
	switch keyword {
	case "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties":
		return "object"
	case "items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems":
		return "array"
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return "number"
	}
	return ""
}

// commonType gives the one type that all values have, string if there is none.
func commonType(values []json.RawMessage) string {
	common := typeOfValue(values[0])
	for _, v := range values[1:] {
		switch t := typeOfValue(v); {
		case t == common:
		case t == "integer" && common == "number", t == "number" && common == "integer":
			common = "number"
		default:
			return "string"
		}
	}
	return common
}

func typeOfValue(v json.RawMessage) string {
	switch v[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	if bytes.ContainsAny(v, ".eE") {
		return "number"
	}
	return "integer"
}

// field is one of an object's, in the order of the text.
type field struct {
	name  string
	value json.RawMessage
}

// readFields reads an object; false: it is something else.
func readFields(object json.RawMessage) ([]field, bool) {
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	var fields []field
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		f := field{name: name.(string)} // the decoder lets nothing else be a name
		if err := d.Decode(&f.value); err != nil {
			return nil, false
		}
		fields = append(fields, f)
	}
	return fields, true
}

func writeFields(fields []field) json.RawMessage {
	out := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsonstring.Append(out, f.name), ':')
		out = append(out, f.value...)
	}
	return append(out, '}')
}

func writeList(list []json.RawMessage) json.RawMessage {
	return slices.Concat([]byte{'['}, bytes.Join(asBytes(list), []byte{','}), []byte{']'})
}

func asBytes(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}
