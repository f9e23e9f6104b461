package tool

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func TestSpecs(t *testing.T) {
	var got bytes.Buffer
	for i := range 3 {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		for _, s := range newWorld(t, nil).executor.Specs() {
			if err := enc.Encode(s); err != nil {
				t.Fatal(err)
			}
		}
		if i > 0 && !bytes.Equal(got.Bytes(), b.Bytes()) {
			t.Fatal("two Executors give different bytes")
		}
		got = b
	}
	golden := filepath.Join("testdata", "specs.golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the specs changed, which costs every session its prompt cache; -update if that is meant:\n%s", got.Bytes())
	}
}

// TestSchemasAreSimple: what providers are known to refuse is in no schema.
func TestSchemasAreSimple(t *testing.T) {
	places := 0
	var walk func(name string, v any)
	walk = func(name string, v any) {
		s, ok := v.(map[string]any)
		if !ok {
			t.Errorf("%s is no schema: %v", name, v)
			return
		}
		places++
		if _, ok := s["type"].(string); !ok {
			t.Errorf("%s has the type %v", name, s["type"])
		}
		for _, banned := range []string{"$ref", "$defs", "title", "anyOf", "oneOf", "allOf", "additionalProperties"} {
			if s[banned] != nil {
				t.Errorf("%s has %s", name, banned)
			}
		}
		if props, ok := s["properties"].(map[string]any); ok {
			for p, v := range props {
				walk(name+"."+p, v)
			}
		}
		if items, ok := s["items"]; ok {
			walk(name+"[]", items)
		}
	}
	for _, b := range Builtin() {
		spec := b.Spec()
		var v any
		if err := json.Unmarshal(spec.Parameters, &v); err != nil {
			t.Fatal(err)
		}
		walk(spec.Name, v)
		if len(spec.Description) < 50 {
			t.Errorf("%s has no description", spec.Name)
		}
	}
	if places < 15 {
		t.Errorf("only %d schemas were looked at", places)
	}
}
