package session

import "fmt"

// Kind is a kind of damage.
type Kind string

// The kinds of damage.
const (
	KindTornTail   Kind = "torn-tail"  // the history ends within a line
	KindBadLine    Kind = "bad-line"   // a line of the history is no record, or only partly one
	KindMissing    Kind = "missing"    // what was written to the history is not in it any more
	KindChanged    Kind = "changed"    // the history is not what was written
	KindTooLong    Kind = "too-long"   // the history is too long to be read whole
	KindUnanswered Kind = "unanswered" // tool calls have no result
	KindOrphan     Kind = "orphan"     // tool results answer no call
	KindArguments  Kind = "arguments"  // arguments of tool calls are no JSON object
	KindSettings   Kind = "settings"   // state.json cannot be read
	KindRecording  Kind = "recording"  // lines of wire.jsonl hold no message
	KindUnknown    Kind = "unknown"    // messages of wire.jsonl are of a later Wire
	KindIndex      Kind = "index"      // kimi.json could not be written
	KindUnlocked   Kind = "unlocked"   // the file system has no locks
	KindMore       Kind = "more"       // there is more than is listed
	KindUnreadable Kind = "unreadable" // the system does not give a file
	KindNoHistory  Kind = "no-history" // there is no context.jsonl
)

// Finding is damage that was found, as a sentence for people.
type Finding struct {
	Kind Kind
	Text string
}

// maxNotes bounds what is reported of one session.
const maxNotes = 20

// notes collects what was repaired or skipped.
type notes struct {
	list []Finding
	more int
}

func (n *notes) add(kind Kind, format string, args ...any) {
	if len(n.list) == maxNotes {
		n.more++
		return
	}
	n.list = append(n.list, Finding{Kind: kind, Text: fmt.Sprintf(format, args...)})
}

func (n *notes) all() []Finding {
	if n.more == 0 {
		return n.list
	}
	return append(n.list[:len(n.list):len(n.list)], Finding{Kind: KindMore, Text: fmt.Sprintf("and %d more of that kind", n.more)})
}

// texts gives the sentences.
func (n *notes) texts() []string {
	var all []string
	for _, f := range n.all() {
		all = append(all, f.Text)
	}
	return all
}
