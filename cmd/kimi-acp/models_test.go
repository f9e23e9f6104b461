package main

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"kimi-acp/internal/config"
	"kimi-acp/internal/obs"
)

// However often the settings change, only the catalog in force asks servers and
// keeps connections.
func TestCatalogOfOldSettingsIsClosed(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	cfg := config.Config{
		DefaultModel: "m",
		Models:       []config.Model{{ID: "m", Name: "m", Provider: config.Provider{Name: "p", Type: config.TypeOpenAI, BaseURL: server.URL}}},
	}
	m := newModels(obs.Open(obs.Options{}), obs.NewRedactor())
	defer m.close()
	m.use(cfg, nil)
	_, old := m.now()
	m.use(cfg, nil)
	old.Warm(t.Context(), "m")
	if n := asked.Load(); n != 0 {
		t.Errorf("the old catalog asked the server %d times", n)
	}
	_, now := m.now()
	now.Warm(t.Context(), "m")
	if asked.Load() == 0 {
		t.Error("the catalog in force asked nobody")
	}
}
