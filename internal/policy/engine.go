package policy

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Ready sets of rules.
const (
	SetInspect = "inspect" // commands that look and change nothing
	SetBuild   = "build"   // building, testing and checking; holds in trusted workspaces
)

//go:embed rules/*.rules
var ready embed.FS

// Layer is rules of one scope.
type Layer struct {
	Scope Scope
	Name  string // where the rules come from, for errors, e.g. the file's name
	Rules []Rule
}

// Options say what an Engine is made of.
type Options struct {
	Sets   []string // ready sets; nil: SetInspect alone
	Layers []Layer
}

// maxRules bounds the rules of an Engine.
const maxRules = 10_000

// scoped is a rule and how far it reaches.
type scoped struct {
	Rule
	scope Scope
	ready bool
	looks bool // of a set whose commands change nothing

	files  pattern   // KindRead and KindEdit: Pattern, read once
	except []pattern // the same for Except
}

// Engine decides. It does not change, and may be used by any number of goroutines.
type Engine struct {
	given    []scoped            // addresses, tools, variables, and layers' commands
	files    map[Kind][]scoped   // files, by KindRead and KindEdit
	programs map[string][]scoped // commands of the ready sets by the name of the program
	ignored  []string
}

// New makes an Engine. An error names the rule that cannot be used, or the rule
// and its example that does not hold.
func New(o Options) (*Engine, error) {
	sets := o.Sets
	if sets == nil {
		sets = []string{SetInspect}
	}
	e := &Engine{programs: map[string][]scoped{}, files: map[Kind][]scoped{}}
	for _, name := range slices.Concat([]string{"files"}, sets) {
		text, err := ready.ReadFile("rules/" + name + ".rules")
		if err != nil {
			return nil, fmt.Errorf("there is no ready set of rules %q; use %s or %s", name, SetInspect, SetBuild)
		}
		rules, err := parseRules(string(text), true)
		if err != nil {
			return nil, fmt.Errorf("set %s: %w", name, err)
		}
		if err := e.add(name, User, true, rules); err != nil {
			return nil, err
		}
	}
	for _, l := range o.Layers {
		if err := e.add(l.Name, l.Scope, false, l.Rules); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// With is an Engine with more rules, as after a lasting answer.
func (e *Engine) With(scope Scope, rules ...Rule) (*Engine, error) {
	n := &Engine{given: slices.Clone(e.given), programs: e.programs, files: maps.Clone(e.files), ignored: slices.Clone(e.ignored)}
	for kind, rules := range n.files {
		n.files[kind] = slices.Clone(rules)
	}
	if err := n.add("answers", scope, false, rules); err != nil {
		return nil, err
	}
	return n, nil
}

// Ignored lists rules that were left out: those of a repository that allow.
func (e *Engine) Ignored() []string { return slices.Clone(e.ignored) }

func (e *Engine) add(name string, scope Scope, own bool, rules []Rule) error {
	if len(e.given)+len(e.files[KindRead])+len(e.files[KindEdit])+len(rules) > maxRules {
		return fmt.Errorf("%s: more than %d rules", name, maxRules)
	}
	for _, r := range rules {
		if err := r.Check(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if scope == Repository && r.Decision == Allow {
			e.ignored = append(e.ignored, r.String())
			continue
		}
		if r.Kind == KindRead || r.Kind == KindEdit {
			e.files[r.Kind] = append(e.files[r.Kind], newScoped(r, scope, own))
			continue
		}
		if !own || r.Kind != KindShell {
			e.given = append(e.given, scoped{Rule: r, scope: scope, ready: own})
			continue
		}
		for _, program := range r.Words[0] {
			e.programs[program] = append(e.programs[program], scoped{Rule: r, scope: scope, ready: true, looks: name == SetInspect})
		}
	}
	return nil
}

func newScoped(r Rule, scope Scope, ready bool) scoped {
	s := scoped{Rule: r, scope: scope, ready: ready, files: newPattern(r.Pattern)}
	for _, p := range r.Except {
		s.except = append(s.except, newPattern(p))
	}
	return s
}

// exampleContext is where examples are judged.
func exampleContext() Context {
	return Context{Roots: []string{"/project"}, Home: "/home/you", Trusted: true}
}

// Check tells whether an Engine would take the rule. The error says that it lets
// anything run, or names the example of it that does not hold.
func (r Rule) Check() error {
	if err := r.check(); err != nil {
		return err
	}
	if r.runsAnything() {
		return fmt.Errorf("rule %q lets anything run; name what may run", r)
	}
	return r.tryExamples()
}

// tryExamples holds a rule against its own examples, with no other rule beside it.
func (r Rule) tryExamples() error {
	if len(r.Match)+len(r.NotMatch) == 0 {
		return nil
	}
	rule := newScoped(r, User, false)
	rule.looks = true
	alone := &Engine{given: []scoped{rule}, files: map[Kind][]scoped{r.Kind: {rule}}}
	for _, examples := range []struct {
		lines []string
		want  bool
	}{{r.Match, true}, {r.NotMatch, false}} {
		for _, line := range examples.lines {
			v := alone.example(r.Kind, line)
			if got := v.Rule == r.String() && v.Decision >= r.Decision; got != examples.want {
				if examples.want {
					return fmt.Errorf("rule %q does not decide its example %q: %s", r, line, v.Reason)
				}
				return fmt.Errorf("rule %q decides %q, which it says it does not", r, line)
			}
		}
	}
	return nil
}

func (e *Engine) example(kind Kind, line string) Verdict {
	c := exampleContext()
	switch kind {
	case KindRead:
		return e.Read(PathFacts{Path: line}, c)
	case KindEdit:
		return e.Write(PathFacts{Path: line}, c)
	case KindFetch:
		return e.Fetch(line, c)
	case KindMCP:
		server, tool, _ := strings.Cut(line, "/")
		return e.MCP(server, tool, c)
	case KindEnv:
		if e.variable(line, &c) {
			return Verdict{Rule: e.given[0].String()}
		}
		return Verdict{Decision: Ask}
	}
	return e.Shell(line, c)
}

// holds tells whether a rule counts in a context. Where the workspace is not
// trusted, nothing but what the user said in this session lets anything run.
func (s scoped) holds(c *Context) bool {
	if c.Trusted || s.Decision != Allow || s.scope == Session {
		return true
	}
	return s.ready && !s.trusted || s.Kind == KindFetch && s.scope == User
}
