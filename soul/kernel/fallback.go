package kernel

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

// Noticing is the built-in soul where another kernel was wished for: its first turn
// begins with a notice.
type Noticing struct {
	*soul.Builtin
	Wire   *wire.Wire
	Notice string // said once; it is used by the goroutine of the turn
}

// Run says the notice, once, and runs a turn.
func (n *Noticing) Run(ctx context.Context, in soul.Input) (soul.Outcome, error) {
	if n.Notice != "" {
		n.Wire.Send(wire.ContentPart{Part: llm.Text(n.Notice)})
		n.Notice = ""
	}
	return n.Builtin.Run(ctx, in)
}

// Fallback is a Kernel as long as that works, and another soul from the first turn on
// of which the kernel could show nothing. It does not go back.
type Fallback struct {
	kernel *Kernel
	other  soul.Soul
	wire   *wire.Wire
	log    *slog.Logger

	mu     sync.Mutex
	fallen bool
	notice string // for the user, with the next turn
}

var (
	_ soul.Soul    = (*Fallback)(nil)
	_ soul.Keeper  = (*Fallback)(nil)
	_ soul.Starter = (*Fallback)(nil)

	_ soul.Rewinder = (*Fallback)(nil)
)

// NewFallback makes a Fallback. The other soul is on the Wire of the kernel's Config, and
// both on the same session; only one of them runs.
func NewFallback(k *Kernel, other soul.Soul) *Fallback {
	return &Fallback{kernel: k, other: other, wire: k.cfg.Wire, log: k.cfg.Logger}
}

// Run runs a turn in the kernel, or in the other soul.
func (f *Fallback) Run(ctx context.Context, in soul.Input) (soul.Outcome, error) {
	if !f.hasFallen() {
		out, err := f.kernel.Run(ctx, in)
		if !errors.Is(err, ErrUnused) || ctx.Err() != nil {
			return out, err
		}
		f.fall(err)
	}
	if notice := f.takeNotice(); notice != "" {
		f.wire.Send(wire.ContentPart{Part: llm.Text(notice)})
	}
	return f.other.Run(ctx, in)
}

// Start starts the kernel, or falls back. It gives no error but the context's.
func (f *Fallback) Start(ctx context.Context) error {
	if f.hasFallen() {
		return nil
	}
	err := f.kernel.Start(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	f.fall(err)
	return nil
}

// fall goes over to the other soul. The conversation goes with it.
func (f *Fallback) fall(err error) {
	f.log.Warn("the kernel cannot be used; the built-in one goes on", "error", err)
	// The kernel must be gone before another soul begins on its session.
	if closing := f.kernel.Close(); closing != nil {
		f.log.Warn("the kernel may still run", "error", closing)
	}
	takes := " The built-in kernel takes over.\n\n"
	if !f.handBack() && f.kernel.spoke {
		takes = " The built-in kernel takes over; it does not know what was said before.\n\n"
	}
	said := err.Error()
	if t, ok := errors.AsType[*soul.Trouble](err); ok {
		said = t.Advice
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fallen, f.notice = true, said+takes
}

// handBack gives the session with all that was said to the other soul.
func (f *Fallback) handBack() bool {
	kept := f.kernel.record.kept
	f.kernel.Park()
	k, ok := f.other.(soul.Keeper)
	if !ok || kept == nil {
		return false
	}
	if err := kept.Reread(); err != nil {
		f.log.Warn("the conversation could not be read", "error", err)
		return false
	}
	k.Keep(kept)
	return true
}

// takeNotice gives what the user is to be told, once.
func (f *Fallback) takeNotice() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	notice := f.notice
	f.notice = ""
	return notice
}

func (f *Fallback) hasFallen() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fallen
}

// current is the soul that runs the next turn.
func (f *Fallback) current() soul.Soul {
	if f.hasFallen() {
		return f.other
	}
	return f.kernel
}

// Commands are those of the soul that runs the next turn.
func (f *Fallback) Commands() []soul.Command { return f.current().Commands() }

// Status is that of the soul that runs the next turn.
func (f *Fallback) Status() soul.Status { return f.current().Status() }

// Close ends the kernel.
func (f *Fallback) Close() error { return f.kernel.Close() }

// Keep gives the session to the soul that runs the next turn; see soul.Keeper.
func (f *Fallback) Keep(s *session.Session) {
	if k, ok := f.current().(soul.Keeper); ok {
		k.Keep(s)
	}
}

// Park has the soul let go of what it was given by Keep; see soul.Keeper.
func (f *Fallback) Park() {
	if k, ok := f.current().(soul.Keeper); ok {
		k.Park()
	}
}

// Rewind has the soul that runs the next turn take turns back; see soul.Rewinder.
func (f *Fallback) Rewind(ctx context.Context, back soul.Back) string {
	if r, ok := f.current().(soul.Rewinder); ok {
		return r.Rewind(ctx, back)
	}
	return "Nothing was taken back: this session's kernel cannot take turns back."
}
