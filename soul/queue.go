package soul

import (
	"context"
	"fmt"
	"strings"
)

// queue is the command about prompts that an earlier process did not come to.
func (b *Builtin) queue(_ context.Context, args string) (string, error) {
	s := b.cfg.Session
	var waits []string
	if s != nil {
		waits = s.Waiting()
	}
	switch {
	case len(waits) == 0:
		b.say("No prompt was left waiting.")
	case args == "run":
		s.EndWaiting(true)
		b.say("%s now.", prompts(len(waits), "runs", "run"))
	case args == "clear":
		s.EndWaiting(false)
		b.say("%s forgotten.", prompts(len(waits), "is", "are"))
	default:
		var list strings.Builder
		for i, text := range waits {
			fmt.Fprintf(&list, "%d. %s\n", i+1, Shorten(text, 200))
		}
		b.say("%s waiting when the program ended:\n\n%s\n`/queue run` sends them, `/queue clear` forgets them.", prompts(len(waits), "was", "were"), list.String())
	}
	return "", nil
}

// prompts counts prompts, with the verb that fits.
func prompts(n int, one, many string) string {
	if n == 1 {
		return "1 prompt " + one
	}
	return fmt.Sprintf("%d prompts %s", n, many)
}
