package obs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestPatterns(t *testing.T) {
	const token = "abcdefghijklmnopqrst0123456789ABCDEF"
	tests := []struct{ in, want string }{
		{"Authorization: Bearer " + token + ", next", "Authorization: Bearer [secret], next"},
		{"basic dXNlcjpwYXNzd29yZA== x", "basic [secret] x"},
		{"bearer of news", "bearer of news"},
		{"key sk-proj-abc_DEF-123456 rejected", "key [secret] rejected"},
		{"task-force and risk-assessment", "task-force and risk-assessment"},
		{"AIza" + token, "[secret]"},
		{"ghp_" + token + " github_pat_" + token + " glpat-" + token + " npm_" + token + " hf_" + token, "[secret] [secret] [secret] [secret] [secret]"},
		{"xoxb-123456789012-abc", "[secret]"},
		{"id AKIAIOSFODNN7EXAMPLE.", "id [secret]."},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_", "[secret]"},
		{"a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb", "a\n[secret]\nb"},
		{"-----BEGIN PRIVATE KEY-----\nMII cut", "[secret]"},
		{"-----BEGIN PUBLIC KEY-----", "-----BEGIN PUBLIC KEY-----"},
		{"get https://me:hunter2@h.test/x?a=1", "get https://me:[secret]@h.test/x?a=1"},
		{"https://h.test:8080/a@b", "https://h.test:8080/a@b"},
		{"https://h.test/?api_key=abc&q=1&access_token=x#f", "https://h.test/?api_key=[secret]&q=1&access_token=[secret]#f"},
		{"https://h.test/?page=2&keyboard=de", "https://h.test/?page=2&keyboard=de"},
		{"OPENAI_API_KEY=abcd1234 next", "OPENAI_API_KEY=[secret] next"},
		{`{"api_key":"abcd1234","n":1}`, `{"api_key":"[secret]","n":1}`},
		{`{\"client_secret\": \"abcd1234\"}`, `{\"client_secret\": \"[secret]\"}`},
		{"x-api-key: abcd1234", "x-api-key: [secret]"},
		{"password: hunter2", "password: [secret]"},
		{"max_tokens: 4096, token count: 12345", "max_tokens: 4096, token count: 12345"},
		{"nothing to see", "nothing to see"},
		{"", ""},
	}
	r := NewRedactor()
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got := r.Text(tt.in)
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if again := r.Text(got); again != got {
				t.Errorf("a second time gives %q", again)
			}
		})
	}
}

func TestKnownSecrets(t *testing.T) {
	r := NewRedactor()
	r.Add("short")
	r.Add("topsecret")
	r.Add("topsecret-and-more")
	r.Add(`a"b/c d`)
	r.Add("topsecret")
	tests := []struct{ in, want string }{
		{"a short text", "a short text"},
		{"xtopsecretx", "x[secret]x"},
		{"topsecret-and-more topsecret", "[secret] [secret]"},
		{`a"b/c d`, "[secret]"},
		{`{"v":"a\"b/c d"}`, `{"v":"[secret]"}`},
		{"?q=a%22b%2Fc+d&p=a%22b%2Fc%20d", "?q=[secret]&p=[secret]"},
	}
	for _, tt := range tests {
		if got := r.Text(tt.in); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}

type valuer struct{ text string }

func (v valuer) LogValue() slog.Value {
	return slog.GroupValue(slog.String("inner", v.text), slog.Any("list", []string{v.text}))
}

type stringer struct{ text string }

func (s *stringer) String() string { return "stringer " + s.text }

type marshals struct{ stringer }

func (m *marshals) MarshalJSON() ([]byte, error) { return json.Marshal(m.text) }

func TestNothingInARecordEscapes(t *testing.T) {
	const secret = "hunter2hunter2"
	secrets := NewRedactor()
	var log bytes.Buffer
	h := redacting{next: slog.NewJSONHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}), secrets: secrets}
	l := slog.New(h).With("early", "e "+secret).WithGroup("g").With("second", secret).WithGroup("")
	other := l.With("other", "branch") // must not show in l
	secrets.Add(secret)                // known only after With

	var none *stringer
	l.Info("message "+secret,
		"string", "x"+secret+"y",
		"err", fmt.Errorf("outer: %w", errors.New(secret)),
		"bytes", []byte(secret),
		"struct", struct{ A, B string }{secret, "b"},
		"map", map[string]any{secret: []any{secret, 1.5, nil}},
		"pointer", &struct{ P string }{secret},
		"valuer", valuer{secret},
		"stringer", &stringer{secret},
		"marshals", &marshals{stringer{secret}},
		"nil stringer", none,
		"cannot marshal", func() {},
		"nil", nil,
		"api_key", "whatever",
		"Authorization", 12,
		"password", "",
		"tokens", 5,
		"took", time.Second,
		slog.Group("deep", slog.Group("deeper", slog.String("s", secret))),
		secret, "as a name",
	)
	other.Info("other")
	got := log.String()
	if strings.Contains(got, "hunter2") {
		t.Errorf("the secret is in the log:\n%s", got)
	}
	first, second, _ := strings.Cut(got, "\n")
	if i := strings.Index(first, `"cannot marshal":"`); i < 0 {
		t.Errorf("no text for what cannot be marshalled: %s", first)
	} else {
		j := i + strings.Index(first[i:], `,"nil"`)
		first = first[:i] + first[j+1:] // an address
	}
	want := `{"level":"INFO","msg":"message [secret]","early":"e [secret]","g":{"second":"[secret]",` +
		`"string":"x[secret]y","err":"outer: [secret]","bytes":"[secret]","struct":{"A":"[secret]","B":"b"},` +
		`"map":{"[secret]":["[secret]",1.5,null]},"pointer":{"P":"[secret]"},` +
		`"valuer":{"inner":"[secret]","list":["[secret]"]},"stringer":"stringer [secret]","marshals":"[secret]",` +
		`"nil stringer":"<nil>","nil":null,"api_key":"[secret]","Authorization":"[secret]","password":"","tokens":5,` +
		`"took":1000000000,"deep":{"deeper":{"s":"[secret]"}},"[secret]":"as a name"}}`
	if first != want {
		t.Errorf("got  %s\nwant %s", first, want)
	}
	if want := `{"level":"INFO","msg":"other","early":"e [secret]","g":{"second":"[secret]","other":"branch"}}` + "\n"; second != want {
		t.Errorf("got  %s\nwant %s", second, want)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	h := redacting{secrets: NewRedactor()}
	h.secrets.Add("topsecret")
	tests := []struct {
		name, in, want string
	}{
		{"just fits", strings.Repeat("x", maxText), strings.Repeat("x", maxText)},
		{"too long", strings.Repeat("x", maxText+1), strings.Repeat("x", maxText) + "… (cut, of 8193 bytes)"},
		{
			"a secret across the end", strings.Repeat("x", maxText-4) + "topsecret",
			strings.Repeat("x", maxText-4) + "[sec… (cut, of 8197 bytes)",
		},
		{"a rune across the end", strings.Repeat("x", maxText-1) + "é", strings.Repeat("x", maxText-1) + "… (cut, of 8193 bytes)"},
		{"far too long", strings.Repeat("x", 9*maxText), strings.Repeat("x", maxText) + "… (cut, of 73728 bytes)"},
		{"short without its secrets", strings.Repeat("topsecret", maxText/9+1), strings.Repeat("[secret]", maxText/9+1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := h.text(tt.in); got != tt.want {
				t.Errorf("got %d bytes ending %q, want %d ending %q", len(got), got[max(0, len(got)-40):], len(tt.want), tt.want[max(0, len(tt.want)-40):])
			}
		})
	}
}

func TestBug(t *testing.T) {
	var log bytes.Buffer
	l := slog.New(slog.NewTextHandler(&log, nil))
	cause := context.DeadlineExceeded
	err := Bug(l, "turn %d: %w", 3, cause)
	var bug *BugError
	if !errors.As(err, &bug) || !errors.Is(err, cause) {
		t.Fatalf("got %#v", err)
	}
	if !strings.HasPrefix(bug.Place, "obs/redact_test.go:") {
		t.Errorf("place %s", bug.Place)
	}
	if err.Error() != "internal error: turn 3: context deadline exceeded" {
		t.Errorf("error %s", err)
	}
	if got := log.String(); !strings.Contains(got, `level=ERROR msg="internal error: turn 3: context deadline exceeded" bug=`+bug.Place+"\n") {
		t.Errorf("log %s", got)
	}
	if _, ok := BugPlace(slog.Record{}); ok {
		t.Error("any record is a bug")
	}
}
