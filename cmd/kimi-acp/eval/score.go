package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"kimi-acp/soul/llm"
)

// Score is what came of one task.
type Score struct {
	Task   string        `json:"task"`
	Passed bool          `json:"passed"`
	Why    []string      `json:"why"` // what did not hold
	Steps  int           `json:"steps"`
	Usage  llm.Usage     `json:"usage"`
	Took   time.Duration `json:"took_ns"`
}

// Sums is what came of several tasks.
type Sums struct {
	Tasks  int           `json:"tasks"`
	Passed int           `json:"passed"`
	Steps  int           `json:"steps"`
	Usage  llm.Usage     `json:"usage"`
	Took   time.Duration `json:"took_ns"`
}

func (s *Sums) add(one Score) {
	s.Tasks++
	if one.Passed {
		s.Passed++
	}
	s.Steps += one.Steps
	s.Took += one.Took
	s.Usage.InputOther += one.Usage.InputOther
	s.Usage.Output += one.Usage.Output
	s.Usage.InputCacheRead += one.Usage.InputCacheRead
	s.Usage.InputCacheCreation += one.Usage.InputCacheCreation
}

// Output takes scores as they come. It is called by one goroutine; an error ends the
// run.
type Output interface {
	Add(Score) error
	End(Sums) error
}

// Run has the tasks done one after the other, and gives how many passed. It ends
// early with ctx, and with an error of Play or of the Output.
func Run(ctx context.Context, tasks []Task, o Options, out Output) (passed int, err error) {
	var sums Sums
	for _, t := range tasks {
		score, err := Play(ctx, t, o)
		if err != nil {
			return sums.Passed, err
		}
		sums.add(score)
		if err := out.Add(score); err != nil {
			return sums.Passed, err
		}
	}
	return sums.Passed, out.End(sums)
}

// JSON is an Output that writes one JSON object a line: {"type":"task",…} for each
// score, and {"type":"result",…} for the sums.
func JSON(w io.Writer) Output { return jsonOutput{w} }

type jsonOutput struct{ w io.Writer }

// Add writes a score.
func (j jsonOutput) Add(s Score) error {
	return j.line(struct {
		Type string `json:"type"`
		Score
	}{"task", s})
}

// End writes the sums.
func (j jsonOutput) End(s Sums) error {
	return j.line(struct {
		Type string `json:"type"`
		Sums
	}{"result", s})
}

func (j jsonOutput) line(v any) error {
	enc := json.NewEncoder(j.w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write the scores: %w", err)
	}
	return nil
}
