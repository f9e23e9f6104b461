// Package policycmd is kimi-acp policy: it tells why an action would be allowed,
// asked for or denied, and holds the policy against files of cases.
//
// It looks at the disk only to tell package policy what stands at a path. It must
// not decide anything itself, must not run what it explains, and must not change
// a rule.
package policycmd
