//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/cmd/kimi-acp/demo"
)

// show runs the demo with answers and gives what it showed; "-" is nobody to ask.
func show(t *testing.T, answers string, width int) (string, error) {
	t.Helper()
	agent := program(t) // built before the scratch folder is where things are made
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	var out strings.Builder
	o := demo.Options{Agent: []string{agent, "acp"}, Out: &out, Width: width}
	if answers != "-" {
		o.In = strings.NewReader(answers)
	}
	err := demo.Run(t.Context(), o)
	if left, readErr := os.ReadDir(scratch); readErr != nil || len(left) > 0 {
		t.Errorf("the demo left %v behind, %v", left, readErr)
	}
	return out.String(), err
}

func TestDemoAnswersByItself(t *testing.T) {
	for _, width := range []int{40, 60, 100} {
		got, err := show(t, "-", width)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"▌ You", "▌ Thinking", "▌ Plan", "▌ Permission", `+    return "Hello, " + name + "!"`, "// Greet says hello to one person.", "✓ Check what changed", "▌ Done  stop reason end_turn"} {
			if !strings.Contains(got, want) {
				t.Errorf("at width %d the demo lacks %q", width, want)
			}
		}
		for line := range strings.Lines(got) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
				t.Errorf("at width %d a line has %d columns: %q", width, n, line)
			}
		}
		if strings.Contains(got, "\x1b") {
			t.Errorf("at width %d there are escape sequences without a terminal", width)
		}
	}
}

func TestDemoAsks(t *testing.T) {
	for _, c := range []struct {
		name, answers string
		edited        bool
		shows         string
	}{
		{"yes", "y\ny\n", true, "Your answer: "},
		{"no", "n\nn\n", false, "rejected"},
		{"an answer that is none", "perhaps\nY\ny\n", true, "[x] Reject edits in this workspace for this session"},
		{"nobody answers", "", false, "stop reason cancelled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := show(t, c.answers, 80)
			if err != nil {
				t.Fatal(err)
			}
			_, file, _ := strings.Cut(got, "▌ File")
			if edited := strings.Contains(file, "+ name +"); edited != c.edited {
				t.Errorf("edited %v, want %v:\n%s", edited, c.edited, file)
			}
			if !strings.Contains(got, c.shows) {
				t.Errorf("the demo does not show %q:\n%s", c.shows, got)
			}
		})
	}
}

func TestDemoWithoutAnAgent(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, agent := range []string{filepath.Join(t.TempDir(), "no-such-program"), "/bin/false"} {
		var out strings.Builder
		if err := demo.Run(t.Context(), demo.Options{Agent: []string{agent}, Out: &out, Width: 80}); err == nil {
			t.Errorf("with %s for an agent the demo succeeds", agent)
		}
	}
}
