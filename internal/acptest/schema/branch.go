package schema

import "github.com/google/jsonschema-go/jsonschema"

// nameBranches turns each choice between tagged objects ("one of these fourteen
// updates") into one that looks at the tag first. It accepts the same values;
// the errors then speak of the branch that was meant, where the plain form only
// says that no branch fitted.
func nameBranches(defs map[string]*jsonschema.Schema) {
	for _, def := range defs {
		discriminator, _ := def.Extra["discriminator"].(map[string]any)
		tag, _ := discriminator["propertyName"].(string)
		if tag == "" {
			continue
		}
		var values []any
		for _, branch := range def.OneOf {
			member := branch.Properties[tag]
			if member == nil || member.Const == nil {
				values = nil
				break
			}
			values = append(values, *member.Const)
		}
		if values == nil {
			continue
		}
		for i, branch := range def.OneOf {
			def.AllOf = append(def.AllOf, &jsonschema.Schema{If: tagged(tag, &jsonschema.Schema{Const: &values[i]}), Then: branch})
		}
		def.AllOf = append(def.AllOf, tagged(tag, &jsonschema.Schema{Enum: values}))
		def.OneOf = nil
	}
}

func tagged(tag string, value *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{
		Type:       "object",
		Properties: map[string]*jsonschema.Schema{tag: value},
		Required:   []string{tag},
	}
}
