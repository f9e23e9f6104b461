package config

import (
	"maps"
	"slices"
)

// override lets KIMI_API_KEY and KIMI_BASE_URL take effect on the providers of type kimi
// in kimi-cli's file, as they do in kimi-cli, if they do not name a model of their own.
//
// A key, and header fields, which may hold one, must not reach an address that comes
// from elsewhere. So both variables together replace key, headers and address; the key
// alone is taken where the file's address is the one that the key would go to without
// any file; the address alone is taken by a provider that has nothing secret.
func (e environment) override(providers map[string]*provider) {
	f := families()[0]
	key, stated := e.secret(f.key), e.getenv(f.baseURL) != ""
	if e.getenv(f.model) != "" || (key == "" && !stated) {
		return
	}
	address := e.address(f, key != "")
	if address == "" {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		p := providers[name]
		if p.Type != TypeKimi {
			continue
		}
		switch {
		case key != "" && stated:
			p.APIKey, p.BaseURL, p.Headers, p.unusable = key, address, nil, ""
		case key != "" && p.BaseURL == address:
			p.APIKey = key
		case key != "":
			e.warn(f.key, "is not sent to the provider "+quote(name)+" of kimi-cli's file, which has another address; set "+f.baseURL+" too if it belongs there")
		case p.APIKey == "" && p.Headers == nil && !p.signIn:
			p.BaseURL, p.unusable = address, ""
		default:
			e.warn(f.baseURL, "is not used for the provider "+quote(name)+" of kimi-cli's file, whose key must not go there; set "+f.key+" too")
		}
	}
}
