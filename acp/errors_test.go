package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul/llm"
)

// Each kind of failure has advice and a name of its own. The kinds are counted, so
// that a new one is not forgotten here.
func TestEveryKindHasAdviceAndAName(t *testing.T) {
	names := map[string]llm.Kind{}
	for k := llm.KindUnknown + 1; k <= llm.KindBadRequest; k++ {
		name := kindName(k)
		if other, taken := names[name]; taken || name == "unknown" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" {
			t.Errorf("kind %d is named %q, as is %d", k, name, other)
		}
		names[name] = k
		if advice := adviceFor(k); advice == adviceFor(llm.KindUnknown) || !strings.HasSuffix(advice, ".") {
			t.Errorf("the advice for %s is %q", name, advice)
		}
	}
	if len(names) != 15 || kindName(llm.KindBadRequest+1) != "unknown" {
		t.Errorf("%d kinds, and %q behind the last", len(names), kindName(llm.KindBadRequest+1))
	}
}

// An error keeps its meaning however deep it is wrapped. (P26)
func TestPromptError(t *testing.T) {
	wrapped := func(e *llm.Error) error {
		return fmt.Errorf("step 1: %w", fmt.Errorf("model: %w", errors.Join(errors.New("and"), e)))
	}
	for _, c := range []struct {
		err  error
		code int
		say  []string
		data string
	}{
		{wrapped(&llm.Error{Kind: llm.KindAuth, Status: 401, Message: "bad key"}), codeAuthRequired, []string{"KIMI_API_KEY", "HTTP 401: bad key"}, "map[kind:auth status:401]"},
		{wrapped(&llm.Error{Kind: llm.KindOverflow, Message: "too long"}), jsonrpc.CodeInternal, []string{"/clear", "too long"}, "map[kind:overflow status:0]"},
		{&llm.Error{Message: "odd"}, jsonrpc.CodeInternal, []string{"The model call failed.", "odd"}, "map[kind:unknown status:0]"},
		{errors.New("reading /home/me: no"), jsonrpc.CodeInternal, []string{"fault in kimi-acp", "log"}, "<nil>"},
		{context.Canceled, jsonrpc.CodeInternal, []string{"fault in kimi-acp"}, "<nil>"},
	} {
		var e *jsonrpc.Error
		if !errors.As(promptError(c.err), &e) || e.Code != c.code || fmt.Sprint(e.Data) != c.data {
			t.Errorf("%v: %+v, want code %d, data %s", c.err, e, c.code, c.data)
			continue
		}
		for _, words := range c.say {
			if !strings.Contains(e.Message, words) {
				t.Errorf("%v: %q does not say %q", c.err, e.Message, words)
			}
		}
		if strings.Contains(e.Message, "/home/me") {
			t.Errorf("%v: %q tells too much", c.err, e.Message)
		}
	}
}
