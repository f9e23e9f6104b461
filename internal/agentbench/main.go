// Command agentbench measures ACP agents as whole processes, from outside: it
// starts each one as an editor would, plays the editor and the model, and writes
// what it saw as a page. The agents take turns in one run, so that what else the
// machine does falls on all of them.
//
// It must not know how an agent works inside: it speaks ACP, serves a model API
// and reads /proc, nothing else. Figures of memory and processor time come from
// Linux; elsewhere they are left out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "agentbench:", err)
		os.Exit(1)
	}
}

// run measures and writes the page.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("agentbench", flag.ContinueOnError)
	binary := flags.String("agent", "bin/kimi-acp", "the kimi-acp `program` to measure")
	cache := flags.String("cache", "", "`folder` in which the peer is kept; empty: the user's cache folder")
	alone := flags.Bool("alone", false, "measure without the peer")
	repetitions := flags.Int("repetitions", 3, "how often each agent is measured")
	deltas := flags.Int("deltas", usual().deltas, "pieces of the streamed answer")
	to := flags.String("page", "", "`file` to write the page to; empty: standard output")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *repetitions < 1 || *deltas < 1 {
		return errors.New("there are no arguments, and -repetitions and -deltas are at least 1; see -h")
	}
	work := usual()
	work.deltas = *deltas

	size, err := os.Stat(*binary)
	if err != nil {
		return fmt.Errorf("look at the agent: %w", err)
	}
	r := report{
		date: time.Now().UTC(), cores: runtime.NumCPU(), platform: runtime.GOOS + "/" + runtime.GOARCH,
		work: work, repetitions: *repetitions, bytes: size.Size(), loadBefore: loadAverage(),
	}
	agents := []candidate{kimi(*binary)}
	if *alone {
		r.peerMissing = "it was not asked for"
	} else if peer, err := codex(ctx, *cache); err != nil {
		r.peerMissing = "it could not be installed"
		banner(os.Stderr, "THE PEER IS NOT MEASURED", err)
	} else {
		agents = append(agents, peer)
	}
	results, err := compare(ctx, append(agents, sidecar(*binary)), work, *repetitions)
	if err != nil {
		return err
	}
	r.results, r.sidecar = results[:len(agents)], results[len(agents)]
	r.loadAfter = loadAverage()
	if *to == "" {
		return r.write(os.Stdout)
	}
	f, err := os.Create(*to)
	if err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	if err := errors.Join(r.write(f), f.Close()); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// compare measures the agents in turn, so many times each.
func compare(ctx context.Context, agents []candidate, work workload, repetitions int) ([]result, error) {
	results := make([]result, len(agents))
	for n := range repetitions {
		for i, c := range agents {
			fmt.Fprintf(os.Stderr, "agentbench: %s, %d of %d\n", c.title, n+1, repetitions)
			s, err := measure(ctx, c, work)
			if err != nil {
				return nil, fmt.Errorf("measure %s: %w", c.title, err)
			}
			results[i].title = c.title
			results[i].samples = append(results[i].samples, s)
		}
	}
	return results, nil
}
