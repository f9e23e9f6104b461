package tool

import (
	"context"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"kimi-acp/soul/background"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// defaultParallel is how many calls read at once when Options do not say.
const defaultParallel = 8

// Options are what an Executor works with. Operator is required.
type Options struct {
	Operator Operator
	Runner   Runner // nil: commands cannot be run
	Asker    Asker  // nil: whatever needs approval is rejected
	// Questioner puts a model's questions before the user. Nil: the model is told to
	// ask in its answer.
	Questioner Questioner
	Tree       Tree    // what Glob, Grep and ReadMediaFile look at; nil: Operator, where it is one
	Overlay    Overlay // what the editor holds of it; nil: Operator, where it is one
	Images     bool    // the model can see images, until SetImages
	// Progress is told how calls fare, in order for each call; calls come side by
	// side. It may block, which slows the call. Nil: nobody watches.
	Progress func(wire.ToolProgress)
	Cwd      string    // the working directory of commands, absolute
	Roots    []string  // the folders of the workspace, absolute; nil: Cwd. A Guard has its own
	Tools    []Tool    // nil: Builtin()
	Todo     *TodoList // nil: a new list
	Guard    *Guard    // judges before anybody is asked; nil: commands ask, and files are judged as in an untrusted folder Cwd
	Checker  Checker   // finds what edits break; nil: nobody looks
	// Tasks are the commands and agents that go on beside the conversation; their owner
	// closes them. Nil: there are none.
	Tasks *background.Tasks
	// Detached runs the commands of Tasks, which outlive the calls that start them; nil:
	// Runner.
	Detached    Runner
	Journal     *Journal // keeps the changes, and Operator must be its Operator; nil: nothing is kept
	MaxParallel int      // how many calls read at once; 0: 8
	Logger      *slog.Logger
}

// Executor runs the tool calls of one session. Calls may come side by side:
// reads run at once up to a limit, also while approvals are open; changes (edits
// being written and commands) go one after the other.
type Executor struct {
	operator   Operator
	tree       Tree
	overlay    Overlay
	runner     Runner
	detached   Runner
	tasks      *background.Tasks // may be nil
	questioner Questioner
	cwd        string
	images     atomic.Bool // the model can see images
	todo       *TodoList
	journal    *Journal
	checker    Checker // may be nil
	guard      *Guard  // for commands, may be nil
	files      *Guard  // for all else, never nil
	outside    Outside
	approvals  *approvals
	progress   func(wire.ToolProgress)
	logger     *slog.Logger
	tools      map[string]Tool
	specs      []llm.ToolSpec

	agentsLock sync.Mutex
	agents     Agents // may be nil

	seen seenTexts

	// A caller takes them in this order: edits, then readers or changes; nothing
	// but a picture's turn is waited for inside readers, and nothing but the change
	// inside changes.
	edits   pathTurns
	readers gate
	changes gate
	// pictures is taken inside readers, since one large picture fills much memory.
	pictures gate
}

// NewExecutor makes the Executor of a session.
func NewExecutor(o Options) *Executor {
	e := &Executor{
		operator:   o.Operator,
		tree:       o.Tree,
		overlay:    o.Overlay,
		runner:     o.Runner,
		detached:   o.Detached,
		tasks:      o.Tasks,
		questioner: o.Questioner,
		cwd:        o.Cwd,
		todo:       o.Todo,
		journal:    o.Journal,
		checker:    o.Checker,
		approvals:  newApprovals(o.Asker),
		progress:   o.Progress,
		logger:     o.Logger,
		tools:      map[string]Tool{},
		changes:    newGate(1),
		pictures:   newGate(1),
	}
	if o.Journal != nil {
		e.changes = o.Journal.changes // undoing waits for commands, and they for it
	}
	e.images.Store(o.Images)
	if o.Guard != nil {
		e.guard = o.Guard.answered(e.approvals.granted)
		e.files = e.guard
	} else {
		if o.Roots == nil {
			o.Roots = []string{o.Cwd}
		}
		e.files = plainGuard(o.Roots).answered(e.approvals.granted)
	}
	if e.detached == nil {
		e.detached = o.Runner
	}
	e.outside, _ = o.Operator.(Outside)
	if e.tree == nil {
		e.tree, _ = o.Operator.(Tree)
	}
	if e.overlay == nil {
		e.overlay, _ = o.Operator.(Overlay)
	}
	if e.todo == nil {
		e.todo = NewTodoList(nil)
	}
	if e.progress == nil {
		e.progress = func(wire.ToolProgress) {}
	}
	if e.logger == nil {
		e.logger = slog.New(slog.DiscardHandler)
	}
	if o.MaxParallel <= 0 {
		o.MaxParallel = defaultParallel
	}
	e.readers = newGate(o.MaxParallel)
	if o.Tools == nil {
		o.Tools = Builtin()
	}
	for _, t := range o.Tools {
		spec := t.Spec()
		if e.Has(spec.Name) {
			e.logger.Error("bug: two tools of one name, the first one is kept", "tool", spec.Name)
			continue
		}
		e.tools[spec.Name] = t
		e.specs = append(e.specs, spec)
	}
	return e
}

// Has reports whether the Executor has a tool of that name.
func (e *Executor) Has(name string) bool { return e.tools[name] != nil }

// Specs describes the tools to a model, always in the same order and with the
// same bytes, which nobody may change.
func (e *Executor) Specs() []llm.ToolSpec {
	specs := slices.Clone(e.specs)
	if e.startsAgents() != nil {
		return specs
	}
	return slices.DeleteFunc(specs, func(s llm.ToolSpec) bool { return s.Name == agentName || s.Name == runPlanName })
}

// SetImages says whether the model that is in use from now on can see images.
func (e *Executor) SetImages(can bool) { e.images.Store(can) }

// RejectForSession rejects an approval that is open, and from now on everything
// that its scope covers, without asking. It answers the request itself. It is
// false, and does nothing, when no such request is open.
func (e *Executor) RejectForSession(requestID string) bool {
	return e.approvals.rejectForSession(requestID)
}

// CallTool runs one call and gives its result. Whatever goes wrong is in the
// result, also a bug in a tool. When ctx ends, CallTool returns soon, with a
// result that says what was done by then.
func (e *Executor) CallTool(ctx context.Context, req wire.ToolCallRequest) wire.ToolReturnValue {
	return e.call(ctx, req, nil)
}

// call runs one call, for an agent or, with nil, for the one that the user talks to.
func (e *Executor) call(ctx context.Context, req wire.ToolCallRequest, caller *Caller) (result wire.ToolReturnValue) {
	defer func() {
		if p := recover(); p != nil {
			e.logger.Error("bug: a tool panicked", "tool", req.Name, "call", req.ID, "panic", p, "stack", string(debug.Stack()))
			result = failure("The tool failed by a fault of its own. Whether it did anything is not known; calling it in the same way will probably fail again.", "Tool failed")
		}
		result = complete(result)
	}()
	t := e.tools[req.Name]
	if t == nil {
		return failure("Tool `"+req.Name+"` not found", "")
	}
	arguments, err := parseArguments(req.Arguments)
	if err != nil {
		return failure("Error parsing JSON arguments: "+sentence(err.Error()), "Invalid arguments")
	}
	return e.run(ctx, t, &Invocation{ID: req.ID, Name: req.Name, Arguments: arguments, executor: e, caller: caller})
}

func (e *Executor) run(ctx context.Context, t Tool, c *Invocation) wire.ToolReturnValue {
	e.progress(wire.ToolProgress{ToolCallID: c.ID, Name: c.Name, Input: c.Arguments})
	if err := ctx.Err(); err != nil {
		return Failed(ctx, err)
	}
	if err := e.allows(t.Effect()); err != nil {
		return Failed(ctx, err)
	}
	if t.Effect() == ReadOnly {
		if err := e.readers.enter(ctx); err != nil {
			return Failed(ctx, err)
		}
		c.reading = true
		defer func() {
			if c.reading {
				e.readers.leave()
			}
		}()
		c.Progress(true, "", nil)
	}
	return t.Run(ctx, c)
}
