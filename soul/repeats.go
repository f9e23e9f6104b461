package soul

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// How many steps in a row may make the same call with the same result, or the same
// tool fail in the same way, before the model is reminded and before the turn ends.
// Waiting for something that changes is no repetition, since its results differ.
const (
	remindAfter = 3
	urgeAfter   = 6
	stopAfter   = 10
)

// sameness is what a call has in common with one of the step before.
type sameness struct {
	tool    string
	failing bool     // the failure is the same, whatever the arguments
	sum     [32]byte // of arguments and result, or of the failure
}

// repeats notices a model that goes round in circles. It serves one turn.
type repeats struct {
	streaks map[sameness]int // steps in a row, of what the last step did
}

// note takes the calls of a step and their results. It gives for each call what the
// model is to be reminded of, "": nothing; and why the turn had better end, "": it
// goes on.
func (r *repeats) note(calls []llm.ToolCall, results []wire.ToolReturnValue) (reminders []string, stop string) {
	streaks := map[sameness]int{}
	reminders = make([]string, len(calls))
	for i, call := range calls {
		same := sameness{tool: call.Name, sum: sumOf(canonical(call.Arguments), results[i])}
		n := r.streaks[same] + 1
		streaks[same] = n
		switch {
		case n >= stopAfter:
			stop = fmt.Sprintf("the model called `%s` %d times in a row in just the same way, with the same result each time", call.Name, n)
		case n >= urgeAfter:
			reminders[i] = fmt.Sprintf("You have made this same call of %s %d times in a row, and its result does not change. Do something else now, or say what keeps you from it.", call.Name, n)
		case n >= remindAfter:
			reminders[i] = "This call and its result are the same as in the steps before. Calling again will change nothing."
		}
		if !results[i].IsError {
			continue
		}
		same = sameness{tool: call.Name, failing: true, sum: sumOf("", results[i])}
		n = r.streaks[same] + 1
		streaks[same] = n
		switch {
		case n >= stopAfter:
			stop = fmt.Sprintf("`%s` failed %d times in a row in just the same way", call.Name, n)
		case n >= urgeAfter:
			reminders[i] = fmt.Sprintf("%s has failed in this way %d times in a row. Look again at its description and the schema of its arguments, or go on without it.", call.Name, n)
		case n >= remindAfter && reminders[i] == "":
			reminders[i] = "This failure is the same as in the steps before. Read what it says before you try again."
		}
	}
	r.streaks = streaks
	return reminders, stop
}

// canonical gives arguments with their keys in order and without blanks, or as they
// are when they are no JSON.
func canonical(arguments *string) string {
	if arguments == nil {
		return "{}"
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader([]byte(*arguments)))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return *arguments
	}
	out, err := json.Marshal(value)
	if err != nil {
		return *arguments
	}
	return string(out)
}

// sumOf sums up what a call was asked and what came of it.
func sumOf(arguments string, v wire.ToolReturnValue) (sum [32]byte) {
	h := sha256.New()
	for _, s := range []string{arguments, v.Message, v.Output.Text} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(s), s) // a hash takes everything
	}
	for _, p := range v.Output.Parts {
		_, _ = fmt.Fprintf(h, "%s:%d:%s%s", p.Type, len(p.Text), p.Text, p.Media.URL)
	}
	_, _ = fmt.Fprint(h, v.IsError)
	h.Sum(sum[:0])
	return sum
}
