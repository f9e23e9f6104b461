package openai

import (
	"net/http"
	"strings"
)

// usableKey tells whether a key can be sent in a header field.
func usableKey(key string) bool {
	return !strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' })
}

// key is the key in use: that of the Config, or one that has come in its place.
func (p *Provider) key() string {
	if k := p.renewed.Load(); k != nil {
		return *k
	}
	return p.cfg.APIKey
}

// renewKey gives another key than the one that the server did not accept, if there is
// one by now.
func (p *Provider) renewKey(refused string) (key string, ok bool) {
	if now := p.key(); now != refused {
		return now, true // another call has found it
	}
	if p.cfg.NewKey == nil {
		return "", false
	}
	key = strings.TrimSpace(p.cfg.NewKey())
	if key == "" || key == refused || !usableKey(key) {
		return "", false
	}
	p.renewed.Store(&key)
	return key, true
}

// again prepares a request that was answered with 401 for being sent once more, and
// tells whether that is worth it.
func (ex *exchange) again(req *http.Request) bool {
	if ex.provider.cfg.Header.Get("Authorization") != "" {
		return false // the key is not what was refused
	}
	key, ok := ex.provider.renewKey(ex.key)
	if !ok {
		return false
	}
	ex.key = key
	req.Header.Set("Authorization", "Bearer "+key)
	body, err := req.GetBody()
	if err != nil {
		return false
	}
	req.Body = body
	return true
}
