package soul

import (
	"context"

	"kimi-acp/contextprovider"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// Soul runs the turns of one session, one at a time. The built-in one is
// Builtin; others run in another program behind the Wire.
type Soul interface {
	// Run does one turn and sends everything that happens on the soul's Wire,
	// from TurnBegin to TurnEnd. It must not be called while another Run is under
	// way. When ctx ends, the turn winds down soon and the Outcome says
	// StopCancelled, without an error. When Run returns, the history holds whole
	// steps only, whatever happened. An error is an *llm.Error or a bug.
	Run(ctx context.Context, in Input) (Outcome, error)
	// Commands lists the slash commands that Run understands. It may be called
	// at any time.
	Commands() []Command
	// Status tells how full the context is. It may be called at any time.
	Status() Status
}

// ModelSwitcher is a Soul whose model can be changed.
type ModelSwitcher interface {
	// UseModel makes the next model request go to p. It may be called at any
	// time, also while a turn runs.
	UseModel(p llm.Provider)
}

// ModelNamer is a Soul that asks models by itself and is told by name which. Its methods
// may be called at any time, also while a turn runs.
type ModelNamer interface {
	// ModelNames are the models that there are for it, its usual one first; none: it has
	// no choice.
	ModelNames() []string
	// ModelName is the one that the next turn uses, "" when that is not known.
	ModelName() string
	// NameModel makes the next turn use another one of ModelNames. An error says for
	// people why not, and has changed nothing.
	NameModel(name string) error
}

// Starter is a Soul that takes time to begin, and may fail to.
type Starter interface {
	// Start does now what the next Run would do before its turn. It is called between
	// turns, behind Keep. An error says for people why the soul cannot run; it may be
	// called again.
	Start(ctx context.Context) error
}

// Moment words how things stand around a prompt; *contextprovider.Moment is one. It
// may be used by several goroutines at once.
type Moment interface {
	// Part gives what is told to the model behind the user's words, "" for nothing.
	// earlier are the texts that it gave before and that the history still holds, the
	// oldest first. It returns within a fraction of a second, whatever happens.
	Part(ctx context.Context, prompt string, mentions []contextprovider.Mention, earlier []string) string
	// Notice gives what the user is to be told of the latest Part, once, "" for nothing.
	Notice() string
	// Describe shows people what would be told now.
	Describe(ctx context.Context, earlier []string) string
}

// Input is what a user said in one prompt.
type Input struct {
	// Text is what the user typed, without mentions; slash commands are found
	// here, and titles are made from it.
	Text string
	// Parts is what the model is to read, in order.
	Parts []llm.Part
	// Mentions are the files and other things that Parts refer to.
	Mentions []contextprovider.Mention
	// Listed says that the parts came as a list and are shown as one, also when there is
	// one text alone.
	Listed bool
}

// Wire gives the input as TurnBegin carries it: a plain string when there is
// just one text part.
func (in Input) Wire() wire.UserInput {
	if !in.Listed && len(in.Parts) == 1 && in.Parts[0].Type == llm.PartText {
		return wire.UserInput{Text: in.Parts[0].Text}
	}
	return wire.UserInput{Parts: append([]llm.Part{}, in.Parts...)}
}

// StopReason is why a turn ended without an error.
type StopReason uint8

// The stop reasons of a turn.
const (
	StopEndTurn   StopReason = iota // the model had nothing more to do
	StopMaxTokens                   // the answer was cut at the model's output limit
	StopMaxSteps                    // the turn used up its steps
	StopRefusal                     // refused; the prompt has left the history
	StopCancelled                   // the turn's context ended
)

// Outcome is how a turn ended.
type Outcome struct {
	Stop  StopReason
	Steps int // model calls that were begun
}

// Status is how full the context of a session is.
type Status struct {
	ContextTokens    int // tokens in use
	MaxContextTokens int // the model's window
	Model            string
	Images           bool // the model accepts images
}

// Command is a slash command that a soul understands.
type Command struct {
	Name        string // without the slash
	Description string
	Hint        string // what may follow the name; empty: nothing
	Aliases     []string
}
