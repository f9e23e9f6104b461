package main

import (
	"time"

	"kimi-acp/internal/config"
	"kimi-acp/internal/obs"
	"kimi-acp/soul"
	"kimi-acp/soul/wire"
)

// eventLog is an event bus whose events are logged.
func eventLog(log *obs.Log) *soul.EventBus {
	bus := &soul.EventBus{Logger: log.Logger}
	bus.Subscribe(func(e soul.BusEvent) {
		switch p := e.Payload.(type) {
		case soul.SessionMoved:
			log.Debug("session moved", "session", e.SessionID, "from", p.From, "to", p.To)
		case soul.TurnFinished:
			attrs := []any{"session", e.SessionID, "stop", p.Outcome.Stop, "steps", p.Outcome.Steps, "took", p.Took.Round(time.Millisecond)}
			if p.Err != nil {
				attrs = append(attrs, "error", p.Err)
			}
			log.Info("turn finished", attrs...)
		}
	})
	return bus
}

// wireTrace records the Wire of each session beside the log while KIMI_DEBUG is
// set, as wire-SESSION.jsonl; nil otherwise.
func wireTrace(cfg config.Config, log *obs.Log) func(sessionID string) (wire.View, func()) {
	if !cfg.Debug || cfg.LogDir() == "" {
		return nil
	}
	return func(sessionID string) (wire.View, func()) {
		f, err := obs.Trace(cfg.LogDir(), "wire-"+sessionID+".jsonl")
		if err != nil {
			log.Warn("the Wire is not recorded", "error", err)
			return wire.ViewFunc(func(wire.Message) {}), func() {}
		}
		r := wire.NewRecorder(f, wire.Recording{Empty: true, Now: time.Now, Failed: func(err error) { log.Warn("the Wire is no longer recorded", "error", err) }})
		return r, func() {
			if err := f.Close(); err != nil {
				log.Warn("the end of the Wire's record may be missing", "error", err)
			}
		}
	}
}
