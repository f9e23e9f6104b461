package tool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kimi-acp/fileop"
	"kimi-acp/internal/policy"
	"kimi-acp/internal/proc"
)

// scanGrace is how long the files may be looked at once the turn was cancelled: what
// the command did until then should be known.
const scanGrace = 2 * time.Second

// looks tells whether a command is known to change no files: each part of it stands in
// the rules' own set of commands that only look. That somebody allowed a command says
// nothing of this.
func (g *Guard) looks(command string) bool {
	if g == nil {
		return false
	}
	engine, err := g.Engine()
	if err != nil {
		return false
	}
	c := g.Context
	c.Mode = policy.ModePlan // under which nothing but that is allowed
	return engine.Shell(command, c).Decision == policy.Allow
}

// commandWatch is a command whose changes are being looked for. The zero value looks
// for none.
type commandWatch struct {
	journal *Journal
	scan    *fileop.CommandScan
	cause   fileop.Cause
	note    string // why nothing can be found
}

// watch looks at the files ahead of a command that may change some.
func (j *Journal) watch(ctx context.Context, c *Invocation) commandWatch {
	w := commandWatch{journal: j, cause: j.cause(c)}
	if j.tooLarge() {
		w.note = tooLargeNote
		return w
	}
	scan, err := j.scans.Before(ctx)
	if err != nil {
		w.note = "What this command changed is not known, so it cannot be undone: " + err.Error() + "."
		return w
	}
	w.scan = scan
	return w
}

// end looks at the files once the command has ended, and takes down what it changed.
// It gives what could not be seen to, when that is told for the first time.
func (w commandWatch) end(ctx context.Context, out proc.Outcome) (note string) {
	if w.journal == nil {
		return ""
	}
	note = w.note
	if w.scan != nil {
		if !out.Unended && out.Gone == nil {
			w.scan.Ended()
		}
		lasting, cancel := Outlast(ctx, scanGrace)
		defer cancel()
		_, coverage, err := w.scan.After(lasting, w.cause)
		w.journal.reached(coverage)
		note = coverage.Note()
		if err != nil {
			note = "What this command changed is not known, so it cannot be undone: " + err.Error() + "."
		}
	}
	return w.journal.uncovered(w.cause.Turn, note)
}

// maxCut is after how many scans in a row that did not reach all files none is tried
// any more: each takes seconds then, and what it finds is not all.
const maxCut = 2

const tooLargeNote = "The workspace has too many files to look at them around each command: from here on, what commands change cannot be undone."

func (j *Journal) tooLarge() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.cut >= maxCut
}

func (j *Journal) reached(c fileop.Coverage) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.cut++; !c.Partial {
		j.cut = 0
	}
}

// maxGaps bounds what is remembered of what could not be looked at.
const maxGaps = 20

// gap is what could not be looked at around the commands of a turn.
type gap struct {
	turn int
	note string
}

// uncovered remembers what a scan could not see to, and gives it when it is news.
func (j *Journal) uncovered(turn int, note string) string {
	if note == "" {
		return ""
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, g := range j.gaps {
		if g.note == note {
			return ""
		}
	}
	j.gaps = append(j.gaps, gap{turn, note})
	j.gaps = j.gaps[max(0, len(j.gaps)-maxGaps):]
	return note
}

// gapLines are the lines for people about what could not be looked at.
func (j *Journal) gapLines() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out strings.Builder
	for _, g := range j.gaps {
		fmt.Fprintf(&out, "- turn %d: %s\n", g.turn, g.note)
	}
	return out.String()
}
