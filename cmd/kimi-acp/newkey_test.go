package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"kimi-acp/internal/config"
	"kimi-acp/internal/obs"
)

// A key that another program has put into the settings counts for the address that it
// stands beside, and nowhere else.
func TestNewKey(t *testing.T) {
	share := t.TempDir()
	for _, name := range []string{"KIMI_API_KEY", "OPENAI_API_KEY", "KIMI_BASE_URL", "OPENAI_BASE_URL", "KIMI_MODEL_NAME", "OPENAI_MODEL"} {
		t.Setenv(name, "")
	}
	t.Setenv("KIMI_SHARE_DIR", share)
	settings := func(key, url string) {
		text := fmt.Sprintf("default_model = \"one\"\n[providers.p]\ntype = \"openai_legacy\"\nbase_url = %q\napi_key = %q\n[models.one]\nprovider = \"p\"\nmodel = \"one\"\nmax_context_size = 100000\n", url, key)
		if err := os.WriteFile(filepath.Join(share, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settings("old-key", "https://one.example/v1")
	cfg, _ := config.Load(os.Getenv, config.Flags{})
	m, ok := cfg.Model("one")
	if !ok {
		t.Fatalf("no model in %+v", cfg.Models)
	}
	read := newKey(obs.NewRedactor())
	for _, c := range []struct{ key, url, want string }{
		{"old-key", "https://one.example/v1", "old-key"},
		{"new-key", "https://one.example/v1", "new-key"},
		{"new-key", "https://two.example/v1", ""},
	} {
		settings(c.key, c.url)
		if got := read(m.Provider); got != c.want {
			t.Errorf("%s at %s: %q, want %q", c.key, c.url, got, c.want)
		}
	}
}
