package openai

import (
	"errors"
	"strings"
	"testing"

	"kimi-acp/internal/modeltest"
	"kimi-acp/soul/llm"
)

// A key that is not accepted is looked up anew, once: where there is another one it is
// used from then on, and else the failure is what it was.
func TestKeyThatIsNotAccepted(t *testing.T) {
	for name, c := range map[string]struct {
		now      string // the key in the settings by now
		accepted string
		keys     string // that were sent in two calls
		fails    bool
		reads    int
	}{
		"another one":         {"new-key", "new-key", "old-key new-key new-key", false, 1},
		"the same":            {"old-key", "new-key", "old-key old-key", true, 2},
		"none":                {"", "new-key", "old-key old-key", true, 2},
		"no key at all":       {"new\nkey", "new-key", "old-key old-key", true, 2},
		"another, as useless": {"new-key", "a-third", "old-key new-key new-key", true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			server := modeltest.New(t)
			var keys []string
			server.Answer(func(r *modeltest.Request) modeltest.Reply {
				key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
				keys = append(keys, key)
				if key != c.accepted {
					return modeltest.Reply{Status: 401, Body: `{"error":{"message":"not accepted: ` + key + `"}}`}
				}
				return modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("hi")}}
			})
			reads := 0
			p, err := New(Config{BaseURL: server.URL(), APIKey: "old-key", Model: llm.Model{Name: "m"}, NewKey: func() string {
				reads++
				return c.now
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			for range 2 {
				var failed error
				for _, err := range p.Stream(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Part{llm.Text("x")}}}}) {
					failed = err
				}
				var e *llm.Error
				if c.fails != errors.As(failed, &e) {
					t.Errorf("ended with %v", failed)
				}
				if e != nil && (e.Kind != llm.KindAuth || strings.Contains(e.Error(), "old-key") || strings.Contains(e.Error(), "new-key")) {
					t.Errorf("it says %v", e)
				}
			}
			if got := strings.Join(keys, " "); got != c.keys || reads != c.reads {
				t.Errorf("sent were %q with %d looks, want %q with %d", got, reads, c.keys, c.reads)
			}
		})
	}
}
