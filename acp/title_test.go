package acp_test

import (
	"log/slog"
	"strings"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/scripted"
)

// TestTitleOfASmallModel names a session by its first words, and then as the small model
// says.
func TestTitleOfASmallModel(t *testing.T) {
	small := scripted.New([]string{"text: \"Broken parser tests.\"\ntext: \\nmore"}, llm.Model{Name: "small", ContextSize: 8000})
	s := stage{
		scripts: []string{"text: ok"},
		newSoul: func(spec acp.SoulSpec, p llm.Provider) (soul.Soul, error) {
			return soul.New(soul.Config{SessionID: spec.SessionID, Provider: p, Small: small, Wire: spec.Wire, System: "test", Logger: slog.New(slog.DiscardHandler)}), nil
		},
	}.session(t)
	s.Prompt(acptest.Text("please have a look at the tests of the parser, which are red since yesterday")).Wait()
	s.Until("the better title", func(u acptest.Update) bool {
		return u.Kind == "session_info_update" && strings.Contains(string(u.Raw), `"title":"Broken parser tests`)
	})
	var titles int
	for _, u := range s.Updates() {
		if u.Kind == "session_info_update" {
			titles++
		}
	}
	if titles != 2 {
		t.Errorf("the session was named %d times, want twice", titles)
	}
}
