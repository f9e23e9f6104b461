package config

import "testing"

func TestConfigText(t *testing.T) {
	for name, text := range map[string]string{
		"JSON": `{"default_model":"m","models":{"m":{"provider":"p","model":"x","max_context_size":5000}},"providers":{"p":{"type":"openai_legacy","base_url":"http://localhost:1/v1","api_key":"k"}}}`,
		"TOML": "default_model = \"m\"\n[models.m]\nprovider = \"p\"\nmodel = \"x\"\nmax_context_size = 5000\n[providers.p]\ntype = \"openai_legacy\"\nbase_url = \"http://localhost:1/v1\"\napi_key = \"k\"\n",
	} {
		c, warnings := Load(func(string) string { return "" }, Flags{ConfigText: text, ConfigFile: "/not/read"})
		if m, ok := c.Model("m"); !ok || m.Name != "x" || m.ContextSize != 5000 {
			t.Errorf("%s: %+v, %v", name, c.Models, warnings)
		}
	}
	if _, warnings := Load(func(string) string { return "" }, Flags{ConfigText: "{"}); len(warnings) == 0 {
		t.Error("a text that is neither passes without a word")
	}
}
