package soul

import (
	"math/rand/v2"
	"time"

	"kimi-acp/soul/llm"
)

// RetryPolicy says how often and how long a failed model call is repeated. The
// n-th wait is Base·2ⁿ⁻¹ plus up to Jitter, at most Cap. Where the provider has too
// much to do it is Busy·2ⁿ⁻¹ plus up to Jitter, at most MaxAsked. A wait that the
// provider asked for is kept to the full, and if it is longer than MaxAsked the call
// is not repeated at all: too early would be in vain.
type RetryPolicy struct {
	Attempts int // model calls per step and model, in all
	Base     time.Duration
	Busy     time.Duration // 0: Base
	Jitter   time.Duration
	Cap      time.Duration
	MaxAsked time.Duration // 0: Cap
	Budget   time.Duration // all waits of a step together; 0: no bound
}

// DefaultRetry has kimi-cli's numbers, waits longer for a provider that has too much
// to do, and up to a minute when it says how long.
var DefaultRetry = RetryPolicy{
	Attempts: 3, Base: 300 * time.Millisecond, Busy: 2 * time.Second, Jitter: 500 * time.Millisecond,
	Cap: 5 * time.Second, MaxAsked: time.Minute, Budget: 5 * time.Minute,
}

// maxDoublings keeps a wait from growing beyond what a Duration holds.
const maxDoublings = 20

// wait is the pause before attempt n+1; false: there is none, since the provider asks
// for more than may be waited, or waited, the waits of the step so far, leaves no time.
func (p RetryPolicy) wait(n int, e *llm.Error, waited time.Duration) (time.Duration, bool) {
	base, most := p.Base, p.Cap
	if e.Kind.Remedy().Slowly && p.Busy > 0 {
		base, most = p.Busy, max(p.Cap, p.MaxAsked)
	}
	d := base << min(n-1, maxDoublings)
	if p.Jitter > 0 {
		d += rand.N(p.Jitter)
	}
	d = min(d, most)
	if e.RetryAfter > 0 {
		d = e.RetryAfter
		if d > max(p.MaxAsked, p.Cap) {
			return d, false
		}
	}
	return d, p.Budget <= 0 || waited+d <= p.Budget
}
