package soul

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"kimi-acp/soul/background"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/skill"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// Config is what a Builtin needs. Wire and Provider must be set.
type Config struct {
	SessionID string
	Provider  llm.Provider
	Fallback  llm.Provider // answers while Provider's circuit is open; nil: nobody
	Small     llm.Provider // sums up and judges where it can; nil: Provider does
	Goal      GoalBudget   // of a goal that says none; zero: DefaultGoal
	Wire      *wire.Wire
	Tools     []llm.ToolSpec // what the model may call; run through Wire.CallTool
	System    string         // the system prompt, frozen until the conversation is compacted
	Renew     func() string  // the system prompt as it would be made now, "": as it is; nil: it is frozen for good
	MaxSteps  int            // model calls in one turn, 0: 1000
	Ralph     int            // how often a prompt is worked on again until all is done; 0: never, below: without end
	Retry     RetryPolicy    // zero: DefaultRetry
	Compact   Compaction     // when the conversation is compacted; zero: DefaultCompaction
	Controls  Controls       // what commands may change; nil: nothing
	Edits     Edits          // the edits of the session; nil: they are not kept
	Moment    Moment         // how things stand around a prompt; nil: it is not told
	Session   Session        // what commands may do with the session itself; nil: nothing
	Files     Files          // what /export and /import use; nil: they are refused
	Profile   Profile        // commands and manners; zero: those of editors
	// Skills gives the skills that are there now, of which each is a command; nil: there
	// are none. The kimi profile has its own.
	Skills func() []skill.Skill
	Hooks  Hooks // who has a say in turns; nil: nobody
	// Tasks go on beside the conversation, and the model is told of their ends; nil: there
	// are none.
	Tasks *background.Tasks
	// Permissions are what was granted; nil: nothing is.
	Permissions Permissions
	// Mailbox is where the model's calls of SendDMail end up, which must be among Tools
	// then; nil: it cannot go back in a turn.
	Mailbox *tool.Mailbox
	Events  *EventBus    // nil: nobody listens
	Logger  *slog.Logger // nil: slog.Default
}

// Builtin is the soul that runs in this process.
type Builtin struct {
	cfg     Config
	history History
	record  record
	repeats repeats // of the turn that runs
	steers  steers
	left    leftOff
	places  []point // of the turn that runs, to which the model may go back
	settled int     // tokens that the last compaction left

	reminders reminders

	mu       sync.Mutex
	provider llm.Provider // nil: no model is set
	tools    []llm.ToolSpec
	known    map[string]bool // tool names
	asked    bool            // a model has been told of the tools
	late     []llm.ToolSpec  // the tools from the next compaction on; nil: as they are
	calls    int             // model calls that were answered
	used     llm.Usage       // by all of them
	standsIn bool            // the fallback answers, and people were told
	told     int             // notifications so far
	circuit  *llm.Circuit    // of a provider that has none
}

var (
	_ Soul          = (*Builtin)(nil)
	_ ModelSwitcher = (*Builtin)(nil)
	_ Keeper        = (*Builtin)(nil)
	_ Rewinder      = (*Builtin)(nil)
)

// New makes a soul with an empty history.
func New(cfg Config) *Builtin {
	if cfg.MaxSteps <= 0 {
		cfg.MaxSteps = 1000
	}
	if cfg.Retry == (RetryPolicy{}) {
		cfg.Retry = DefaultRetry
	}
	if cfg.Compact == (Compaction{}) {
		cfg.Compact = DefaultCompaction
	}
	if cfg.Goal == (GoalBudget{}) {
		cfg.Goal = DefaultGoal
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	b := &Builtin{cfg: cfg, provider: cfg.Provider, circuit: &llm.Circuit{}}
	b.record = record{system: cfg.System, log: cfg.Logger}
	b.UseTools(cfg.Tools)
	return b
}

// Status tells how full the context is.
func (b *Builtin) Status() Status {
	model := b.modelInUse()
	return Status{ContextTokens: b.history.Tokens(), MaxContextTokens: model.ContextSize, Model: model.Name, Images: model.ImageInput}
}

// UseModel changes the model from the next request on; see ModelSwitcher.
func (b *Builtin) UseModel(p llm.Provider) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.provider, b.circuit, b.standsIn = p, &llm.Circuit{}, false
}

// modelInUse is what is known of the model in use, zero when there is none.
func (b *Builtin) modelInUse() llm.Model {
	if p := b.model(); p != nil {
		return p.Model()
	}
	return llm.Model{}
}

// model is the provider of the model in use.
func (b *Builtin) model() llm.Provider {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.provider
}

// Run does one turn; see Soul.
func (b *Builtin) Run(ctx context.Context, in Input) (Outcome, error) {
	began := time.Now()
	b.publish(TurnStarted{})
	b.steers.open()
	refused, why := b.hook(ctx, HookUserPromptSubmit, in.Text, map[string]any{"prompt": in.Text})
	b.cfg.Wire.Send(wire.TurnBegin{UserInput: in.Wire()})
	var out Outcome
	var err error
	if refused && ctx.Err() == nil { // else it may just have been stopped
		b.say("%s", cmp.Or(why, "Prompt blocked by hook."))
	} else {
		out, err = b.turn(ctx, in)
	}
	b.steers.close()
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		out.Stop, err = StopCancelled, nil
	}
	if b.cfg.Edits != nil {
		if notice := b.cfg.Edits.Notice(); notice != "" {
			b.say("%s", notice)
		}
	}
	b.cfg.Wire.EndTurn()
	if why := b.record.unsaved(); why != "" {
		b.say("%s", why)
	}
	b.cfg.Wire.Send(wire.TurnEnd{})
	b.publish(TurnFinished{Outcome: out, Err: err, Took: time.Since(began)})
	return out, err
}

func (b *Builtin) turn(ctx context.Context, in Input) (Outcome, error) {
	if ctx.Err() != nil { // cancelled while it waited
		return Outcome{Stop: StopCancelled}, nil
	}
	out, asked, err := b.answer(ctx, in)
	for {
		if err == nil && asked {
			out, err = b.mayStop(ctx, out)
		}
		if err != nil || ctx.Err() != nil || b.steers.end() {
			break
		}
		out, err = b.heed(ctx, out, asked && out.Stop != StopRefusal)
		asked = true
	}
	if err != nil && asked && ctx.Err() == nil {
		kind := errorName(err)
		b.hookAside(HookStopFailure, kind, map[string]any{"error_type": kind, "error_message": err.Error()})
	}
	return out, err
}

// answer carries a command out, or has the model answer. Asked tells whether a model was
// to be asked at all.
func (b *Builtin) answer(ctx context.Context, in Input) (out Outcome, asked bool, err error) {
	c, args, command := b.parseCommand(in.Text)
	b.remindOfLeft(command)
	switch {
	case command:
		prompt, err := c.run(b, ctx, args)
		var long *wentOn
		if errors.As(err, &long) {
			return long.outcome, true, long.err
		}
		if prompt == "" || err != nil {
			return Outcome{Stop: StopEndTurn}, false, err
		}
		out, err = b.converse(ctx, Input{Text: prompt, Parts: []llm.Part{llm.Text(prompt)}}, true)
		return out, true, err
	case b.cfg.Ralph != 0:
		out, err = b.ralph(ctx, in)
	default:
		out, err = b.converse(ctx, in, false)
	}
	return out, true, err
}

// converse asks the model, and again as long as it calls tools or is steered. What a
// command asks goes without the context of the moment.
func (b *Builtin) converse(ctx context.Context, in Input, command bool) (Outcome, error) {
	if err := b.accepts(in.Parts); err != nil {
		return Outcome{}, err
	}
	b.repeats = repeats{}
	if b.cfg.Edits != nil {
		if found := b.cfg.Edits.Findings(ctx); found != "" {
			in.Parts = append(slices.Clone(in.Parts), llm.Text("<system>"+found+"</system>"))
		}
	}
	// Before the context of the moment is gathered: what the model no longer sees of
	// earlier ones has to be told again.
	if err := b.makeRoom(ctx, llm.EstimateTokens(llm.Message{Role: llm.RoleUser, Content: in.Parts})); err != nil {
		return Outcome{}, err
	}
	if reminder := b.remind(); reminder != "" {
		in.Parts = append(slices.Clone(in.Parts), llm.Text(reminder))
	}
	if said := b.hooksSaid(); said != "" {
		in.Parts = append(slices.Clone(in.Parts), llm.Text(said))
	}
	if b.cfg.Moment != nil && !command {
		// Behind the user's words, so that the words come first for whoever reads them.
		if now := b.cfg.Moment.Part(ctx, in.Text, in.Mentions, b.history.contexts()); now != "" {
			in.Parts = append(slices.Clone(in.Parts), llm.Text(now))
		}
		if notice := b.cfg.Moment.Notice(); notice != "" {
			b.say("%s\n\n", notice)
		}
	}
	b.openTurn(llm.Message{Role: llm.RoleUser, Content: in.Parts})
	b.openMailbox()
	out, err := b.steps(ctx)
	if err == nil && out.Stop == StopRefusal {
		b.leaveOut()
	}
	return out, err
}

// mayStop asks the hooks whether a turn that has come to its end may do so. One of them
// can send the model back once.
func (b *Builtin) mayStop(ctx context.Context, out Outcome) (Outcome, error) {
	if out.Stop != StopEndTurn {
		return out, nil
	}
	back, why := b.hook(ctx, HookStop, "", map[string]any{"stop_hook_active": false})
	switch {
	case ctx.Err() != nil: // it may just have been stopped
		out.Stop = StopCancelled
		return out, nil
	case !back || why == "":
		return out, nil
	}
	if !b.cfg.Profile.nestsTurns {
		why = "<system>A hook of the user's does not let you stop here.</system>\n\n" + why
	}
	return b.goOn(ctx, why)
}

// steps are the model calls of a turn, numbered from 1.
func (b *Builtin) steps(ctx context.Context) (Outcome, error) {
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return Outcome{Stop: StopCancelled, Steps: n - 1}, nil
		}
		if n > b.cfg.MaxSteps {
			return b.outOfSteps(ctx, n), nil
		}
		b.deliver()
		b.cfg.Wire.Send(wire.StepBegin{N: n})
		next, err := b.fittingStep(ctx, n)
		if err != nil {
			if ctx.Err() == nil {
				b.cfg.Wire.Send(wire.StepInterrupted{})
			}
			return Outcome{Steps: n}, err
		}
		switch next {
		case stepDone:
			if !b.steer() {
				return Outcome{Stop: StopEndTurn, Steps: n}, nil
			}
		case stepRejected, stepCircling:
			return Outcome{Stop: StopEndTurn, Steps: n}, nil
		case stepCut:
			return Outcome{Stop: StopMaxTokens, Steps: n}, nil
		case stepRefused:
			return Outcome{Stop: StopRefusal, Steps: n}, nil
		case stepCancelled:
			return Outcome{Stop: StopCancelled, Steps: n}, nil
		case stepContinue:
			b.steer()
			b.remindInTurn(n + 1)
		}
	}
}

// outOfSteps ends a turn at what would be its n-th step: the model says how far it has
// come, if it can be asked, and the user is told how to go on.
func (b *Builtin) outOfSteps(ctx context.Context, n int) Outcome {
	out := Outcome{Stop: StopMaxSteps, Steps: n - 1}
	if b.cfg.Profile.silentStops {
		return out
	}
	said, err := b.conclude(ctx, BudgetOut, n)
	if ctx.Err() != nil {
		out.Stop = StopCancelled
		return out
	}
	if err != nil {
		b.cfg.Logger.Info("a turn that is out of steps has no last answer", "session", b.cfg.SessionID, "error", err)
	}
	gap := ""
	if said {
		gap = "\n\n"
	}
	b.say("%sI stopped after %d steps, which is as many as a turn may have. Send “continue” and I go on from here.", gap, n-1)
	return out
}

func (b *Builtin) publish(payload any) {
	b.cfg.Events.Publish(BusEvent{Time: time.Now(), SessionID: b.cfg.SessionID, Payload: payload})
}
