package config

import (
	"maps"
	"slices"
	"strings"
)

// readProvider reads what a file says of a provider.
func readProvider(t *table, name string, getenv func(string) string) *provider {
	defer t.unknown()
	typ, _ := t.text("type")
	p := &provider{Provider: Provider{Name: name, Type: typ, ReasoningKey: defaultReasoningKey}}
	if key, ok := t.text("reasoning_key"); ok {
		p.ReasoningKey = key
	}
	env := t.pairs("env")
	p.Headers = readHeaders(t)
	p.signIn = t.get("oauth") != nil
	switch typ {
	case "openai_legacy":
		p.Type = TypeOpenAI
	case TypeKimi, TypeOpenAI, TypeEcho:
	case TypeScripted:
		p.Scripts = env["KIMI_SCRIPTED_ECHO_SCRIPTS"]
		if p.Scripts == "" {
			p.Scripts = getenv("KIMI_SCRIPTED_ECHO_SCRIPTS")
		}
	case "":
		p.unusable = "does not say its type"
	default:
		p.unusable = "has the type " + quote(typ) + ", which is not supported"
	}
	keyName, urlName := fallbackNames(p.Type)
	p.APIKey = readKey(t, env[keyName], getenv)
	url, stated := t.text("base_url")
	if url == "" && env[urlName] != "" {
		url, stated = env[urlName], true
	}
	if defaultURL(p.Type) == "" {
		return p
	}
	if !stated {
		url = defaultURL(p.Type)
	}
	var problem string
	if p.BaseURL, problem = checkAddress(url); problem != "" {
		p.unusable = "has no usable address: its base_url " + problem
		return p
	}
	if p.APIKey != "" && unencrypted(p.BaseURL) {
		t.warn("base_url", sentUnencrypted)
	}
	return p
}

// problem says why a provider cannot be used, empty if it can. It is asked when all
// sources have been read, since a key may come from a later one.
func (p *provider) problem() string {
	if p.unusable == "" && p.signIn && p.APIKey == "" {
		return "has no api_key, and signing in is not supported"
	}
	return p.unusable
}

// fallbackNames gives the names under which a provider's table `env` may hold its key
// and its address.
func fallbackNames(typ string) (key, baseURL string) {
	for _, f := range families() {
		if f.typ == typ {
			return f.key, f.baseURL
		}
	}
	return "", ""
}

// readKey reads a key: the one that stands in the table, else the value of the variable
// that the table names, else the given one.
func readKey(t *table, otherwise string, getenv func(string) string) Secret {
	from, text := "api_key", ""
	if s, ok := t.text("api_key"); ok {
		text = s
	}
	if name, ok := t.text("api_key_env"); ok && name != "" && text == "" {
		from, text = "api_key_env", getenv(name)
		if text == "" {
			t.warn(from, "names the variable %s, which is not set; no key is sent", quote(name))
		}
	} else if text == "" {
		from, text = "env", otherwise
	}
	key, ok := cleanKey(text)
	if !ok {
		t.warn(from, notAKey)
	}
	return key
}

// readHeaders reads further header fields, nil if there are none.
func readHeaders(t *table) map[string]string {
	fields := t.pairs("custom_headers")
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !isHeader(name, fields[name]) {
			t.table("custom_headers").warn(name, "is no header field; it is not used")
			delete(fields, name)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return fields
}

// isHeader tells whether name and value can be sent as a header field.
func isHeader(name, value string) bool {
	for _, b := range []byte(name) {
		letter := b|0x20 >= 'a' && b|0x20 <= 'z'
		digit := b >= '0' && b <= '9'
		if !letter && !digit && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(b)) {
			return false
		}
	}
	for _, b := range []byte(value) {
		if b < ' ' && b != '\t' || b == 0x7f {
			return false
		}
	}
	return name != ""
}
