package llm

import (
	"sync"
	"time"
)

// CircuitState is what a Circuit thinks of its provider.
type CircuitState uint8

// The states of a circuit.
const (
	CircuitClosed CircuitState = iota // calls go to the provider
	CircuitOpen                       // it failed too often: calls had better go elsewhere
	CircuitTrying                     // it may be well again: one call tries it
)

// The numbers of a circuit.
const (
	circuitFailures = 3                // in a row open it
	circuitRest     = 60 * time.Second // until it is tried again
)

// Circuit watches the health of one provider over all sessions, so that a session
// need not find out by itself what another one knows. It advises and forbids nothing:
// who has no other provider calls this one. Its methods may be called side by side;
// the nil Circuit is always closed.
type Circuit struct {
	mu       sync.Mutex
	state    CircuitState
	failures int       // in a row
	until    time.Time // CircuitOpen: when it is tried again
}

// Allow reports whether a call had better go to the provider. Once the rest is over
// it does so for one caller, who must tell how the call ended by Succeed, Fail or
// Release.
func (c *Circuit) Allow() bool {
	if c == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == CircuitOpen && !time.Now().Before(c.until) {
		c.state = CircuitTrying
		return true
	}
	return c.state == CircuitClosed
}

// Succeed notes a whole answer: the circuit closes.
func (c *Circuit) Succeed() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state, c.failures = CircuitClosed, 0
}

// Fail notes a failure that is the provider's. The third in a row opens the circuit
// for a minute, and so does a failed try.
func (c *Circuit) Fail() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures++
	if c.state == CircuitTrying || c.failures >= circuitFailures {
		c.open()
	}
}

// Trip opens the circuit at once, for a failure that will not pass by itself.
func (c *Circuit) Trip() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open()
}

// Release takes back what Allow began, for a call that says nothing of the provider's
// health: one that was cancelled, or refused for what it asked. The next caller tries.
func (c *Circuit) Release() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == CircuitTrying {
		c.state = CircuitOpen
	}
}

// State tells what the circuit thinks.
func (c *Circuit) State() CircuitState {
	if c == nil {
		return CircuitClosed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// open opens the circuit; mu is held.
func (c *Circuit) open() { c.state, c.until = CircuitOpen, time.Now().Add(circuitRest) }

// Guarded is a Provider whose health is watched over all sessions.
type Guarded interface {
	// Circuit gives the circuit, the same one for all models of a provider; nil:
	// nobody watches. It may be called at any time.
	Circuit() *Circuit
}

// Reconnecter is a Provider that keeps connections.
type Reconnecter interface {
	// Reconnect closes the connections that no call uses, so that the next call
	// makes a new one. It may be called at any time.
	Reconnect()
}
