package eval

import (
	"fmt"
	"strings"
	"time"

	"kimi-acp/internal/screen"
)

// Table is an Output that shows scores as they come, a line each, and the sums.
type Table struct {
	screen *screen.Screen
	name   int // columns of the longest name
}

// The columns behind a task's name: steps, tokens and time, with their spaces.
const figures = 6 + 8 + 8

// NewTable makes a Table for tasks, and shows its head.
func NewTable(s *screen.Screen, tasks []Task) *Table {
	t := &Table{screen: s, name: len("30 of 30 passed")}
	for _, task := range tasks {
		t.name = max(t.name, screen.Columns(task.Name))
	}
	t.name = min(t.name, s.Width()-figures-2)
	s.Print(s.Paint(screen.Bold, t.row(" ", "task", "steps", "tokens", "time")) + "\n")
	return t
}

func (t *Table) row(mark, name, steps, tokens, took string) string {
	return fmt.Sprintf("%s %s%6s%8s%8s", mark, screen.Pad(screen.Cut(name, t.name), t.name), steps, tokens, took)
}

// Add shows the score of one task, and beneath it what did not hold.
func (t *Table) Add(s Score) error {
	mark, style := "✓", screen.Plain
	if !s.Passed {
		mark, style = "✗", screen.Red
	}
	t.screen.Print(t.screen.Paint(style, t.row(mark, s.Task, fmt.Sprint(s.Steps), tokens(s.Usage.Total()), took(s.Took))) + "\n")
	for _, why := range s.Why {
		t.screen.Item(screen.Faint, "    ", screen.Shown(strings.ReplaceAll(why, "\n", " ")))
	}
	return nil
}

// End shows the sums.
func (t *Table) End(s Sums) error {
	style := screen.Green
	if s.Passed < s.Tasks {
		style = screen.Red
	}
	t.screen.Print(t.screen.Paint(style, t.row(" ", fmt.Sprintf("%d of %d passed", s.Passed, s.Tasks), fmt.Sprint(s.Steps), tokens(s.Usage.Total()), took(s.Took))) + "\n")
	return nil
}

func tokens(n int) string {
	if n < 10_000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.1fk", float64(n)/1000)
}

func took(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
