package main

import (
	"math"
	"slices"
)

// figureKey names a figure, as the page does.
type figureKey string

// The figures.
const (
	initializeMS    figureKey = "initialize_ms"
	readyMS         figureKey = "ready_ms"
	idleMiB         figureKey = "idle_mib"
	promptToModelMS figureKey = "prompt_to_model_ms"
	firstDeltaMS    figureKey = "first_delta_to_update_ms"
	turnMS          figureKey = "turn_ms"
	toolTurnMS      figureKey = "tool_turn_ms"
	deltasPerSecond figureKey = "stream_deltas_per_s"
	lossless        figureKey = "stream_lossless"
	streamCPU       figureKey = "stream_cpu_s"
	afterStreamMiB  figureKey = "after_stream_mib"
	sessionMS       figureKey = "extra_session_ms"
	sessionMiB      figureKey = "extra_session_mib"
	exitMS          figureKey = "exit_ms"
	exitBusyMS      figureKey = "exit_busy_ms"
	leftBehind      figureKey = "left_behind"
)

// figure is one row of the page.
type figure struct {
	key    figureKey
	means  string
	digits int  // behind the point
	yesNo  bool // 1 is yes and 0 is no
	goal   goal
}

// figures are all rows, in the order of an agent's life.
func figures() []figure {
	return []figure{
		{key: initializeMS, means: "exec to the answer of `initialize`", digits: 1},
		{key: readyMS, means: "exec to the answer of `session/new`", digits: 1, goal: goal{text: "≤ 1/3 of the peer", most: 1.0 / 3}},
		{key: idleMiB, means: "memory with one session, at rest", digits: 1, goal: goal{text: "≤ 1/2 of the peer", most: 0.5}},
		{key: promptToModelMS, means: "prompt sent to model request come", digits: 2},
		{key: firstDeltaMS, means: "model's first delta to the editor's first update", digits: 2},
		{key: turnMS, means: "a turn in which the model says one word at once", digits: 2, goal: goal{text: "≤ 1/10 of the peer", most: 0.1}},
		{key: toolTurnMS, means: "a turn that writes a file: two model calls, a permission, the editor's write", digits: 2},
		{key: deltasPerSecond, means: "a long answer, model request to the end of the turn", goal: goal{text: "≥ 3 × the peer", least: 3}},
		{key: lossless, means: "its text came whole and in order", yesNo: true, goal: goal{text: "yes", min: 1}},
		{key: streamCPU, means: "processor time of the agent for it", digits: 2},
		{key: afterStreamMiB, means: "memory after it, at rest", digits: 1},
		{key: sessionMS, means: "a further session", digits: 2},
		{key: sessionMiB, means: "memory of a further session", digits: 2},
		{key: exitMS, means: "end of input to the end of the process", digits: 1, goal: goal{text: "< 50", below: 50}},
		{key: exitBusyMS, means: "the same while `sleep 60` runs as a tool", digits: 1, goal: goal{text: "< 50", below: 50}},
		{key: leftBehind, means: "processes that outlive it then by 5 s", goal: goal{text: "0", below: 1}},
	}
}

// goal is what our agent is to reach. Of its bounds at most one is set.
type goal struct {
	text        string  // "": there is none
	most, least float64 // of our median divided by the peer's
	below, min  float64 // of our figure itself, in every repetition
}

// verdict is whether a goal is met.
type verdict uint8

// The verdicts.
const (
	unknown verdict = iota // there is no goal, or nothing to hold it against
	met
	missed
)

// judge holds our figure and its ratio to the peer's against the goal. What is
// unknown is NaN.
func (g goal) judge(ours spread, ratio float64) verdict {
	switch {
	case g.most > 0:
		return decide(ratio, ratio <= g.most)
	case g.least > 0:
		return decide(ratio, ratio >= g.least)
	case g.below > 0:
		return decide(ours.high, ours.high < g.below)
	case g.min > 0:
		return decide(ours.low, ours.low >= g.min)
	}
	return unknown
}

func decide(value float64, good bool) verdict {
	switch {
	case math.IsNaN(value):
		return unknown
	case good:
		return met
	}
	return missed
}

// spread is a figure over the repetitions.
type spread struct{ median, low, high float64 }

// spreadOf gathers a figure; all is NaN if no sample has it.
func spreadOf(samples []sample, key figureKey) spread {
	var values []float64
	for _, sample := range samples {
		if v, has := sample[key]; has {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return spread{math.NaN(), math.NaN(), math.NaN()}
	}
	return spread{median(values), slices.Min(values), slices.Max(values)}
}

// median gives the middle of the values, the mean of the middle two if their
// number is even, and NaN if there are none.
func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// ratio divides two medians; NaN where that says nothing.
func ratio(ours, peers float64) float64 {
	if math.IsInf(ours, 0) || math.IsInf(peers, 0) || peers == 0 {
		return math.NaN()
	}
	return ours / peers
}
