package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"

	"kimi-acp/contextprovider"
	"kimi-acp/fileop"
	"kimi-acp/soul"
	"kimi-acp/soul/background"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/skill"
	"kimi-acp/soul/subagent"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// Options says what a turn is made of. Dir, Prompt and Provider must be set.
type Options struct {
	Dir      string // absolute: where the agent works, and all that it may change
	Prompt   string
	Provider llm.Provider
	Runner   tool.Runner // nil: commands cannot be run
	Shell    string      // the program that Runner runs commands with
	Guard    *tool.Guard // judges commands before anybody is asked; nil: every command asks
	Mode     tool.Mode   // "": tool.ModeDefault
	MaxSteps int         // model calls, 0: the soul's default
	Retry    soul.RetryPolicy
	Fallback llm.Provider         // answers while Provider's circuit is open; nil: nobody
	Small    llm.Provider         // see soul.Config
	Skills   func() []skill.Skill // each is a command; nil: there are none
	Hooks    soul.Hooks           // see soul.Config
	Ralph    int                  // see soul.Config
	Goal     soul.GoalBudget
	Compact  soul.Compaction
	// SkipReviews has no agent look at what the steps of plans came to.
	SkipReviews bool
	Code        func(*fileop.Operator) Code // what can be asked about the programs of Dir; nil: nothing
	Person      Person                      // nil: nobody is there to answer
	Views       []View
	Logger      *slog.Logger // nil: slog.Default
}

// Code is what can be asked about the programs of a folder.
type Code struct {
	Ask     contextprovider.Code // for the model's questions
	Renames bool                 // whether Ask can rename anything on this machine
	Checker tool.Checker         // finds what edits break
	Close   func()               // ends it
}

// View is something that watches the turn, on one stream of its Wire.
type View struct {
	Stream wire.Stream
	View   wire.View
}

// Person is somebody who answers. Its methods are called one at a time.
type Person interface {
	// Approve waits for the answer to r. An error means that there is none: ctx
	// ended, or nobody is there any more.
	Approve(ctx context.Context, r wire.ApprovalRequest) (a wire.Approval, feedback string, err error)
	// Answer waits for the answers to questions; what is left out was skipped.
	Answer(ctx context.Context, questions []wire.Question) wire.QuestionAnswers
}

// Result is what came of a turn.
type Result struct {
	Stop       soul.StopReason
	Err        error     // why the turn failed; nil: it ended with Stop
	Steps      int       // model calls that were begun
	Text       string    // the answer, as Answer writes it; of a very long one the beginning
	Usage      llm.Usage // of all model calls together
	Unanswered int       // approvals that were rejected since nobody answered
}

// Turn runs one turn and waits for its end. The turn winds down when ctx ends, and
// that is no error. An error means that the turn could not begin.
func Turn(ctx context.Context, o Options) (Result, error) {
	disk, err := fileop.OpenDisk(o.Dir)
	if err != nil {
		return Result{}, fmt.Errorf("open the folder to work in: %w", err)
	}
	roots := []string{o.Dir}
	files := fileop.New(fileop.Options{Disk: disk, Roots: roots})
	bus := wire.New()
	tasks := background.New(background.Options{Logger: o.Logger})
	defer tasks.Close()
	world := tool.Options{
		Tools:    append(tool.Builtin(), tool.NewAgent(subagent.Types()), tool.NewRunPlan(subagent.Types())),
		Tasks:    tasks,
		Operator: files,
		Runner:   o.Runner,
		Guard:    o.Guard,
		Asker:    bus,
		Progress: func(p wire.ToolProgress) { bus.Send(p) },
		Cwd:      o.Dir,
		Logger:   o.Logger,
	}
	if o.Person != nil { // else the model is told to put its questions into the answer
		world.Questioner = bus
	}
	if o.Code != nil {
		code := o.Code(files)
		defer code.Close()
		world.Checker = code.Checker
		world.Tools = append(world.Tools, tool.CodeTools(code.Ask, code.Renames)...)
	}
	executor := tool.NewExecutor(world)
	if o.Mode != "" {
		if err := executor.SetMode(o.Mode); err != nil {
			return Result{}, errors.Join(err, disk.Close())
		}
	}
	bus.HandleTools(executor)
	system := soul.SystemPrompt(soul.Surroundings{
		Roots: roots, OS: runtime.GOOS, Shell: o.Shell,
		Instructions: contextprovider.Instructions(ctx, disk, roots),
	})
	executor.UseAgents(subagent.New(subagent.Options{
		Wire:     bus,
		Executor: executor,
		Types:    subagent.Types(),
		Model:    func() llm.Provider { return o.Provider },
		Fallback: o.Fallback,
		System:   func() string { return system },
		WorkDir:  o.Dir,
		Hooks:    o.Hooks,
		Small:    o.Small,
		Retry:    o.Retry,
		Compact:  o.Compact,
		Logger:   o.Logger,

		SkipReviews: o.SkipReviews,
	}))
	agent := soul.New(soul.Config{
		SessionID: "run",
		Provider:  o.Provider,
		Fallback:  o.Fallback,
		Small:     o.Small,
		Skills:    o.Skills,
		Hooks:     o.Hooks,
		Ralph:     o.Ralph,
		Goal:      o.Goal,
		Wire:      bus,
		Tools:     executor.Specs(),
		System:    system,
		Tasks:     tasks,
		MaxSteps:  o.MaxSteps,
		Retry:     o.Retry,
		Compact:   o.Compact,
		Logger:    o.Logger,
	})
	var sums tally
	for _, v := range append(o.Views, View{wire.Raw, &sums}) {
		bus.Attach(v.Stream, v.View)
	}
	// The last view: whoever answers has been shown what was before.
	r := &responder{bus: bus, person: o.Person, granted: map[string]bool{}}
	bus.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) { r.receive(ctx, m) }))
	outcome, err := agent.Run(ctx, soul.Input{Text: o.Prompt, Parts: []llm.Part{llm.Text(o.Prompt)}})
	endTasks(ctx, tasks, bus)
	bus.Close()
	return Result{
		Stop: outcome.Stop, Err: err, Steps: outcome.Steps,
		Text: sums.text(), Usage: sums.usage, Unanswered: r.unanswered,
	}, closeError(disk.Close())
}

func closeError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("let go of the folder worked in: %w", err)
}
