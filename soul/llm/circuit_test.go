package llm

import (
	"testing"
	"testing/synctest"
	"time"
)

// The circuit's table: what each event makes of each state.
func TestCircuit(t *testing.T) {
	fail, succeed, trip, release := (*Circuit).Fail, (*Circuit).Succeed, (*Circuit).Trip, (*Circuit).Release
	allow := func(want bool) func(*Circuit) {
		return func(c *Circuit) {
			if got := c.Allow(); got != want {
				t.Errorf("Allow is %v", got)
			}
		}
	}
	rest := func(*Circuit) { time.Sleep(circuitRest) }
	for _, c := range []struct {
		name   string
		events []func(*Circuit)
		want   CircuitState
	}{
		{"two failures", []func(*Circuit){fail, fail, allow(true)}, CircuitClosed},
		{"not in a row", []func(*Circuit){fail, fail, succeed, fail, allow(true)}, CircuitClosed},
		{"three failures", []func(*Circuit){fail, fail, fail, allow(false)}, CircuitOpen},
		{"tripped", []func(*Circuit){trip, allow(false)}, CircuitOpen},
		{"one tries", []func(*Circuit){trip, rest, allow(true), allow(false)}, CircuitTrying},
		{"the try succeeds", []func(*Circuit){trip, rest, allow(true), succeed, allow(true), allow(true)}, CircuitClosed},
		{"the try fails", []func(*Circuit){trip, rest, allow(true), fail, allow(false)}, CircuitOpen},
		{"the try says nothing", []func(*Circuit){trip, rest, allow(true), release, allow(true)}, CircuitTrying},
		{"nothing to release", []func(*Circuit){release, allow(true)}, CircuitClosed},
	} {
		synctest.Test(t, func(t *testing.T) {
			circuit := &Circuit{}
			for _, e := range c.events {
				e(circuit)
			}
			if got := circuit.State(); got != c.want {
				t.Errorf("%s: state %d, want %d", c.name, got, c.want)
			}
		})
	}
	var none *Circuit
	for _, e := range []func(*Circuit){fail, trip, succeed, release, allow(true)} {
		e(none)
	}
	if none.State() != CircuitClosed {
		t.Error("no circuit is open")
	}
}
