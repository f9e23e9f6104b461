package wirecmd

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"

	"kimi-acp/cmd/kimi-acp/playback"
	"kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

func replayFlags(f *flag.FlagSet, c *call) {
	f.BoolVar(&c.json, "json", false, "write JSON-RPC messages, as the Wire's replay sends them")
}

func replay(_ context.Context, c *call, r *session.Reader) error {
	show := playback.New(c.Screen(c.columns), r.WorkDir())
	defer show.Close()
	left := 0
	for m, err := range r.Recording() {
		switch {
		case err != nil:
			return err
		case !c.json:
			show.Receive(m)
		case m.Err != nil:
			left++
		default:
			if err := c.send(m); err != nil {
				return err
			}
		}
	}
	if left > 0 {
		return fmt.Errorf("%d lines hold no message that can be replayed; kimi-acp wire log shows them", left)
	}
	return nil
}

// send writes a message as a client gets it.
func (c *call) send(m session.Recorded) error {
	out := struct {
		Version string       `json:"jsonrpc"`
		Method  string       `json:"method"`
		ID      string       `json:"id,omitempty"`
		Params  wireEnvelope `json:"params"`
	}{Version: "2.0", Method: "event", Params: wireEnvelope{m.Message}}
	if request, ok := m.Message.(wire.Request); ok {
		out.Method, out.ID = "request", request.RequestID()
	}
	enc := json.NewEncoder(c.Out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("writing a message: %w", err)
	}
	return nil
}

// wireEnvelope is a message in the form in which it travels.
type wireEnvelope struct{ message wire.Message }

func (e wireEnvelope) MarshalJSON() ([]byte, error) { return wire.Encode(e.message) }
