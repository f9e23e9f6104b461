package subagent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"kimi-acp/soul"
	"kimi-acp/soul/background"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// Options is what a Crew needs. Wire, Executor, Types, Model and System must be set.
type Options struct {
	Wire     *wire.Wire     // of the session
	Executor *tool.Executor // of the session
	Types    []tool.AgentType
	Model    func() llm.Provider // the session's, nil when none is set
	// Choose gives the model of an id; nil: there is no choice.
	Choose   func(id string) (llm.Provider, error)
	Usual    llm.Provider  // answers agents where neither job nor type names a model; nil: the session's
	Fallback llm.Provider  // answers while the circuit of an agent's model is open; nil: nobody
	System   func() string // the system prompt of the session
	WorkDir  string        // of the session, absolute
	// Dir is the folder where agents are kept now, "": nowhere; nil: never anywhere.
	Dir      func() string
	Tasks    *background.Tasks // nil: no agent goes on in the background
	MaxSteps int               // model calls of one run; 0: 200
	// SkipReviews has no agent look at what the steps of plans came to.
	SkipReviews bool
	Hooks       soul.Hooks   // of the session; nil: there are none
	Small       llm.Provider // sums up where it can; nil: an agent's own model does
	Retry       soul.RetryPolicy
	Compact     soul.Compaction
	Logger      *slog.Logger // nil: slog.Default
}

// Bounds of a session's agents.
const (
	defaultSteps = 200
	maxAtOnce    = 4  // that work in the foreground; more wait
	maxIdle      = 16 // that are remembered where nothing is kept
)

// Crew are the agents of a session. It may be used by several goroutines at once.
type Crew struct {
	opts   Options
	places chan struct{} // one for each agent that works in the foreground

	unchosen sync.Once // it was said that the models of types are not used

	mu   sync.Mutex
	busy map[string]bool // by agent's id
	idle []*member       // where nothing is kept, the one that worked last behind
}

var _ tool.Agents = (*Crew)(nil)

// New makes a Crew without agents.
func New(o Options) *Crew {
	if o.MaxSteps <= 0 {
		o.MaxSteps = defaultSteps
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Crew{opts: o, places: make(chan struct{}, maxAtOnce), busy: map[string]bool{}}
}

// member is an agent, ready to work.
type member struct {
	id, what string
	kind     tool.AgentType
	resumed  bool
	bus      *wire.Wire
	soul     *soul.Builtin
	kept     *session.Session // nil: it is remembered in memory
}

// meta is what is kept of an agent beside its history.
type meta struct {
	Type string `json:"type"`
	What string `json:"description"`
}

// find makes the agent of a job, or finds the one that goes on. What it gives is to be
// let go of.
func (c *Crew) find(j tool.AgentJob) (*member, error) {
	if j.Resume == "" {
		kind, err := c.kind(j.Type)
		if err != nil {
			return nil, err
		}
		m := &member{id: newID(), what: j.What, kind: kind}
		return m, c.engage(m, j)
	}
	if !c.claim(j.Resume) {
		return nil, fmt.Errorf("the agent %s is at work; wait for its end", j.Resume)
	}
	m, err := c.wake(j)
	if err != nil {
		c.disclaim(j.Resume)
	}
	return m, err
}

// engage makes a new agent.
func (c *Crew) engage(m *member, j tool.AgentJob) error {
	model, err := c.model(m.kind, j)
	if err != nil {
		return err
	}
	if store := c.store(); store != nil {
		if m.kept, err = store.Create(c.opts.WorkDir, m.id); err == nil {
			err = m.kept.SetOptions(encode(meta{m.kind.Name, m.what}))
		}
		if err != nil { // it can work all the same
			c.opts.Logger.Warn("an agent is not kept", "agent", m.id, "error", err)
		}
	}
	c.claim(m.id)
	c.equip(m, model)
	return nil
}

// wake brings an agent back that has worked before.
func (c *Crew) wake(j tool.AgentJob) (*member, error) {
	if m := c.recall(j.Resume); m != nil {
		model, err := c.model(m.kind, j)
		if err != nil {
			c.remember(m)
			return nil, err
		}
		m.soul.UseModel(model)
		m.what, m.resumed = j.What, true
		return m, nil
	}
	unknown := fmt.Errorf("there is no agent %q in this session", j.Resume)
	store := c.store()
	if store == nil {
		return nil, unknown
	}
	kept, err := store.Open(c.opts.WorkDir, j.Resume)
	switch {
	case errors.Is(err, session.ErrNotFound), errors.Is(err, session.ErrID):
		return nil, unknown
	case err != nil:
		return nil, fmt.Errorf("resume the agent %s: %w", j.Resume, err)
	}
	m := &member{id: j.Resume, what: j.What, resumed: true, kept: kept}
	m.kind, err = c.kind(decode(kept.Options()).Type)
	var model llm.Provider
	if err == nil {
		model, err = c.model(m.kind, j)
	}
	if err != nil {
		return nil, errors.Join(err, kept.Close())
	}
	c.equip(m, model)
	return m, nil
}

// equip gives an agent its soul.
func (c *Crew) equip(m *member, model llm.Provider) {
	m.bus = wire.New()
	m.soul = soul.New(soul.Config{
		SessionID: m.id,
		Provider:  model,
		Fallback:  c.opts.Fallback,
		Small:     c.opts.Small,
		Hooks:     hooksOf(c.opts.Hooks),
		Wire:      m.bus,
		Tools:     c.opts.Executor.For(tool.Caller{}, toolsOf(m.kind)).Specs(),
		System:    system(m.kind, c.opts.System),
		MaxSteps:  c.opts.MaxSteps,
		Retry:     c.opts.Retry,
		Compact:   c.opts.Compact,
		Logger:    c.opts.Logger,
	})
	if m.kept != nil {
		m.bus.Attach(wire.Merged, m.kept.Wire())
		m.soul.Keep(m.kept)
	}
}

// letGo is called when an agent has worked.
func (c *Crew) letGo(m *member) {
	if m.kept == nil {
		c.remember(m)
	} else {
		m.bus.Close()
		if err := m.kept.Close(); err != nil {
			c.opts.Logger.Warn("the end of an agent's work may not have been kept", "agent", m.id, "error", err)
		}
	}
	c.disclaim(m.id)
}

// kind finds a type.
func (c *Crew) kind(name string) (tool.AgentType, error) {
	var names []string
	for _, t := range c.opts.Types {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return tool.AgentType{}, fmt.Errorf("there is no agent type %q; there are %s", name, strings.Join(names, ", "))
}

// model is that of a job, else that of the type, else the usual one of agents, else that of
// the session.
func (c *Crew) model(kind tool.AgentType, j tool.AgentJob) (llm.Provider, error) {
	of := kind.Model
	if of != "" && c.opts.Choose == nil {
		c.unchosen.Do(func() {
			c.opts.Logger.Warn("the models of agent types cannot be chosen in this session; agents have the session's", "type", kind.Name, "model", of)
		})
		of = ""
	}
	for _, id := range []string{j.Model, of} {
		if id == "" {
			continue
		}
		if c.opts.Choose == nil {
			return nil, fmt.Errorf("the model %q cannot be chosen in this session; leave `model` out", id)
		}
		p, err := c.opts.Choose(id)
		if err != nil {
			return nil, fmt.Errorf("the model %q cannot be used: %w", id, err)
		}
		return p, nil
	}
	if c.opts.Usual != nil {
		return c.opts.Usual, nil
	}
	p := c.opts.Model()
	if p == nil {
		return nil, errors.New("no model is set up")
	}
	return p, nil
}

// store is where agents are kept now, nil for nowhere.
func (c *Crew) store() *session.Store {
	if c.opts.Dir == nil {
		return nil
	}
	dir := c.opts.Dir()
	if dir == "" {
		return nil
	}
	return session.NewStore(dir)
}

// claim makes an agent one that works; false: it does.
func (c *Crew) claim(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy[id] {
		return false
	}
	c.busy[id] = true
	return true
}

func (c *Crew) disclaim(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, id)
}

// remember keeps an agent that is kept nowhere else, as long as there is room.
func (c *Crew) remember(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = append(c.idle, m)
	c.idle = c.idle[max(0, len(c.idle)-maxIdle):]
}

// recall takes a remembered agent out of memory, nil when there is none of that id.
func (c *Crew) recall(id string) *member {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.idle, func(m *member) bool { return m.id == id })
	if i < 0 {
		return nil
	}
	m := c.idle[i]
	c.idle = slices.Delete(c.idle, i, i+1)
	return m
}

// enter waits for a place in the foreground. Nil is followed by one leave.
func (c *Crew) enter(ctx context.Context) error {
	select {
	case c.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Crew) leave() { <-c.places }

// newID makes an id as kimi-cli does.
func newID() string {
	var b [4]byte
	rand.Read(b[:]) // never fails
	return "a" + hex.EncodeToString(b[:])
}
