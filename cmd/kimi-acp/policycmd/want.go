package policycmd

import (
	"regexp"
	"slices"
	"strings"

	"kimi-acp/internal/policy"
)

// want is what a case says should happen.
type want struct {
	any []policy.Decision // one of these
	// write is what should happen with a write, when the case speaks of both.
	write []policy.Decision
	// still is a rule that has to deny the same action.
	still string
	shown string // text that has to be shown
}

var (
	wantWord  = regexp.MustCompile(`ASK-NOALWAYS|ALLOW|ASK|DENY`)
	wantBoth  = regexp.MustCompile(`(?i)^read allowed, write (ASK-NOALWAYS|ASK|DENY|refused)`)
	wantStill = regexp.MustCompile(`deny rule \[([^\]]*)\] must still hit`)
	wantShown = regexp.MustCompile(`shown with (\S+)`)
)

func decisionsFor(word string) []policy.Decision {
	switch strings.ToUpper(word) {
	case "ALLOW", "ALLOWED", "WORKS":
		return []policy.Decision{policy.Allow}
	case "ASK":
		return []policy.Decision{policy.Ask, policy.AskOnce}
	case "ASK-NOALWAYS":
		return []policy.Decision{policy.AskOnce}
	}
	return []policy.Decision{policy.Deny}
}

// parseWant reads a case's wish. Not ok: it is about something that is not decided
// here.
func parseWant(text string) (w want, ok bool) {
	if m := wantBoth.FindStringSubmatch(text); m != nil {
		return want{any: decisionsFor("ALLOW"), write: decisionsFor(m[1])}, true
	}
	head, rest, _ := strings.Cut(text, ";")
	if m := wantStill.FindStringSubmatch(rest); m != nil {
		w.still = strings.ReplaceAll(m[1], ",", " ")
	}
	if m := wantShown.FindStringSubmatch(text); m != nil {
		w.shown = m[1]
	}
	if i := strings.IndexAny(head, "(,"); i > 0 && !strings.Contains(head[:i], " or ") && !strings.Contains(head, " or ") {
		head = head[:i]
	}
	for _, word := range wantWord.FindAllString(head, -1) {
		w.any = append(w.any, decisionsFor(word)...)
	}
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(head)), " ")
	switch {
	case len(w.any) > 0 && wantWord.FindStringIndex(head)[0] > 0:
		return want{}, false // a decision is only spoken of
	case len(w.any) > 0:
		return w, true
	case first == "refused" || first == "denied":
		w.any = decisionsFor("DENY")
	case first == "works" || first == "allowed":
		w.any = decisionsFor("ALLOW")
	case first == "clean" && strings.Contains(head, "error"):
		w.any = decisionsFor("DENY")
	}
	return w, len(w.any) > 0
}

func (w want) takes(d policy.Decision) bool { return slices.Contains(w.any, d) }
