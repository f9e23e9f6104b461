package tool

import (
	"slices"

	"kimi-acp/internal/policy"
)

// answer is one that holds for the session.
type answer struct {
	key     string // Action.Key
	scope   string // the same in words
	allowed bool
	rules   []policy.Rule // those that it makes, none when it is a refusal
	lasts   policy.Scope  // how far these may reach
}

// maxAnswers bounds the answers of a session; the oldest ones are asked for again.
const maxAnswers = 1000

// answered tells whether there is an answer for a key. It is called with mu held, as is
// keep.
func (a *approvals) answered(key string) (allowed, lasts bool) {
	i := slices.IndexFunc(a.lasting, func(l answer) bool { return l.key == key })
	return i >= 0 && a.lasting[i].allowed, i >= 0
}

// keep notes an answer in the place of an earlier one.
func (a *approvals) keep(action Action, allowed bool) {
	l := answer{key: action.Key, scope: action.Scope, allowed: allowed, lasts: action.Lasts}
	if rules, err := policy.ParseRules(action.Rules); err == nil && allowed {
		l.rules = rules
	}
	a.lasting = append(slices.DeleteFunc(a.lasting, func(old answer) bool { return old.key == action.Key }), l)
	if len(a.lasting) > maxAnswers {
		a.lasting = slices.Delete(a.lasting, 0, 1)
	}
}

// answers gives those that hold for the session, the oldest first.
func (a *approvals) answers() []answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.lasting)
}

// forget takes an answer back.
func (a *approvals) forget(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lasting = slices.DeleteFunc(a.lasting, func(l answer) bool { return l.key == key })
}

// granted gives the rules that the answers of the session make.
func (a *approvals) granted() []policy.Rule {
	a.mu.Lock()
	defer a.mu.Unlock()
	var rules []policy.Rule
	for _, l := range a.lasting {
		rules = append(rules, l.rules...)
	}
	return rules
}
