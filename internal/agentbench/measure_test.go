package main

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// little is a workload for tests.
func little() workload {
	return workload{starts: 1, turns: 2, toolTurns: 2, deltas: 40, sessions: 2, settle: time.Millisecond, patience: 200 * time.Millisecond}
}

func TestMeasure(t *testing.T) {
	work := little()
	work.patience = answerTime
	got, err := measure(t.Context(), pretender(t, decent), work)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range figures() {
		v, has := got[f.key]
		switch {
		case !has && runtime.GOOS != "linux":
		case !has:
			t.Errorf("%s is missing", f.key)
		case math.IsNaN(v) || v < 0 || math.IsInf(v, 0):
			t.Errorf("%s is %v", f.key, v)
		}
	}
	if got[lossless] != 1 {
		t.Error("a stream that came whole counts as not lossless")
	}
	if got[readyMS] < got[initializeMS] || got[turnMS] < got[promptToModelMS] {
		t.Errorf("the parts last longer than the whole: %v", got)
	}
}

// Two deltas that change places leave the number of bytes as it is.
func TestMeasureSeesDisorder(t *testing.T) {
	c := pretender(t, forgetful)
	c.write, c.sleep = nil, toolCall{}
	got, err := measure(t.Context(), c, little())
	if err != nil {
		t.Fatal(err)
	}
	if got[lossless] != 0 {
		t.Error("a stream in disorder counts as lossless")
	}
	for _, key := range []figureKey{toolTurnMS, exitBusyMS, leftBehind} {
		if _, has := got[key]; has {
			t.Errorf("%s was measured without a tool for it", key)
		}
	}
}

func TestMeasureOfAnAgentThatDoesNotEnd(t *testing.T) {
	c := pretender(t, stubborn)
	c.write, c.sleep = nil, toolCall{}
	got, err := measure(t.Context(), c, little())
	if err != nil {
		t.Fatal(err)
	}
	if got[exitMS] != endless {
		t.Errorf("exit_ms is %v, want endless", got[exitMS])
	}
}

// What an agent says on stderr is the only account of why it failed.
func TestMeasureExplainsFailure(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	_, err := measure(t.Context(), pretender(t, broken), little())
	if err == nil || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("the error is %v, want the agent's words", err)
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("scratch folders are left: %v, %v", left, err)
	}
}

func TestSetUpWritesSettings(t *testing.T) {
	s, err := setUp(pretender(t, decent))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(s.home, "deep", "settings"))
	if err != nil || string(data) != "content" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	if err := s.tearDown(); err != nil {
		t.Error(err)
	}
}

func TestStreamedDeltas(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range streamed(1000) {
		if len(d) != deltaBytes || seen[d] {
			t.Fatalf("%q has %d bytes or comes twice", d, len(d))
		}
		seen[d] = true
	}
}
