package obs

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// hidden stands in the place of a secret.
const hidden = "[secret]"

// minSecret is the length, in bytes, below which a value is not taken for a secret:
// replacing it everywhere would make the log unreadable and tell what it is.
const minSecret = 6

// Redactor takes secrets out of texts: those that it was told of, wherever they stand,
// and those that are known by their form. It may be used by several goroutines at once.
type Redactor struct {
	patterns []pattern
	telling  *regexp.Regexp // names of what is a secret, whatever it looks like

	mu     sync.RWMutex
	values []string // longest first, so that a secret within another leaves no rest
	known  *strings.Replacer
}

// pattern is a form of secrets.
type pattern struct {
	signs []string // in lower case; a text without any of them has none of these secrets
	expr  *regexp.Regexp
	with  string // the replacement
}

// in reports whether it is worth looking, which in most texts it is not: the search
// takes a hundred times as long as this test.
func (p pattern) in(lower string) bool {
	return slices.ContainsFunc(p.signs, func(sign string) bool { return strings.Contains(lower, sign) })
}

// NewRedactor makes a Redactor that knows secrets by their form only.
func NewRedactor() *Redactor {
	return &Redactor{
		patterns: patterns(),
		telling: regexp.MustCompile(`(?i)^(?:[a-z0-9_.-]*(?:api[_-]?key|access[_-]?key|secret|password|passwd)` +
			`|(?:proxy-)?authorization|(?:set-)?cookie|(?:access|refresh|auth|id)[_-]?token)$`),
		known: strings.NewReplacer(),
	}
}

// Add tells the Redactor of a secret, which it then also finds where it is escaped for
// JSON or a URL. Values shorter than 6 bytes are not taken.
func (r *Redactor) Add(secret string) {
	if len(secret) < minSecret {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, form := range []string{secret, jsonForm(secret), url.QueryEscape(secret), url.PathEscape(secret)} {
		if !slices.Contains(r.values, form) {
			r.values = append(r.values, form)
		}
	}
	slices.SortStableFunc(r.values, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(r.values))
	for _, v := range r.values {
		pairs = append(pairs, v, hidden)
	}
	r.known = strings.NewReplacer(pairs...)
}

// Text gives s with a placeholder for every secret.
func (r *Redactor) Text(s string) string {
	r.mu.RLock()
	known := r.known
	r.mu.RUnlock()
	s = known.Replace(s)
	lower := strings.ToLower(s)
	for _, p := range r.patterns {
		if !p.in(lower) {
			continue
		}
		s = p.expr.ReplaceAllString(s, p.with)
	}
	return s
}

// tellingName reports whether something of that name is a secret.
func (r *Redactor) tellingName(name string) bool { return r.telling.MatchString(name) }

func jsonForm(s string) string {
	b, err := json.Marshal(s)
	if err != nil || len(b) < 2 {
		return s // a string always has a form
	}
	return string(b[1 : len(b)-1])
}

// patterns gives the forms. Each asks for a length that words of a language do not
// reach, or for a name that says what follows.
func patterns() []pattern {
	forms := []struct {
		signs      string // separated by spaces
		expr, with string
	}{
		// Authorization headers.
		{"bearer basic", `(?i)\b((?:bearer|basic)\s+)[a-z0-9._~+/=-]{8,}`, "${1}" + hidden},
		// Keys of model providers: OpenAI, Moonshot, Anthropic and those that imitate them.
		{"sk-", `\bsk-[A-Za-z0-9_-]{8,}`, hidden},
		// Google.
		{"aiza", `\bAIza[A-Za-z0-9_-]{30,}`, hidden},
		// GitHub, GitLab, npm, Hugging Face.
		{"gh github_pat_ glpat- npm_ hf_", `\b(?:gh[pousr]_|github_pat_|glpat-|npm_|hf_)[A-Za-z0-9_-]{16,}`, hidden},
		// Slack.
		{"xox", `\bxox[a-z]-[A-Za-z0-9-]{10,}`, hidden},
		// AWS key ids.
		{"akia asia", `\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`, hidden},
		// JSON web tokens.
		{"eyj", `\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`, hidden},
		// Private keys, also when the end was cut off.
		{"private", `(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`, hidden},
		// Passwords in addresses.
		{"://", `(?i)\b([a-z][a-z0-9+.-]*://[^\s/:@]*:)[^\s/@]+@`, "${1}" + hidden + "@"},
		// Query parameters that carry a key.
		{"? &", `(?i)([?&](?:[a-z_-]*(?:key|token|secret|password|signature)|sig|auth|code)=)[^\s&#"']+`, "${1}" + hidden},
		// Assignments: environment entries, headers, fields of JSON and YAML. What begins
		// with a bracket is a list, or was hidden before.
		{"key token secret passw", `(?i)((?:api[_-]?key|access[_-]?key|(?:access|refresh|auth|id)[_-]?token|secret|password|passwd)\\?["']?\s*[:=]\s*\\?["']?)[^\s"'\\,;&\[][^\s"'\\,;&]{3,}`, "${1}" + hidden},
	}
	out := make([]pattern, len(forms))
	for i, f := range forms {
		out[i] = pattern{strings.Fields(f.signs), regexp.MustCompile(f.expr), f.with}
	}
	return out
}
