package llm_test

import (
	"testing"

	"kimi-acp/soul/llm"
)

func TestKindOfStatus(t *testing.T) {
	for status, want := range map[int]llm.Kind{
		200: llm.KindUnknown,
		400: llm.KindBadRequest,
		401: llm.KindAuth,
		402: llm.KindBilling,
		403: llm.KindPermission,
		404: llm.KindUnknownModel,
		408: llm.KindTimeout,
		413: llm.KindOverflow,
		422: llm.KindBadRequest,
		429: llm.KindRateLimit,
		500: llm.KindServer,
		502: llm.KindServer,
		503: llm.KindOverloaded,
		504: llm.KindTimeout,
		524: llm.KindTimeout,
		529: llm.KindOverloaded,
	} {
		if got := llm.KindOfStatus(status); got != want {
			t.Errorf("KindOfStatus(%d) = %d, want %d", status, got, want)
		}
	}
}
