// Package schema answers whether one piece of an ACP message is what the
// protocol's own JSON schemas say, and which method has which pieces.
//
// The published root schema lets nearly everything through, since its branches
// for extensions accept any params; so each method's definitions are looked up
// and checked one by one, and members that no definition names are refused.
//
// It must not know of sequences: ids, sessions, turns and capabilities are the
// business of package judge.
package schema

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed schema.json
var stableJSON []byte

//go:embed schema.unstable.json
var unstableJSON []byte

// Side is the peer that serves a method.
type Side string

// The sides that serve methods.
const (
	Agent    Side = "agent"
	Client   Side = "client"
	Protocol Side = "protocol" // either peer
)

// Method names the definitions of one method. A name is empty when the method
// has no such form: a method without Request is a notification only.
type Method struct {
	Side         Side
	Request      string // params of the request
	Response     string // its result
	Notification string // params of the notification
}

// Set is one published schema, ready to check values. Its methods may be called
// from several goroutines at once.
type Set struct {
	methods map[string]Method
	checker *jsonschema.Resolved
	names   map[string]*jsonschema.Schema // the definitions that checker takes
}

// Stable gives the schema of ACP v1 without drafts. It is built at the first call.
var Stable = sync.OnceValues(func() (*Set, error) { return load(stableJSON) })

// Unstable gives the schema of ACP v1 with drafts. It is built at the first call.
var Unstable = sync.OnceValues(func() (*Set, error) { return load(unstableJSON) })

func load(data []byte) (*Set, error) {
	var root jsonschema.Schema
	if err := json.Unmarshal(data, &root); err != nil {
		return nil, fmt.Errorf("reading the ACP schema: %w", err)
	}
	methods, err := methodsOf(root.Defs)
	if err != nil {
		return nil, err
	}
	seal(root.Defs)
	nameBranches(root.Defs)
	// One schema that takes {"NameOfDefinition": value} is resolved once; one
	// schema a definition would be resolved two hundred times.
	entry := &jsonschema.Schema{Schema: root.Schema, Defs: root.Defs, Properties: map[string]*jsonschema.Schema{}}
	for name, def := range root.Defs {
		// Every name in entry costs at every check, so only those that stand for
		// a whole piece of a message are taken.
		if _, ok := def.Extra["x-method"]; ok || name == "Error" {
			entry.Properties[name] = sealedRef(root.Defs, name)
		}
	}
	checker, err := entry.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("resolving the ACP schema: %w", err)
	}
	return &Set{methods: methods, checker: checker, names: entry.Properties}, nil
}

func methodsOf(defs map[string]*jsonschema.Schema) (map[string]Method, error) {
	methods := make(map[string]Method)
	for name, def := range defs {
		method, ok := def.Extra["x-method"].(string)
		if !ok {
			continue
		}
		side, _ := def.Extra["x-side"].(string)
		m := methods[method]
		m.Side = Side(side)
		switch {
		case strings.HasSuffix(name, "Request"):
			m.Request = name
		case strings.HasSuffix(name, "Response"):
			m.Response = name
		case strings.HasSuffix(name, "Notification"):
			m.Notification = name
		default:
			return nil, fmt.Errorf("the ACP schema names %s for %s, which is neither request, response nor notification", name, method)
		}
		methods[method] = m
	}
	if len(methods) == 0 {
		return nil, errors.New("the ACP schema names no methods")
	}
	return methods, nil
}

// Method looks a method up; false when the schema does not have it.
func (s *Set) Method(name string) (Method, bool) {
	m, ok := s.methods[name]
	return m, ok
}

// Check holds value, as encoding/json decodes it into an any, against the
// definition of that name, which is one of a Method's or "Error". The error says
// where the value is wrong.
func (s *Set) Check(definition string, value any) error {
	if _, ok := s.names[definition]; !ok {
		return fmt.Errorf("the ACP schema has no definition %q of a piece of a message", definition)
	}
	err := s.checker.Validate(map[string]any{definition: value})
	if err == nil {
		return nil
	}
	return errors.New(definition + ": " + shorten(err.Error()))
}

// shorten keeps the last places of a chain of nested errors, where the cause
// stands, and says in words what the library says of a member too many.
func shorten(text string) string {
	const places = 4
	chain := strings.Split(text, ": validating ")
	if len(chain) > places {
		chain = chain[len(chain)-places:]
	}
	text = strings.Join(chain, ": ")
	return strings.ReplaceAll(text, "/unevaluatedProperties: not: validated against <anonymous schema>", " has a member that is not defined")
}
