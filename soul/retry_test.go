package soul

import (
	"testing"
	"time"

	"kimi-acp/soul/llm"
)

func TestRetryWait(t *testing.T) {
	p := RetryPolicy{Attempts: 9, Base: 300 * time.Millisecond, Busy: 2 * time.Second, Cap: 5 * time.Second, MaxAsked: time.Minute, Budget: 3 * time.Minute}
	for _, c := range []struct {
		name   string
		n      int
		err    llm.Error
		waited time.Duration
		want   time.Duration
		ok     bool
	}{
		{"the first", 1, llm.Error{Kind: llm.KindServer}, 0, 300 * time.Millisecond, true},
		{"doubled", 2, llm.Error{Kind: llm.KindServer}, 0, 600 * time.Millisecond, true},
		{"below the cap", 5, llm.Error{Kind: llm.KindServer}, 0, 4800 * time.Millisecond, true},
		{"the cap", 6, llm.Error{Kind: llm.KindServer}, 0, 5 * time.Second, true},
		{"no overflow", 36, llm.Error{Kind: llm.KindServer}, 0, 5 * time.Second, true},
		{"nor here", 100, llm.Error{Kind: llm.KindRateLimit}, 0, time.Minute, true},
		{"busy", 2, llm.Error{Kind: llm.KindOverloaded}, 0, 4 * time.Second, true},
		{"asked", 1, llm.Error{Kind: llm.KindRateLimit, RetryAfter: 7 * time.Second}, 0, 7 * time.Second, true},
		{"asked for as much as may be", 1, llm.Error{Kind: llm.KindRateLimit, RetryAfter: time.Minute}, 0, time.Minute, true},
		{"asked for more", 1, llm.Error{Kind: llm.KindRateLimit, RetryAfter: time.Hour}, 0, time.Hour, false},
		{"the budget just holds", 2, llm.Error{Kind: llm.KindOverloaded}, 176 * time.Second, 4 * time.Second, true},
		{"the budget is used up", 2, llm.Error{Kind: llm.KindOverloaded}, 177 * time.Second, 4 * time.Second, false},
	} {
		if got, ok := p.wait(c.n, &c.err, c.waited); got != c.want || ok != c.ok {
			t.Errorf("%s: %v %v, want %v %v", c.name, got, ok, c.want, c.ok)
		}
	}
}

func TestRetryWaitsDiffer(t *testing.T) {
	p := RetryPolicy{Base: time.Second, Jitter: time.Second, Cap: time.Minute}
	seen := map[time.Duration]bool{}
	for range 20 {
		d, _ := p.wait(1, &llm.Error{Kind: llm.KindServer}, 0)
		if d < time.Second || d >= 2*time.Second {
			t.Fatalf("waits %v", d)
		}
		seen[d] = true
	}
	if len(seen) < 2 {
		t.Error("all waits are the same")
	}
}
