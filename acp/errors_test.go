package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul/llm"
)

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
		{&llm.Error{Kind: llm.KindRateLimit, Status: 429, Message: "later", RetryAfter: time.Hour}, jsonrpc.CodeInternal, []string{"It asks to wait 1h0m0s."}, "map[kind:rate_limit retryAfterMs:3600000 status:429]"},
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
