package soul

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"kimi-acp/soul/llm"
)

// maxListed bounds the turns that are listed to go back to.
const maxListed = 20

// rewindTo is the command: it lists where the conversation can go back to, or goes
// there.
func (b *Builtin) rewindTo(ctx context.Context, arg string) (string, error) {
	if arg == "" {
		b.say("%s", listBack(b.history.All()))
		return "", nil
	}
	back, ok := parseBack(arg)
	if !ok {
		b.say("`/rewind` lists what can be taken back. `/rewind 2` takes back the last two turns, `/rewind 0.1` the last step of the last turn, `/rewind 1.2` the last turn and two steps of the one before.")
		return "", nil
	}
	b.say("%s", b.Rewind(ctx, back))
	return "", nil
}

// parseBack reads "turns" or "turns.steps".
func parseBack(arg string) (back Back, ok bool) {
	turns, steps, both := strings.Cut(arg, ".")
	var err error
	if back.Turns, err = strconv.Atoi(turns); err != nil || back.Turns < 0 {
		return Back{}, false
	}
	if both {
		if back.Steps, err = strconv.Atoi(steps); err != nil || back.Steps < 1 {
			return Back{}, false
		}
	}
	return back, back.Turns+back.Steps > 0
}

// listBack lists, the latest first, the turns of a conversation with their steps.
func listBack(messages []llm.Message) string {
	all := points(messages)
	turns, _ := turnsOf(all, maxListed)
	if len(turns) == 0 {
		return "There is nothing to take back."
	}
	var out strings.Builder
	out.WriteString("What can be taken back, the latest first; all that comes behind it goes too:\n")
	for n := range turns {
		opener := messages[turns[len(turns)-1-n].index]
		said := ""
		if len(opener.Content) > 0 {
			said = Shorten(opener.Content[0].Text, 60)
		}
		fmt.Fprintf(&out, "- `/rewind %d`: from “%s” on", n+1, said)
		if _, steps := turnsOf(all, n); len(steps) > 0 {
			fmt.Fprintf(&out, "; `/rewind %d.1` to `/rewind %d.%d`: its last step, to all %d", n, n, len(steps), len(steps))
		}
		out.WriteString(".\n")
	}
	return out.String()
}
