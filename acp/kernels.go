package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
	store "kimi-acp/soul/session"
)

// KernelChoice is a kernel, the program in which a session's soul runs, as an editor
// offers it.
type KernelChoice struct {
	ID          string
	Name        string
	Description string
}

// Kernels are those that a session can run in.
type Kernels struct {
	Offered []KernelChoice
	Default string // the id of that of the settings; it is among Offered
}

// kernels gives what a new session can run in; nothing without a place where sessions
// are kept, since that is the way by which a conversation gets from one to the other.
func (a *Agent) kernels() Kernels {
	if a.opts.Kernels == nil || a.opts.Sessions == nil {
		return Kernels{}
	}
	return a.opts.Kernels()
}

// mind is the soul of the session. Another one may take its place between turns.
func (s *session) mind() soul.Soul {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.soul
}

// kernelOption is the option with which the session's kernel is swapped; false: there is
// no choice.
func (s *session) kernelOption() (configOption, bool) {
	if len(s.kernels.Offered) < 2 {
		return configOption{}, false
	}
	o := configOption{ID: optionKernel, Name: "Kernel", Description: "The program in which the agent thinks", Type: "select", CurrentValue: s.kernelInUse()}
	for _, k := range s.kernels.Offered {
		o.Options = append(o.Options, optionChoice{k.ID, k.Name, k.Description})
	}
	return o, true
}

// kernelInUse is the id of the session's kernel.
func (s *session) kernelInUse() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kernel
}

// openSoul makes the first soul of the session: in the kernel that it was in when it was
// last used, if it was kept and that is still to be had, else in that of the settings.
func (s *session) openSoul(kept *store.Session) (err error) {
	s.kernels = s.agent.kernels()
	s.kernel = s.kernels.Default
	var o keptOptions
	if kept != nil && json.Unmarshal(kept.Options(), &o) == nil && o.Kernel != "" && o.Kernel != s.kernel {
		if s.soul, err = s.makeSoul(o.Kernel); err == nil {
			s.kernel = o.Kernel
			return nil
		}
		s.agent.log.Warn("a session's kernel cannot be used any more", "session", s.id, "kernel", o.Kernel, "error", err)
		s.fellBack("The kernel " + o.Kernel + " of this session is not to be had any more; it goes on in that of the settings")
	}
	s.soul, err = s.makeSoul(s.kernel)
	return err
}

// makeSoul makes a soul of the session in a kernel.
func (s *session) makeSoul(kernel string) (soul.Soul, error) {
	c := s.chosen()
	if c == (choice{}) { // there was no model when the session was opened
		c = s.agent.fitting("", "")
	}
	provider, err := s.agent.provider(c)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "The model cannot be used: " + err.Error()}
	}
	spec := s.spec
	spec.Kernel, spec.Provider = kernel, provider
	made, err := s.agent.opts.NewSoul(spec)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "The session could not be made: " + err.Error()}
	}
	s.executor.SetImages(provider != nil && provider.Model().ImageInput)
	s.mu.Lock()
	s.choice = c
	named := s.kernelModel
	s.mu.Unlock()
	if n, ok := made.(soul.ModelNamer); ok && slices.Contains(n.ModelNames(), named) {
		_ = n.NameModel(named) // it is one of them
	}
	return made, nil
}

// swapKernel serves the option of kernels. It takes its place in the queue, so that a
// prompt behind it runs in the new kernel.
func (a *Agent) swapKernel(call *jsonrpc.Call, s *session, id string) {
	o, ok := s.kernelOption()
	switch {
	case !ok:
		call.ReplyNow(nil, invalid("configId %q is none of the options of this session", optionKernel))
		return
	case !slices.ContainsFunc(o.Options, func(c optionChoice) bool { return c.Value == id }):
		call.ReplyNow(nil, invalid("value %q is none of those that option %s offers", clip(id), optionKernel))
		return
	case s.busy():
		call.ReplyNow(nil, invalidRequest("A prompt of this session runs; wait for its end, or cancel it, and change the kernel then"))
		return
	}
	a.enqueue(s, &turn{call: call, size: len(call.Params()), kernel: id})
}

// changeKernel does what swapKernel has queued, and gives what answers the request.
func (s *session) changeKernel(t *turn) (answer func()) {
	var err error
	if awaking := s.awake(func() { err = s.runIn(t.ctx, t.kernel) }); awaking != nil {
		err = awaking
	}
	close(t.woken)
	if err != nil {
		s.agent.log.Warn("a session stays in its kernel", "session", s.id, "kernel", s.kernelInUse(), "error", err)
		return func() { t.call.Reply(nil, err) }
	}
	s.announceCommands()
	return func() {
		s.telling.Lock()
		defer s.telling.Unlock()
		s.saveOptions()
		t.call.Reply(configOptionsResult{s.configOptions()}, nil)
	}
}

// runIn goes over to another kernel, which gets the conversation by way of the session's
// files. An error says for people why the session stays where it is. The caller holds
// working, and the session is not parked.
func (s *session) runIn(ctx context.Context, kernel string) error {
	old, kept := s.mind(), s.file()
	switch {
	case kernel == s.kernelInUse():
		return nil
	case kept == nil || kept.Err() != nil:
		return invalidRequest("This session is not kept on disk, so that another kernel could not know what was said; begin a new session in it")
	}
	made, err := s.makeSoul(kernel)
	if err == nil {
		err = kept.Reread()
	}
	if err == nil {
		park(old)
		keep(made, kept)
		if err = start(ctx, made); err != nil {
			park(made)
			err = errors.Join(err, kept.Reread())
			keep(old, kept)
		}
	}
	if err != nil {
		s.letGo(made)
		return s.staysWhy(ctx, err)
	}
	s.letGo(old)
	s.mu.Lock()
	s.soul, s.kernel = made, kernel
	s.mu.Unlock()
	return nil
}

// staysWhy words why the session stays in its kernel.
func (s *session) staysWhy(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeCancelled, Message: "The change of kernels was cancelled"}
	}
	why := err.Error()
	if t, ok := errors.AsType[*soul.Trouble](err); ok {
		why = t.Advice
	} else if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		why = e.Message
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: strings.TrimRight(why, ".") + ". The session goes on in the kernel that it had."}
}

// letGo ends a soul that runs no turn any more.
func (s *session) letGo(made soul.Soul) {
	c, ok := made.(io.Closer)
	if !ok {
		return
	}
	if err := c.Close(); err != nil {
		s.agent.log.Warn("a session's soul could not be ended", "session", s.id, "error", err)
	}
}

// keep gives a session on disk to a soul, and park takes it back.
func keep(mind soul.Soul, kept *store.Session) {
	if k, ok := mind.(soul.Keeper); ok {
		k.Keep(kept)
	}
}

func park(mind soul.Soul) {
	if k, ok := mind.(soul.Keeper); ok {
		k.Park()
	}
}

func start(ctx context.Context, mind soul.Soul) error {
	if st, ok := mind.(soul.Starter); ok {
		return st.Start(ctx)
	}
	return nil
}
