package tool

import (
	"errors"
	"fmt"

	"kimi-acp/soul/wire"
)

// Mode says what the tools of a session may do without asking, or at all.
type Mode string

// The modes.
const (
	ModeDefault     Mode = "default"      // edits and commands ask
	ModeAcceptEdits Mode = "accept-edits" // ordinary edits of the workspace do not ask; commands do
	ModePlan        Mode = "plan"         // nothing is changed and no command runs
	ModeYolo        Mode = "yolo"         // nothing asks, but for floors
)

// errPlanMode ends what plan mode does not allow.
var errPlanMode = errors.New("plan mode is on")

// verdict is what a mode says of an action.
type verdict uint8

const (
	verdictAsk verdict = iota
	verdictAllow
	verdictRefuse
)

// Firmness says which modes let an action pass without asking.
type Firmness uint8

// The degrees of firmness, from the loosest.
const (
	Ordinary Firmness = iota // each mode that accepts its kind
	Guarded                  // only the mode that asks nothing
	Floor                    // none
)

// judge says what a mode has to say about an action.
func (m Mode) judge(e Effect, firm Firmness) verdict {
	changes := e == Edits || e == Runs
	switch {
	case m == ModePlan && changes:
		return verdictRefuse
	case m == ModeYolo && firm < Floor, m == ModeAcceptEdits && e == Edits && firm == Ordinary:
		return verdictAllow
	}
	return verdictAsk
}

// known tells a mode from any other text.
func (m Mode) known() bool {
	switch m {
	case ModeDefault, ModeAcceptEdits, ModePlan, ModeYolo:
		return true
	}
	return false
}

// Mode is the mode that is on. A new Executor is in ModeDefault.
func (e *Executor) Mode() Mode { return e.approvals.currentMode() }

// SetMode turns a mode on, at once and also for calls that wait for an approval:
// what the mode allows goes on, and what it refuses is rejected with the reason. What
// has been approved and is being carried out is not stopped. An answer that the user
// gave for the session stays, and a lasting rejection outweighs every mode. The error
// says that there is no such mode; nothing has changed then.
func (e *Executor) SetMode(m Mode) error {
	if !m.known() {
		return fmt.Errorf("unknown mode %q", m)
	}
	e.approvals.setMode(m)
	return nil
}

// allows is errPlanMode when nothing of that effect may happen now.
func (e *Executor) allows(effect Effect) error {
	if e.Mode().judge(effect, Ordinary) == verdictRefuse {
		return errPlanMode
	}
	return nil
}

func planModeResult() wire.ToolReturnValue {
	return failure("Nothing was done: plan mode is on, in which files are not changed and no commands run. Read and search as far as you need to, tell the user what you would do, and wait until the user turns plan mode off. Do not try to reach the same by other means.", "Plan mode")
}
