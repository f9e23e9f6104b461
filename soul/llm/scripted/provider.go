// Package scripted is a model that reads its answers from scripts: the
// providers `_scripted_echo` and `_echo`. It drives the demo, the end-to-end
// tests and every test that needs a model to say one particular thing.
//
// A script is a list of `kind: payload` lines; script.go has the table of kinds.
//
// It must not know HTTP, the environment or what runs the tools that a script
// calls; the one file it reads is the one that Load is given.
package scripted

import (
	"context"
	"fmt"
	"io"
	"iter"
	"sync"

	"kimi-acp/soul/llm"
)

// Provider answers call n with script n. It is the provider `_scripted_echo`.
type Provider struct {
	model llm.Model
	trace io.Writer // nil: none

	mu      sync.Mutex
	scripts []string // guarded by mu: not yet used
	turn    int      // guarded by mu: scripts used so far
}

// An Option changes a Provider while New makes it.
type Option func(*Provider)

// WithTrace writes a line `SCRIPTED_ECHO TURN n: <script as JSON>` to w whenever
// script n (from 1) is taken. Lines are written one at a time; a failed write
// is ignored, since a trace must not change what is traced.
func WithTrace(w io.Writer) Option {
	return func(p *Provider) { p.trace = w }
}

// New makes a provider that plays scripts in order, one a Stream call.
func New(scripts []string, model llm.Model, opts ...Option) *Provider {
	p := &Provider{model: model, scripts: append([]string(nil), scripts...)}
	for _, opt := range opts {
		opt(p)
	}
	return p
}

// Model tells what New was given.
func (p *Provider) Model() llm.Model { return p.model }

// Stream plays the next script; the request is not looked at. The script is
// taken when the sequence is first read and is gone even if it is invalid, so a
// retry gets the one after it. Calls may run side by side; each takes a script
// of its own.
//
// A `tool_call_part` that does not directly follow its call is an orphan: its
// delta has Index -1 and belongs to no call.
func (p *Provider) Stream(ctx context.Context, _ *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		text, err := p.next()
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		play(ctx, text, "ScriptedEchoChatProvider", yield)
	}
}

// next takes the next script off the queue.
func (p *Provider) next() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.scripts) == 0 {
		return "", failf("ScriptedEchoChatProvider exhausted at turn %d.", p.turn+1)
	}
	text := p.scripts[0]
	p.scripts = p.scripts[1:]
	p.turn++
	if p.trace != nil {
		// A trace that nobody takes must not end the turn.
		_, _ = fmt.Fprintf(p.trace, "SCRIPTED_ECHO TURN %d: %s\n", p.turn, asciiString(text))
	}
	return text, nil
}

// failf makes an error of a script itself. Its kind is KindUnknown: trying the
// same thing again would not help.
func failf(format string, args ...any) error {
	return &llm.Error{Message: fmt.Sprintf(format, args...)}
}
