package main

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPage holds a whole page against testdata. AGENTBENCH_UPDATE=1 writes it anew.
func TestPage(t *testing.T) {
	r := report{
		date: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), cores: 2, platform: "linux/amd64",
		loadBefore: "0.10", loadAfter: "1.20", work: usual(), repetitions: 2, bytes: 9_400_000,
		results: []result{
			{"kimi-acp", []sample{
				{readyMS: 5, idleMiB: 30, turnMS: 0.5, deltasPerSecond: 61234.4, lossless: 1, exitMS: 1, exitBusyMS: 60, leftBehind: 0},
				{readyMS: 6, idleMiB: 30, turnMS: 0.7, deltasPerSecond: 71234.4, lossless: 1, exitMS: 2, exitBusyMS: 70, leftBehind: 0},
			}},
			{"peer 1.0", []sample{
				{readyMS: 50, idleMiB: 50, turnMS: 80, deltasPerSecond: 15000, lossless: 1, exitMS: endless},
				{readyMS: 60, idleMiB: 50, turnMS: 80, deltasPerSecond: 15000, lossless: 0, exitMS: endless},
			}},
		},
		sidecar: result{"in another process", []sample{
			{turnMS: 0.9, deltasPerSecond: 51234.4, exitMS: 3, exitBusyMS: 61, leftBehind: 0},
			{turnMS: 0.9, deltasPerSecond: 51234.4, exitMS: 5, exitBusyMS: 62, leftBehind: 0},
		}},
	}
	t.Run("compared", func(t *testing.T) { golden(t, r, "compared.md") })
	r.results, r.peerMissing, r.loadBefore, r.bytes = r.results[:1], "it could not be installed", "", maxBinary
	t.Run("alone", func(t *testing.T) { golden(t, r, "alone.md") })
}

func golden(t *testing.T, r report, name string) {
	t.Helper()
	var got bytes.Buffer
	if err := r.write(&got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if os.Getenv("AGENTBENCH_UPDATE") == "1" {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the page differs (-want +got):\n%s", diff)
	}
}

func TestGoals(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		name        string
		goal        goal
		ours, ratio float64
		want        verdict
	}{
		{"none", goal{}, 1, 1, unknown},
		{"ratio at the bound", goal{most: 0.5}, 9, 0.5, met},
		{"ratio above", goal{most: 0.5}, 9, 0.51, missed},
		{"ratio at the lower bound", goal{least: 3}, 9, 3, met},
		{"ratio below", goal{least: 3}, 9, 2.9, missed},
		{"no peer", goal{least: 3}, 9, nan, unknown},
		{"below", goal{below: 50}, 49.9, nan, met},
		{"not below", goal{below: 50}, 50, nan, missed},
		{"does not end", goal{below: 50}, endless, nan, missed},
		{"not measured", goal{below: 50}, nan, nan, unknown},
		{"no", goal{min: 1}, 0, nan, missed},
	} {
		if got := test.goal.judge(spread{test.ours, test.ours, test.ours}, test.ratio); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// A bound on our own figure holds in every repetition, not only in the middle one.
func TestGoalsOfTheWorstRepetition(t *testing.T) {
	if got := (goal{below: 50}).judge(spread{40, 30, 60}, 1); got != missed {
		t.Errorf("above the bound once: %v, want missed", got)
	}
	if got := (goal{min: 1}).judge(spread{1, 0, 1}, 1); got != missed {
		t.Errorf("a no once: %v, want missed", got)
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{9, 1, 3}, 3},
		{[]float64{4, 1, 2, 9}, 3},
		{[]float64{1, endless}, endless},
	} {
		if got := median(test.values); got != test.want {
			t.Errorf("median of %v is %v, want %v", test.values, got, test.want)
		}
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("median of nothing is %v", got)
	}
}

func TestGrouped(t *testing.T) {
	for number, want := range map[string]string{"1": "1", "123": "123", "1234.5": "1,234.5", "1234567": "1,234,567"} {
		if got := grouped(number); got != want {
			t.Errorf("%s: %s, want %s", number, got, want)
		}
	}
}

func TestBanner(t *testing.T) {
	var b strings.Builder
	banner(&b, "NOT MEASURED", errors.New("one\ntwo"))
	if !strings.Contains(b.String(), "!! NOT MEASURED\n!!   one\n!!   two\n") {
		t.Errorf("the banner is %s", b.String())
	}
}
