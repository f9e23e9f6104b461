package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"kimi-acp/internal/proc"
	"kimi-acp/soul/wire"
)

// blockCode is the exit code by which a hook is against something.
const blockCode = 2

// Call runs one hook with what it reads, and gives its decision: "block" or "allow". It
// blocks with the code 2 and its reason on standard error, or with the code 0 and a JSON
// object that denies. Whatever goes wrong allows, unless the hook fails closed.
func (h *Hooks) Call(ctx context.Context, k Hook, payload []byte) wire.HookDecision {
	decision, _ := h.call(ctx, k, payload)
	return decision
}

// call is Call, and gives what the hook has written for the model.
func (h *Hooks) call(ctx context.Context, k Hook, payload []byte) (decision wire.HookDecision, said string) {
	limited, cancel := context.WithTimeout(ctx, k.Timeout)
	defer cancel()
	w, err := h.o.Runner.Script(limited, h.script(k, payload))
	failed := ""
	switch {
	case err != nil && ctx.Err() != nil:
		failed = "it was stopped"
	case errors.Is(err, context.DeadlineExceeded):
		failed = fmt.Sprintf("it took longer than %v", k.Timeout)
	case err != nil:
		failed = err.Error()
	case w.ExitCode == blockCode:
		return block(w.Stderr), ""
	case w.ExitCode != 0:
		failed = fmt.Sprintf("it ended with the code %d: %s", w.ExitCode, strings.TrimSpace(w.Stderr))
	default:
		if why, denied := denial(w); denied {
			return block(why), ""
		}
		return wire.HookDecision{Action: "allow"}, saidIn(w)
	}
	h.o.Logger.Warn("a hook failed", "session", h.o.SessionID, "event", k.Event, "line", k.Line, "error", failed, "blocks", k.FailClosed)
	if k.FailClosed {
		return block("A hook that has to agree failed: " + failed), ""
	}
	return wire.HookDecision{Action: "allow"}, ""
}

// Calls gives the hooks on an event that want to know of a target, for somebody who calls
// others in the same round.
func (h *Hooks) Calls(event, target string) []Call {
	found := h.Find(event, target)
	round := &round{event: event, texts: make([]string, len(found)), open: len(found), said: &h.said}
	var calls []Call
	for i, k := range found {
		calls = append(calls, func(ctx context.Context, payload []byte) wire.HookDecision {
			decision, text := h.call(ctx, k, payload)
			round.heard(i, text, decision.Action == "block")
			return decision
		})
	}
	return calls
}

// denial reads an answer that is a JSON object.
func denial(w proc.Written) (why string, denied bool) {
	var answer struct {
		Output struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal(w.Stdout, &answer) != nil {
		return "", false
	}
	return answer.Output.Reason, answer.Output.Decision == "deny"
}

func block(why string) wire.HookDecision {
	why = strings.TrimSpace(why)
	if len(why) > maxWhy {
		why = strings.ToValidUTF8(why[:maxWhy], "")
	}
	return wire.HookDecision{Action: "block", Reason: why}
}
