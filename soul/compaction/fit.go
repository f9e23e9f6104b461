package compaction

import (
	"fmt"

	"kimi-acp/soul/llm"
)

// entry is one thing that is told of a conversation.
type entry struct {
	head   string // stays whole, a few words
	text   string
	weight int // how much of the room the text gets, beside the others
	size   int // of the text, in tokens
}

func newEntry(head, text string, weight int) entry {
	return entry{head, text, weight, llm.EstimateText(text)}
}

// leastShare is what a text of weight 1 keeps at least, in tokens. When there is no
// room for that much, whole entries are left out.
const leastShare = 6

func (e entry) share(base int) int { return min(e.size, base*e.weight) }

func (e entry) cost(base int) int { return llm.EstimateText(e.head) + 2 + e.share(base) }

func cost(entries []entry, base int) int {
	n := 0
	for _, e := range entries {
		n += e.cost(base)
	}
	return n
}

// fit tells entries in so many tokens. All give way in the measure of their weights:
// short ones stay whole, long ones lose their middle. When there are too many, those
// left out are rather late than early, since what began a conversation says what it is
// about, and rather early than recent.
func fit(entries []entry, tokens int) []string {
	entries = thin(entries, tokens)
	low, high := leastShare, max(tokens, leastShare)
	for low < high {
		if mid := (low + high + 1) / 2; cost(entries, mid) <= tokens {
			low = mid
		} else {
			high = mid - 1
		}
	}
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		out = append(out, e.head+cut(e.text, e.share(low)))
	}
	return out
}

// thin leaves entries out until the least of each fits.
func thin(entries []entry, tokens int) []entry {
	if cost(entries, leastShare) <= tokens {
		return entries
	}
	low, high := 0, len(entries)
	for low < high {
		if mid := (low + high + 1) / 2; cost(some(entries, mid), leastShare) <= tokens {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return some(entries, low)
}

// some gives n of the entries: the first quarter of n, and the last ones.
func some(entries []entry, n int) []entry {
	if n >= len(entries) {
		return entries
	}
	first := (n + 3) / 4
	out := append([]entry(nil), entries[:first]...)
	out = append(out, newEntry(fmt.Sprintf("[%d left out here]", len(entries)-n), "", 1))
	return append(out, entries[len(entries)-(n-first):]...)
}
