package soul

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestEventBusOrderAndUnsubscribe(t *testing.T) {
	var bus EventBus
	var got []string
	note := func(name string) func(BusEvent) { return func(e BusEvent) { got = append(got, name+e.SessionID) } }
	bus.Subscribe(note("a"))
	cancel := bus.Subscribe(note("b"))
	bus.Subscribe(note("c"))
	bus.Publish(BusEvent{SessionID: "1"})
	cancel()
	bus.Publish(BusEvent{SessionID: "2"})
	if s := strings.Join(got, " "); s != "a1 b1 c1 a2 c2" {
		t.Errorf("delivered %q", s)
	}
	(*EventBus)(nil).Publish(BusEvent{}) // a nil bus drops events
}

func TestEventBusSubscriberPanics(t *testing.T) {
	var log bytes.Buffer
	bus := EventBus{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	reached := false
	bus.Subscribe(func(BusEvent) { panic("broken subscriber") })
	bus.Subscribe(func(BusEvent) { reached = true })
	bus.Publish(BusEvent{Payload: TurnStarted{}})
	if !reached {
		t.Error("the subscriber behind the one that panicked got nothing")
	}
	if !strings.Contains(log.String(), "broken subscriber") || !strings.Contains(log.String(), "TurnStarted") {
		t.Errorf("the log does not tell of the panic: %s", log.String())
	}
}
