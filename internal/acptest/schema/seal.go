package schema

import "github.com/google/jsonschema-go/jsonschema"

// seal makes every place where a value stands refuse members that no definition
// names. It may not be done inside definitions that are mixed into others with
// allOf, for there each would refuse the members of the other; so the places are
// closed, never the definitions.
func seal(defs map[string]*jsonschema.Schema) {
	for _, def := range defs {
		sealPlaces(defs, def)
	}
}

// sealPlaces goes through one definition and everything applied in its place,
// and closes the schemas of its members and elements.
func sealPlaces(defs map[string]*jsonschema.Schema, s *jsonschema.Schema) {
	if s == nil {
		return
	}
	for _, member := range s.Properties {
		closePlace(defs, member)
	}
	closePlace(defs, s.Items)
	closePlace(defs, s.AdditionalProperties)
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, part := range list {
			sealPlaces(defs, part)
		}
	}
}

func closePlace(defs map[string]*jsonschema.Schema, place *jsonschema.Schema) {
	if place == nil {
		return
	}
	sealPlaces(defs, place)
	if namesMembers(defs, place, 0) && place.UnevaluatedProperties == nil && place.AdditionalProperties == nil {
		place.UnevaluatedProperties = nothing()
	}
}

// sealedRef is a closed place that holds one definition.
func sealedRef(defs map[string]*jsonschema.Schema, name string) *jsonschema.Schema {
	ref := &jsonschema.Schema{Ref: refPrefix + name}
	if namesMembers(defs, ref, 0) {
		ref.UnevaluatedProperties = nothing()
	}
	return ref
}

const refPrefix = "#/$defs/"

// namesMembers tells whether a value in this place has members that a definition
// names. Places that do not, such as rawInput, take any object. Depth bounds
// definitions that refer to themselves.
func namesMembers(defs map[string]*jsonschema.Schema, s *jsonschema.Schema, depth int) bool {
	if s == nil || depth > 16 {
		return false
	}
	if len(s.Properties) > 0 {
		return true
	}
	if s.Ref != "" && namesMembers(defs, defs[s.Ref[len(refPrefix):]], depth+1) {
		return true
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, part := range list {
			if namesMembers(defs, part, depth+1) {
				return true
			}
		}
	}
	return false
}

// nothing is the schema false.
func nothing() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }
