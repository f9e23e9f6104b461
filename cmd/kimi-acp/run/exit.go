package run

import (
	"errors"

	"kimi-acp/soul"
	"kimi-acp/soul/llm"
)

// ExitCode is what the program ends with.
type ExitCode int

// The exit codes. Of several that fit, Exit gives the worst.
const (
	ExitDone       ExitCode = 0   // the model had nothing more to do
	ExitFailed     ExitCode = 1   // the provider refused, or the program failed
	ExitUsage      ExitCode = 2   // wrong flags, or no model is set up
	ExitRefused    ExitCode = 3   // the provider's filter refused
	ExitCut        ExitCode = 4   // the answer's length or the number of steps was used up
	ExitUnanswered ExitCode = 5   // an approval was rejected since nobody answered
	ExitRetry      ExitCode = 75  // the provider failed in a way that may pass
	ExitCancelled  ExitCode = 130 // cancelled
)

// Exit is the exit code of a turn.
func Exit(r Result) ExitCode {
	var e *llm.Error
	switch {
	case errors.As(r.Err, &e) && e.Kind.Remedy().Repeat:
		return ExitRetry
	case r.Err != nil:
		return ExitFailed
	}
	switch r.Stop {
	case soul.StopCancelled:
		return ExitCancelled
	case soul.StopRefusal:
		return ExitRefused
	case soul.StopMaxTokens, soul.StopMaxSteps:
		return ExitCut
	}
	if r.Unanswered > 0 {
		return ExitUnanswered
	}
	return ExitDone
}

// StopName names how a turn ended: end_turn, max_tokens, max_steps, refusal,
// cancelled or error.
func StopName(r Result) string {
	if r.Err != nil {
		return "error"
	}
	switch r.Stop {
	case soul.StopMaxTokens:
		return "max_tokens"
	case soul.StopMaxSteps:
		return "max_steps"
	case soul.StopRefusal:
		return "refusal"
	case soul.StopCancelled:
		return "cancelled"
	}
	return "end_turn"
}

// Advice says in a sentence what a person can do about a failed turn; "" when
// nothing is known beyond what the error says.
func Advice(err error) string {
	var e *llm.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Kind {
	case llm.KindAuth, llm.KindPermission, llm.KindUnknownModel, llm.KindConnection:
		return "Run kimi-acp doctor to see what is wrong with the key, the address or the model."
	case llm.KindBilling:
		return "The account has no credit or quota left: top it up, or use another key."
	case llm.KindOverflow:
		return "The prompt, with what was read, is too long for the model: ask for less at once."
	case llm.KindContentFilter:
		return "The provider refused the content: reword the prompt."
	}
	if e.Kind.Remedy().Repeat {
		return "This may pass: try again in a while."
	}
	return ""
}
