package background

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// Errors of Tasks.
var (
	ErrUnknown = errors.New("there is no task of that id")
	ErrClosed  = errors.New("the session is over")
	ErrTooMany = errors.New("as many tasks run as may")
)

// Limits of the tasks of a session.
const (
	defaultLimit = 4   // that run at once
	maxKnown     = 100 // that are remembered; those that ended first are forgotten first
)

// Options is what Tasks are made of. The zero value is ready.
type Options struct {
	Limit int // how many tasks run at once; 0: 4
	// Ended is told of tasks that ended by themselves, each once, by a goroutine of the
	// task, which Close waits for. Nil: nobody is.
	Ended  func(Task)
	Logger *slog.Logger
}

// Tasks are the tasks of a session. They may be used by several goroutines at once.
type Tasks struct {
	opts Options
	log  *slog.Logger
	runs sync.WaitGroup // the goroutines of tasks

	mu     sync.Mutex
	all    []*work // the oldest first
	dir    string  // where they are kept; "": nowhere
	closed bool
}

// work is a task and what it hangs on. Its members are under Tasks.mu, but for out.
type work struct {
	task    Task
	out     *output
	cancel  context.CancelFunc // nil: it does not run in this process
	done    chan struct{}      // closed when it is over
	stopped string             // why it was stopped; "": it was not
	shown   bool               // people know how it ended
}

// New makes an empty set of tasks. The caller closes it.
func New(o Options) *Tasks {
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	t := &Tasks{opts: o, log: o.Logger}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	return t
}

// Run does the work of a task. It returns soon when ctx ends, and may write to out by
// one goroutine at a time until it returns.
type Run func(ctx context.Context, out io.Writer) Ending

// Start starts a task and returns at once. The end of ctx does not end the task; Stop
// and Close do. The error is ErrTooMany or ErrClosed.
func (t *Tasks) Start(ctx context.Context, s Spec, run Run) (Task, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refuses(); err != nil {
		cancel()
		return Task{}, err
	}
	w := &work{
		task:   Task{Spec: s, ID: t.newID(s.Kind), Status: Running, Started: time.Now()},
		out:    &output{},
		cancel: cancel,
		done:   make(chan struct{}),
	}
	t.all = append(t.all, w)
	t.forgetOld()
	t.settle(w)
	t.runs.Go(func() { t.run(ctx, w, run) })
	return w.task, nil
}

// refuses is why no task can be started now. The caller holds the lock.
func (t *Tasks) refuses() error {
	running := 0
	for _, w := range t.all {
		if !w.task.Status.Over() {
			running++
		}
	}
	switch {
	case t.closed:
		return ErrClosed
	case running >= t.opts.Limit:
		return fmt.Errorf("%w: %d", ErrTooMany, running)
	}
	return nil
}

func (t *Tasks) run(ctx context.Context, w *work, run Run) {
	defer w.cancel()
	rest := t.beat(w)
	ending := t.guarded(ctx, w, run)
	rest()
	ended, tell := t.finish(w, ending)
	close(w.done)
	if tell && t.opts.Ended != nil {
		t.opts.Ended(ended)
	}
}

// guarded is a run in which a panic is a failure.
func (t *Tasks) guarded(ctx context.Context, w *work, run Run) (e Ending) {
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("bug: a background task panicked", "task", w.task.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			e = Ending{Failure: "it failed by a fault of the program"}
		}
	}()
	return run(ctx, w.out)
}

// finish takes down how a task ended. Tell says that it ended by itself.
func (t *Tasks) finish(w *work, e Ending) (ended Task, tell bool) {
	if err := w.out.close(); err != nil {
		t.log.Warn("the output of a task was not kept", "task", w.task.ID, "error", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	to, reason := Completed, ""
	switch {
	case w.stopped != "":
		to, reason = Killed, w.stopped
	case e.Failure != "":
		to, reason = Failed, e.Failure
	}
	_, w.task.Printed = w.out.last(0)
	w.task.ExitCode, w.task.TimedOut, w.task.Reason, w.task.Ended = e.ExitCode, e.TimedOut, reason, time.Now()
	// Whoever stops a task is told by the answer, but for the end of the session.
	w.task.Told = to == Killed && !t.closed
	t.move(w, to)
	return w.task, to != Killed
}

// move gives a task another status, and keeps it. The caller holds the lock.
func (t *Tasks) move(w *work, to Status) {
	if !w.task.Status.allows(to) {
		t.log.Error("bug: an illegal move of a task", "task", w.task.ID, "from", w.task.Status, "to", to)
		return
	}
	w.task.Status = to
	t.settle(w)
}

// Await says that a task waits for the user's answer, or no longer does. One that is
// over or unknown stays as it is.
func (t *Tasks) Await(id string, waits bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, to := t.find(id), Running
	if waits {
		to = Awaiting
	}
	if w != nil && !w.task.Status.Over() && w.task.Status != to {
		t.move(w, to)
	}
}

// Get gives a task. The error is ErrUnknown.
func (t *Tasks) Get(id string) (Task, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.find(id)
	if w == nil {
		return Task{}, ErrUnknown
	}
	return t.look(w), nil
}

// List gives the tasks, the latest first. With active only those that are not over.
func (t *Tasks) List(active bool) []Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Task
	for _, w := range slices.Backward(t.all) {
		if !active || !w.task.Status.Over() {
			out = append(out, t.look(w))
		}
	}
	return out
}

// Active is the number of tasks that are not over.
func (t *Tasks) Active() int { return len(t.List(true)) }

// Last gives at most n bytes of the end of what a task printed, and never more than
// 64 KiB. The error is ErrUnknown.
func (t *Tasks) Last(id string, n int) ([]byte, error) {
	t.mu.Lock()
	w := t.find(id)
	t.mu.Unlock()
	if w == nil {
		return nil, ErrUnknown
	}
	end, _ := w.out.last(n)
	return end, nil
}

// Stop ends a task, waits until it is over and gives it as it is then. Of one that is
// over it changes nothing. The error is ErrUnknown, or ctx's when that ends first, and
// then the task ends later.
func (t *Tasks) Stop(ctx context.Context, id, reason string) (Task, error) {
	t.mu.Lock()
	w := t.find(id)
	if w == nil {
		t.mu.Unlock()
		return Task{}, ErrUnknown
	}
	if !w.task.Status.Over() && w.stopped == "" {
		w.stopped = cmp.Or(reason, "it was stopped")
		w.cancel()
	}
	t.mu.Unlock()
	select {
	case <-w.done:
	case <-ctx.Done():
		return Task{}, ctx.Err()
	}
	return t.Get(id)
}

// Wait waits until one of the tasks is over, or, with all, until all are. No ids stand
// for those that run. It gives the tasks as they are then. The error is ErrUnknown, or
// ctx's, and then the tasks are given too.
func (t *Tasks) Wait(ctx context.Context, ids []string, all bool) ([]Task, error) {
	waited, err := t.waited(ids)
	if err != nil {
		return nil, err
	}
	if all {
		err = awaitAll(ctx, waited)
	} else {
		err = awaitFirst(ctx, waited)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]Task, 0, len(waited))
	for _, w := range waited {
		out = append(out, t.look(w))
	}
	return out, err
}

// waited finds what Wait waits for.
func (t *Tasks) waited(ids []string) (out []*work, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range ids {
		w := t.find(id)
		if w == nil {
			return nil, fmt.Errorf("%w: %s", ErrUnknown, id)
		}
		out = append(out, w)
	}
	if len(ids) == 0 {
		for _, w := range t.all {
			if !w.task.Status.Over() {
				out = append(out, w)
			}
		}
	}
	return out, nil
}

func awaitAll(ctx context.Context, waited []*work) error {
	for _, w := range waited {
		select {
		case <-w.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// awaitFirst has a goroutine for each task, since there is no select over a list. They
// end when it returns.
func awaitFirst(ctx context.Context, waited []*work) error {
	if len(waited) == 0 {
		return nil
	}
	over, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	for _, w := range waited {
		watching.Go(func() {
			select {
			case <-w.done:
				stop()
			case <-over.Done():
			}
		})
	}
	<-over.Done()
	watching.Wait()
	stop()
	return ctx.Err()
}

// Close ends what runs and waits for it. Nothing can be started any more.
func (t *Tasks) Close() {
	t.mu.Lock()
	t.closed = true
	for _, w := range t.all {
		if !w.task.Status.Over() && w.stopped == "" {
			w.stopped = "the session ended"
			w.cancel()
		}
	}
	t.mu.Unlock()
	t.runs.Wait()
}

// find gives the task of an id, nil when there is none. The caller holds the lock.
func (t *Tasks) find(id string) *work {
	for _, w := range t.all {
		if w.task.ID == id {
			return w
		}
	}
	return nil
}

// look is a task as it is now. The caller holds the lock.
func (t *Tasks) look(w *work) Task {
	task := w.task
	if !task.Status.Over() {
		_, task.Printed = w.out.last(0)
	}
	return task
}

// forgetOld drops the oldest tasks that are over when there are too many. The caller
// holds the lock.
func (t *Tasks) forgetOld() {
	for i := 0; i < len(t.all) && len(t.all) > maxKnown; {
		if !t.all[i].task.Status.Over() {
			i++
			continue
		}
		t.discard(t.all[i])
		t.all = slices.Delete(t.all, i, i+1)
	}
}

// newID makes an id as kimi-cli does: the kind and eight letters or digits. The caller
// holds the lock.
func (t *Tasks) newID(k Kind) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	for {
		var b [8]byte
		rand.Read(b[:]) // never fails
		for i := range b {
			b[i] = digits[int(b[i])%len(digits)]
		}
		if id := string(k) + "-" + string(b[:]); t.find(id) == nil {
			return id
		}
	}
}
