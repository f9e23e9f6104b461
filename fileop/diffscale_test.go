package fileop_test

import (
	"fmt"
	"strings"
	"testing"

	"kimi-acp/fileop"
)

// TestScatteredEdits: 200 changes in 10,000 lines are 200 hunks of a few lines, for
// the card and for the journal.
func TestScatteredEdits(t *testing.T) {
	const lines, edits = 10_000, 200
	var before, after strings.Builder
	for i := range lines {
		// Most lines occur many times, as in code.
		line := []string{"\t}\n", "\treturn nil\n", "\n", fmt.Sprintf("\tcall%d()\n", i)}[i%4]
		before.WriteString(line)
		if i%(lines/edits) == 25 {
			line = fmt.Sprintf("\tchanged %d\n", i)
		}
		after.WriteString(line)
	}
	hunks := fileop.Hunks(before.String(), after.String())
	if len(hunks) != edits {
		t.Fatalf("%d hunks, want %d", len(hunks), edits)
	}
	for _, h := range hunks {
		if h.Summary || strings.Count(h.OldText, "\n") > 6 || strings.Count(h.NewText, "\n") > 6 {
			t.Fatalf("a hunk of more lines than its change and its context: %+v", h)
		}
	}
}

// TestRewriteIsBounded: two texts of 50,000 lines that share nothing, and two that
// share lines in another order, are compared in work that grows with the lines and not
// with their square. Work is counted in allocations, since comparing in vain makes
// them.
func TestRewriteIsBounded(t *testing.T) {
	text := func(n int, format string, back bool) string {
		var b strings.Builder
		for i := range n {
			if back {
				i = n - i
			}
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, format := range map[string]string{"nothing in common": "new %d\n", "the other way round": "old %d\n"} {
		count := func(n int) float64 {
			old, now := text(n, "old %d\n", false), text(n, format, true)
			return testing.AllocsPerRun(1, func() {
				if got := fileop.Unified("f", &old, now); strings.Count(got, "\n") > 700 {
					t.Fatalf("%s: %d lines are printed", name, strings.Count(got, "\n"))
				}
			})
		}
		small, large := count(5_000), count(50_000)
		if large > 12*small+5_000 {
			t.Errorf("%s: 10 times the lines make %.0f allocations out of %.0f", name, large, small)
		}
	}
}
