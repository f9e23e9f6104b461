package doctor

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// maxSkew is how far this machine's clock may be off before certificates and signed
// requests begin to fail.
const maxSkew = 5 * time.Minute

// Clock is the way of HTTP calls that compares the servers' clocks with this
// machine's. It may be used by several goroutines at once.
type Clock struct {
	Next http.RoundTripper
	Now  func() time.Time // nil: time.Now

	mu   sync.Mutex
	off  time.Duration
	seen bool
}

// RoundTrip makes the call and notes the date of the answer.
func (c *Clock) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.Next.RoundTrip(req)
	if err != nil {
		return resp, err
	}
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return resp, nil // a server need not say
	}
	now := time.Now
	if c.Now != nil {
		now = c.Now
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off, c.seen = now().Sub(date), true
	return resp, nil
}

// Offset is how far this machine is ahead of the server that answered last; false
// when none has told its date.
func (c *Clock) Offset() (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.off, c.seen
}

func clock(_ context.Context, s *Setup) []Check {
	if s.Clock == nil {
		return nil
	}
	off, ok := s.Clock.Offset()
	if !ok {
		return nil
	}
	word := "ahead of"
	if off < 0 {
		word, off = "behind", -off
	}
	if off <= maxSkew {
		return []Check{{Name: "clock", Status: OK, Detail: "agrees with the server's"}}
	}
	return []Check{{
		Name: "clock", Status: Fault, Detail: "this machine's clock is " + off.Round(time.Minute).String() + " " + word + " the server's",
		Mend: "set the clock: sudo timedatectl set-ntp true, or in the system's settings",
	}}
}
