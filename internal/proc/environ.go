package proc

import "strings"

// commandEnviron gives the environment of commands: base, and on top what keeps
// programs from waiting for a person, from paging and from drawing.
func commandEnviron(base []string) []string {
	env := make([]string, 0, len(base)+4)
	env = append(env, base...)
	return append(env,
		"PAGER=cat",
		"GIT_PAGER=cat",
		"GIT_TERMINAL_PROMPT=0",
		"TERM=dumb",
	)
}

// Scrub gives environ without the secrets that are ours and not the commands': the
// keys of the model providers that we read. The rule, in which case does not matter:
// a name is dropped if it begins with KIMI_, MOONSHOT_ or OPENAI_ and ends with _KEY,
// _TOKEN, _SECRET or _PASSWORD. Other secrets are the user's own and stay, since the
// user's programs need them.
func Scrub(environ []string) []string {
	kept := make([]string, 0, len(environ))
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !ourSecret(strings.ToUpper(name)) {
			kept = append(kept, entry)
		}
	}
	return kept
}

func ourSecret(name string) bool {
	return hasAny(strings.HasPrefix, name, "KIMI_", "MOONSHOT_", "OPENAI_") &&
		hasAny(strings.HasSuffix, name, "_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
}

func hasAny(has func(s, part string) bool, s string, parts ...string) bool {
	for _, part := range parts {
		if has(s, part) {
			return true
		}
	}
	return false
}
