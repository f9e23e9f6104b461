package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxBinary is the goal for the size of the program, in bytes.
const maxBinary = 16_000_000

// report is all that the page says.
type report struct {
	date                  time.Time
	cores                 int
	platform              string // as linux/amd64
	loadBefore, loadAfter string // "": unknown
	work                  workload
	repetitions           int
	bytes                 int64    // size of our program
	results               []result // ours first, then the peer's if there is one
	peerMissing           string   // why there is none
	sidecar               result   // of ours with its kernel in another process
}

// result is what was found of one agent.
type result struct {
	title   string
	samples []sample // one a repetition
}

// write writes the page, in Markdown.
func (r report) write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `# Performance

kimi-acp as a whole process, measured from outside as an editor sees it. This page
is written by %[1]s; do not edit it.

Measured on %[2]s on %[3]s with %[4]d cores. `,
		"`make bench`", r.date.Format(time.DateOnly), r.platform, r.cores)
	if r.loadBefore != "" {
		fmt.Fprintf(&b, "The load average was %s before and %s after\nthe run, in which the benchmark itself counts. ", r.loadBefore, r.loadAfter)
	}
	fmt.Fprintf(&b, `Times on a shared machine wander:
compare only figures of the same run, best as ratios.

`)
	r.table(&b)
	b.WriteByte('\n')
	if r.peerMissing != "" {
		fmt.Fprintf(&b, "**The peer was not measured**: %s. The goals that compare with it are open.\n\n", r.peerMissing)
	}
	fmt.Fprintf(&b, "Size of the program: %.1f MB, stripped (goal: < %d MB; %s).\n", float64(r.bytes)/1e6, maxBinary/1_000_000, decide(0, r.bytes < maxBinary).words())
	r.kernelTable(&b)
	r.method(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// table writes the agents side by side.
func (r report) table(b *strings.Builder) {
	head, rule := "| figure |", "|---|"
	for _, a := range r.results {
		head += " " + a.title + " |"
		rule += "---|"
	}
	compared := len(r.results) > 1
	if compared {
		head += " ratio |"
		rule += "---|"
	}
	fmt.Fprintf(b, "%s goal | |\n%s---|---|\n", head, rule)
	for _, f := range figures() {
		fmt.Fprintf(b, "| `%s` |", f.key)
		spreads := make([]spread, len(r.results))
		for i, a := range r.results {
			spreads[i] = spreadOf(a.samples, f.key)
			fmt.Fprintf(b, " %s |", f.cell(spreads[i]))
		}
		quotient := math.NaN()
		if compared {
			quotient = ratio(spreads[0].median, spreads[1].median)
			fmt.Fprintf(b, " %s |", f.ratioCell(quotient))
		}
		fmt.Fprintf(b, " %s | %s |\n", f.goal.text, f.goal.judge(spreads[0], quotient).words())
	}
}

// kernelFigures are those on which it tells where the kernel runs.
func kernelFigures() []figureKey {
	return []figureKey{promptToModelMS, firstDeltaMS, turnMS, toolTurnMS, deltasPerSecond, streamCPU, afterStreamMiB, exitBusyMS, leftBehind}
}

// kernelTable writes what it costs to have the kernel in another process.
func (r report) kernelTable(b *strings.Builder) {
	b.WriteString(`
## The kernel in another process

The same program, measured in the same run, with itself as the kernel behind the Wire
([kernels.md](kernels.md)): what a kernel in another process costs, but for what that kernel
does by itself. The memory is that of both processes.

| figure | built in | in another process | ratio | added |
|---|---|---|---|---|
`)
	keys := kernelFigures()
	for _, f := range figures() {
		if !slices.Contains(keys, f.key) {
			continue
		}
		here, there := spreadOf(r.results[0].samples, f.key), spreadOf(r.sidecar.samples, f.key)
		added := "–"
		if d := there.median - here.median; !math.IsNaN(d) && !math.IsInf(d, 0) && f.key != deltasPerSecond {
			added = strconv.FormatFloat(d, 'f', f.digits, 64)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", f.key, f.cell(here), f.cell(there), f.ratioCell(ratio(there.median, here.median)), added)
	}
}

// cell is a median with its range.
func (f figure) cell(s spread) string {
	switch {
	case math.IsNaN(s.median):
		return "–"
	case f.yesNo: // one repetition without makes it a no
		return f.number(s.low)
	case s.low == s.high:
		return f.number(s.median)
	}
	return fmt.Sprintf("%s (%s–%s)", f.number(s.median), f.number(s.low), f.number(s.high))
}

func (f figure) number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "does not end"
	case f.yesNo && v == 1:
		return "yes"
	case f.yesNo:
		return "no"
	}
	return grouped(strconv.FormatFloat(v, 'f', f.digits, 64))
}

// ratioCell gives a ratio with three significant digits.
func (f figure) ratioCell(v float64) string {
	if math.IsNaN(v) || f.yesNo {
		return "–"
	}
	return "× " + strconv.FormatFloat(v, 'g', 3, 64)
}

// grouped puts commas between the thousands of a number that is not negative.
func grouped(number string) string {
	whole, fraction, _ := strings.Cut(number, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

func (v verdict) words() string {
	switch v {
	case met:
		return "met"
	case missed:
		return "**missed**"
	}
	return ""
}

// method writes what the figures mean and how the page is made again.
func (r report) method(b *strings.Builder) {
	b.WriteString("\n## What the figures mean\n\n| figure | from what to what |\n|---|---|\n")
	for _, f := range figures() {
		fmt.Fprintf(b, "| `%s` | %s |\n", f.key, f.means)
	}
	fmt.Fprintf(b, `
Each cell is the median over %d repetitions with the smallest and the largest. The
agents take turns: one repetition of each, then the next. Within a repetition the
figure is a median as well, over %d fresh starts, %d short turns and %d tool turns;
the stream is one answer of %s pieces of %d bytes, each sent and flushed by
itself; %d further sessions are opened. Memory is proportional (Pss) and summed over
the process tree, as is processor time. A ratio is our median divided by the
peer's. A figure that an agent has nothing for is –: codex-acp writes files by
itself. An agent that is still there %d seconds after its input has ended does
not end.

The model is a server on loopback that answers at once: OpenAI chat completions for
kimi-acp, OpenAI responses for codex-acp. Server and editor run on the same cores as
the agent, so the rate of the stream is that of all three together.

## Make the page again

    make bench

builds the program, installs the peer from npm into the user's cache folder once,
measures and rewrites this page. Without npm it says so, and the page has our figures
only. %s says what else the command takes. The benchmarks
of single functions are %s.
`,
		r.repetitions, r.work.starts, r.work.turns, r.work.toolTurns, grouped(strconv.Itoa(r.work.deltas)), deltaBytes, r.work.sessions,
		int(r.work.patience/time.Second), "`go run ./internal/agentbench -h`", "`make bench-go`")
}
