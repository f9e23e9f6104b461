package kernel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/internal/proc"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

// The times where a Config says nothing.
const (
	defaultHandshakeTime = time.Minute // a first start of Python on a busy machine takes long
	defaultCancelTime    = 10 * time.Second
	defaultPatience      = proc.ChildPatience
	defaultPause         = 250 * time.Millisecond
	lastPause            = 10 * time.Second
)

// Config is what a Kernel is made from. Wire, Program and Launch are required.
type Config struct {
	Wire    *wire.Wire // of the session; its ToolHandler runs the Tools
	Tools   []llm.ToolSpec
	Program Program
	Launch  Launch
	// Models are the names that Launch.Model may be replaced by, the usual one first; none:
	// the model cannot be changed.
	Models []string
	// Sessions holds the session Launch.SessionID, so that a conversation that began with
	// another kernel can be carried over; nil: it cannot.
	Sessions      *session.Store
	ClientVersion string // of this program
	// Refuse says why an approval that the kernel asks for is not given, without asking
	// the user; "": the user is asked. Nil refuses nothing.
	Refuse func(wire.ApprovalRequest) string
	// System gives the system prompt that another kernel would go on with; nil: none.
	System func() string
	// Moment words how things stand around a prompt, for the model. Nil: nothing is told.
	Moment soul.Moment
	// Edits tells the model what the user made of its edits, and the user of their keeping.
	// Those that are soul.EditTurns can be taken back with their turns. Nil: nothing is
	// told, and nothing taken back.
	Edits soul.Edits
	// Session is what taking turns back changes beside the conversation; nil: nothing.
	Session    soul.Session
	Supervisor *proc.Supervisor // ends the program when this one is gone; nil: nobody does

	HandshakeTime time.Duration // how long start and handshake may take; 0: a minute
	CancelTime    time.Duration // how long a cancelled turn may take to end before the program is killed; 0: 10 s
	Pause         time.Duration // before a start that follows a failure, doubled with each further one up to 10 s; 0: 250 ms
	Patience      time.Duration // how long the program may take to end at the end of its input; 0: 8 s
	Logger        *slog.Logger  // nil: slog.Default
}

// Kernel is a soul.Soul whose turns run in another program. The program is started with
// the first turn, and again after it has ended. Close ends it.
type Kernel struct {
	cfg Config

	turns  sync.Mutex // held while a turn runs, and by Close
	record record
	spoke  bool   // a turn showed something; used as record is
	notice string // for the user, with the next turn; used as record is

	mu       sync.Mutex
	peer     *peer  // nil: none runs
	turn     *turn  // nil: none runs
	model    string // what the program is to be started with; "": its usual one
	status   soul.Status
	commands []soul.Command
	failures int // starts and turns in a row that failed with the program
	closed   bool
	told     []string                      // of the moment, and still in the kernel's history as far as we know
	asked    map[string]context.CancelFunc // takes back the approvals that are asked for, by the kernel's id
}

var (
	_ soul.Soul    = (*Kernel)(nil)
	_ soul.Keeper  = (*Kernel)(nil)
	_ soul.Starter = (*Kernel)(nil)

	_ soul.Rewinder = (*Kernel)(nil)
)

// New makes a Kernel. Nothing is started yet.
func New(cfg Config) *Kernel {
	if cfg.HandshakeTime <= 0 {
		cfg.HandshakeTime = defaultHandshakeTime
	}
	if cfg.CancelTime <= 0 {
		cfg.CancelTime = defaultCancelTime
	}
	if cfg.Pause <= 0 {
		cfg.Pause = defaultPause
	}
	if cfg.Patience <= 0 {
		cfg.Patience = defaultPatience
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Kernel{cfg: cfg, asked: map[string]context.CancelFunc{}, model: cfg.Launch.Model, status: soul.Status{Model: filepath.Base(cfg.Program.Args[0]), Images: true}}
}

// ErrUnused is in the chain of an error of Run that came before anything of the turn
// was shown: another soul may run it.
var ErrUnused = errors.New("nothing of the turn was shown")

// Commands are the slash commands that the kernel told when it was started last, and
// those that are carried out here.
func (k *Kernel) Commands() []soul.Command {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := soul.HostCommands()
	for _, c := range k.commands {
		if !soul.IsHostCommand("/" + c.Name) {
			all = append(all, c)
		}
	}
	return all
}

// Status is what the kernel told last.
func (k *Kernel) Status() soul.Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.status
}

// Steer puts input into the turn that runs, and is false when none does, or when the
// kernel is older than that.
func (k *Kernel) Steer(in soul.Input) bool {
	t := k.running()
	return t != nil && t.peer.hello.version.atLeast(1, 4) && t.steer(in)
}

// running is the turn that runs, nil for none.
func (k *Kernel) running() *turn {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.turn
}

func (k *Kernel) noteStatus(s wire.StatusUpdate) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s.ContextTokens != nil {
		k.status.ContextTokens = *s.ContextTokens
	}
	if s.MaxContextTokens != nil {
		k.status.MaxContextTokens = *s.MaxContextTokens
	}
}

// Run has the kernel do one turn, but for soul.HostCommands, for which it is not asked; see
// soul.Soul. When the program cannot be started or
// ends in the middle the error is a *soul.Trouble, and ErrUnused is in its chain as long
// as nothing was shown; the next Run starts the program again, after a pause that grows
// with each failure.
func (k *Kernel) Run(ctx context.Context, in soul.Input) (soul.Outcome, error) {
	k.turns.Lock()
	defer k.turns.Unlock()
	if soul.IsHostCommand(in.Text) {
		return k.hostCommand(ctx, in)
	}
	p, err := k.ready(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return soul.Outcome{Stop: soul.StopCancelled}, nil
	case err != nil:
		return soul.Outcome{}, k.unused(err)
	}
	ctx, over := context.WithCancel(ctx)
	defer over()
	t := &turn{ctx: ctx, peer: p, said: in.Wire(), overtaken: newOvertaken(), serving: map[string]bool{}, results: map[string]wire.ToolReturnValue{}}
	k.begin(t)
	k.say(k.notice)
	k.notice = ""
	status, err := k.prompt(ctx, p, k.tell(ctx, in))
	cancelled := ctx.Err() != nil

	over() // what it still has served ends with it
	k.cfg.Wire.EndTurn()
	dead := isGone(err) || !p.alive()
	if dead {
		p.end(k.cfg.Patience)
	}
	t.end()
	t.calls.Wait()
	if k.cfg.Edits != nil {
		k.say(k.cfg.Edits.Notice())
	}
	for _, e := range t.missing(err != nil) {
		k.cfg.Wire.Send(e)
	}
	k.finished(dead)
	shown, steps, done := t.saw()
	if shown {
		k.spoke = true
		k.write(t.said, done)
	}
	out := soul.Outcome{Steps: steps}
	switch {
	case err == nil:
		out.Stop = stopReason(status)
		return out, nil
	case cancelled:
		out.Stop = soul.StopCancelled
		return out, nil
	}
	return out, k.failure(p, err, shown)
}

// say tells the user something that is not the kernel's.
func (k *Kernel) say(text string) {
	if text != "" {
		k.cfg.Wire.Send(wire.ContentPart{Part: llm.Text(text)})
	}
}

// Start starts the program now, so that it is known whether it runs; see soul.Starter. A
// turn of it may follow.
func (k *Kernel) Start(ctx context.Context) error {
	k.turns.Lock()
	defer k.turns.Unlock()
	if _, err := k.ready(ctx); err != nil {
		return k.unused(err)
	}
	return nil
}

// unused says that the program could not be started.
func (k *Kernel) unused(err error) error {
	with := ""
	if model := k.ModelName(); model != "" && model != k.cfg.Launch.Model {
		with = " with the model " + model
	}
	return &soul.Trouble{Advice: "The kernel " + k.name() + " could not be started" + with + ": " + err.Error() + ".", Err: errors.Join(ErrUnused, err)}
}

func (k *Kernel) begin(t *turn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.turn = t
}

// finished lets go of the turn, and of a program that is gone.
func (k *Kernel) finished(dead bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.turn = nil
	if dead {
		k.peer = nil
		k.failures++
	} else {
		k.failures = 0
	}
}

// name is what people know the program by.
func (k *Kernel) name() string { return filepath.Base(k.cfg.Program.Args[0]) }

// ready gives the program that runs, or starts it.
func (k *Kernel) ready(ctx context.Context) (*peer, error) {
	k.mu.Lock()
	p, failures, closed, model := k.peer, k.failures, k.closed, k.model
	k.mu.Unlock()
	if closed {
		return nil, errors.New("the session is closed")
	}
	if p != nil && p.alive() && p.model == model {
		return p, nil
	}
	if p != nil {
		if !p.alive() {
			k.cfg.Logger.Warn("the kernel ended between turns", "how", p.ending())
		}
		p.end(k.cfg.Patience) // also one that is to use another model, which takes a start
		k.set(nil)
	}
	if err := k.pause(ctx, failures); err != nil {
		return nil, err
	}
	err := k.carryOver()
	if err == nil {
		p, err = k.start(ctx, model)
	}
	if err != nil {
		k.mu.Lock()
		k.failures++
		k.mu.Unlock()
		k.cfg.Logger.Warn("the kernel could not be started", "error", err)
		return nil, err
	}
	k.set(p)
	return p, nil
}

func (k *Kernel) set(p *peer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.peer = p
	if p != nil {
		k.commands = p.hello.commands
	}
}

// pause waits before a start that follows failures.
func (k *Kernel) pause(ctx context.Context, failures int) error {
	if failures == 0 {
		return ctx.Err()
	}
	wait := time.NewTimer(min(k.cfg.Pause<<min(failures-1, 10), lastPause))
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// promptResult is how a kernel's turn ended.
type promptResult struct {
	Status string `json:"status"`
}

func stopReason(status string) soul.StopReason {
	switch status {
	case "cancelled":
		return soul.StopCancelled
	case "max_steps_reached":
		return soul.StopMaxSteps
	}
	return soul.StopEndTurn
}

// Close ends the program: its input ends, and when it is not gone after the patience of
// the Config it is killed. It waits for that, and for a turn that runs. Afterwards Run
// fails. It may be called again.
func (k *Kernel) Close() error {
	k.turns.Lock()
	defer k.turns.Unlock()
	k.mu.Lock()
	p := k.peer
	k.peer, k.closed = nil, true
	k.mu.Unlock()
	if p != nil && !p.end(k.cfg.Patience) {
		return fmt.Errorf("end the kernel %s: it outlives even the kill", k.name())
	}
	return nil
}

// isGone tells whether an error means that the program can no longer be spoken to.
func isGone(err error) bool {
	return errors.Is(err, jsonrpc.ErrClosed) || errors.Is(err, errStuck)
}
