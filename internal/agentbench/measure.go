package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"
)

// workload says how much is done in one repetition.
type workload struct {
	starts    int // fresh starts
	turns     int // short turns, of each of the two kinds
	toolTurns int // turns in which the model calls a tool
	deltas    int // pieces of the streamed answer
	sessions  int // further sessions

	settle   time.Duration // how long an agent is left alone before its memory is looked at
	patience time.Duration // how long it may take to end
}

// usual is the workload behind the page.
func usual() workload {
	return workload{
		starts: 7, turns: 20, toolTurns: 10, deltas: 20_000, sessions: 30,
		settle: 500 * time.Millisecond, patience: 3 * time.Second,
	}
}

// deltaBytes is the size of a piece of the streamed answer.
const deltaBytes = 20

// sample is what one repetition found, by figure. A figure that could not be
// measured is absent; endless stands for an agent that does not end.
type sample map[figureKey]float64

var endless = math.Inf(1)

// measure does one repetition with an agent.
func measure(ctx context.Context, c candidate, work workload) (out sample, err error) {
	s, err := setUp(c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.tearDown()) }()
	out = sample{}
	if err := s.starts(ctx, work, out); err != nil {
		return nil, fmt.Errorf("fresh starts: %w", err)
	}
	if err := s.life(ctx, work, out); err != nil {
		return nil, err
	}
	if s.sleep.name != "" {
		if err := s.endBusy(ctx, work, out); err != nil {
			return nil, fmt.Errorf("end with a command running: %w", err)
		}
	}
	return out, nil
}

// starts measures how fast an agent is there and gone again.
func (s *subject) starts(ctx context.Context, work workload, out sample) error {
	var initialize, ready, exit []float64
	for range work.starts {
		p, err := s.start(ctx)
		if err != nil {
			return err
		}
		initialize = append(initialize, ms(p.initialize))
		ready = append(ready, ms(p.ready))
		if s.endless { // known by now: no need to wait for it again
			p.kill()
			continue
		}
		e := p.end(work.patience)
		if !e.self {
			s.endless = true
			exit = append(exit, endless)
			continue
		}
		exit = append(exit, ms(e.took))
	}
	out[initializeMS], out[readyMS] = median(initialize), median(ready)
	out[exitMS] = median(exit)
	if s.endless {
		out[exitMS] = endless
	}
	return nil
}

// life measures one agent from its start through turns, a stream and further
// sessions.
func (s *subject) life(ctx context.Context, work workload, out sample) error {
	p, err := s.start(ctx)
	if err != nil {
		return err
	}
	defer p.kill()
	p.rest(work, out, idleMiB)
	for _, part := range []struct {
		name string
		do   func(context.Context, *process, workload, sample) error
	}{
		{"short turns", s.shortTurns},
		{"first deltas", s.firstDeltas},
		{"tool turns", s.toolTurns},
		{"stream", s.stream},
		{"further sessions", s.sessions},
	} {
		if err := part.do(ctx, p, work, out); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// rest notes what memory the agent and its children hold once they are at rest.
func (p *process) rest(work workload, out sample, key figureKey) {
	time.Sleep(work.settle)
	if u, ok := usageOf(p.cmd.Process.Pid); ok {
		out[key] = u.mib
	}
}

// shortTurns measures turns in which the model says a word at once.
func (s *subject) shortTurns(ctx context.Context, p *process, work workload, out sample) error {
	var whole, before []float64
	for range work.turns {
		s.model.forget()
		began := time.Now()
		wait, err := p.prompt("hello")
		if err != nil {
			return err
		}
		if err := wait(ctx); err != nil {
			return err
		}
		whole = append(whole, ms(time.Since(began)))
		arrived, err := s.model.arrival(ctx)
		if err != nil {
			return err
		}
		before = append(before, ms(arrived.Sub(began)))
	}
	out[turnMS], out[promptToModelMS] = median(whole), median(before)
	return nil
}

// firstDeltas measures how long a delta takes through the agent: the model holds
// its answer back until it is told to go on.
func (s *subject) firstDeltas(ctx context.Context, p *process, work workload, out sample) error {
	var through []float64
	for range work.turns {
		s.model.forget()
		gate := make(chan struct{})
		s.model.push(reply{gate: gate})
		wait, err := p.prompt("hello")
		if err != nil {
			return err
		}
		if err := s.requested(ctx); err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond) // the agent has read the head of the answer
		p.editor.forget()                // some agents have shown words of their own by then
		opened := time.Now()
		close(gate)
		if err := wait(ctx); err != nil {
			return err
		}
		if a := p.editor.account(); len(a.chunks) > 0 {
			through = append(through, ms(a.first.Sub(opened)))
		}
	}
	if len(through) == 0 {
		return errors.New("no text was shown in any turn")
	}
	out[firstDeltaMS] = median(through)
	return nil
}

// requested waits until the model was asked.
func (s *subject) requested(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	_, err := s.model.arrival(ctx)
	return err
}

// toolTurns measures turns in which the model writes a new file: two model calls,
// a permission, and the write by the editor.
func (s *subject) toolTurns(ctx context.Context, p *process, work workload, out sample) error {
	if s.write == nil {
		return nil
	}
	var whole []float64
	for n := range work.toolTurns {
		s.model.forget()
		s.model.push(reply{call: s.write(filepath.Join(s.project, fmt.Sprintf("file-%d.txt", n)))})
		began := time.Now()
		wait, err := p.prompt("write a file")
		if err != nil {
			return err
		}
		if err := wait(ctx); err != nil {
			return err
		}
		whole = append(whole, ms(time.Since(began)))
		if a := p.editor.account(); a.permissions != 1 || a.writes != 1 || a.text() == "" {
			return fmt.Errorf("instead of one permission, one write and an answer there were %d, %d and %q", a.permissions, a.writes, a.text())
		}
	}
	out[toolTurnMS] = median(whole)
	return nil
}

// stream measures one long answer that comes as fast as the agent takes it.
func (s *subject) stream(ctx context.Context, p *process, work workload, out sample) error {
	deltas := streamed(work.deltas)
	s.model.forget()
	s.model.push(reply{deltas: deltas})
	before, counted := usageOf(p.cmd.Process.Pid)
	wait, err := p.prompt("say a lot")
	if err != nil {
		return err
	}
	if err := wait(ctx); err != nil {
		return err
	}
	ended := time.Now()
	asked, err := s.model.arrival(ctx)
	if err != nil {
		return err
	}
	after, _ := usageOf(p.cmd.Process.Pid)
	out[deltasPerSecond] = float64(work.deltas) / ended.Sub(asked).Seconds()
	out[lossless] = 0
	// Some agents put words of their own before the model's.
	if strings.HasSuffix(p.editor.account().text(), strings.Join(deltas, "")) {
		out[lossless] = 1
	}
	if counted {
		out[streamCPU] = (after.cpu - before.cpu).Seconds()
	}
	p.rest(work, out, afterStreamMiB)
	return nil
}

// streamed makes the pieces of a long answer, each of which differs from all
// others, so that none can be lost or change places unseen.
func streamed(n int) []string {
	deltas := make([]string, n)
	for i := range deltas {
		deltas[i] = fmt.Sprintf("%0*d words ", deltaBytes-len(" words "), i)
	}
	return deltas
}

// sessions measures what further sessions cost.
func (s *subject) sessions(ctx context.Context, p *process, work workload, out sample) error {
	before, counted := usageOf(p.cmd.Process.Pid)
	began := time.Now()
	for range work.sessions {
		if _, err := p.newSession(ctx, s.project); err != nil {
			return err
		}
	}
	out[sessionMS] = ms(time.Since(began)) / float64(work.sessions)
	time.Sleep(work.settle)
	if after, ok := usageOf(p.cmd.Process.Pid); ok && counted {
		out[sessionMiB] = max(0, after.mib-before.mib) / float64(work.sessions)
	}
	return nil
}

// endBusy measures how an agent ends while a command of its runs, and whether
// that ends with it.
func (s *subject) endBusy(ctx context.Context, work workload, out sample) error {
	p, err := s.start(ctx)
	if err != nil {
		return err
	}
	s.model.forget()
	s.model.push(reply{call: s.sleep})
	if _, err := p.prompt("wait"); err != nil { // its end is not waited for
		p.kill()
		return err
	}
	ran, err := s.awaitSleep(ctx, p)
	if err != nil || !ran {
		p.kill()
		return err
	}
	e := p.end(work.patience)
	out[exitBusyMS], out[leftBehind] = endless, float64(e.left)
	if e.self {
		out[exitBusyMS] = ms(e.took)
	} else {
		delete(out, leftBehind)
	}
	return nil
}

// awaitSleep waits until the command runs. It says false where the system does
// not show processes.
func (s *subject) awaitSleep(ctx context.Context, p *process) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime/2)
	defer cancel()
	for {
		family := tree(p.cmd.Process.Pid)
		if len(family) == 0 {
			return false, nil
		}
		for _, member := range family {
			if member.name == "sleep" {
				return true, nil
			}
		}
		select {
		case <-ctx.Done():
			return false, p.explain(errors.New("the command did not start"))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// ms gives a duration in milliseconds.
func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
