package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretDoesNotShow(t *testing.T) {
	const text = "hunter2"
	p := Provider{APIKey: text}
	var shown []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%10s", "%U", "%T"} {
		shown = append(shown, fmt.Sprintf(verb, p), fmt.Sprintf(verb, p.APIKey), fmt.Sprintf(verb, &p), fmt.Sprintf(verb, []Secret{text}))
	}
	for _, v := range []any{p, p.APIKey, map[string]Secret{"key": text}} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, string(b))
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", p.APIKey, "provider", p)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", p.APIKey, "provider", p)
	shown = append(shown, log.String())
	for _, s := range shown {
		if strings.Contains(s, text) || strings.Contains(strings.ToLower(s), "68756e74657232") {
			t.Errorf("shown: %s", s)
		}
	}
	if got := fmt.Sprintf("%v %s %q %#v", p.APIKey, p.APIKey, p.APIKey, p.APIKey); got != `[secret] [secret] "[secret]" "[secret]"` {
		t.Errorf("got %s", got)
	}
	if got := fmt.Sprintf("%v|%q", Secret(""), Secret("")); got != `|""` {
		t.Errorf("empty: got %s", got)
	}
	if p.APIKey.Reveal() != text || p.APIKey.GoString() != `"[secret]"` {
		t.Error("the text is lost, or shown")
	}
}
