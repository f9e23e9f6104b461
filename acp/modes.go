package acp

import (
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul/tool"
)

type modeState struct {
	CurrentModeID  string        `json:"currentModeId"`
	AvailableModes []sessionMode `json:"availableModes"`
}

type sessionMode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

type currentModeUpdate struct {
	SessionUpdate string `json:"sessionUpdate"`
	CurrentModeID string `json:"currentModeId"`
}

// sessionModes lists the modes in the order in which editors show them.
func sessionModes() []sessionMode {
	return []sessionMode{
		{string(tool.ModeDefault), "Default", "Ask before each edit, and before commands that do more than look"},
		{string(tool.ModeAcceptEdits), "Accept edits", "Edit files in the workspace without asking; ask before commands"},
		{string(tool.ModePlan), "Plan", "Read only: look around and plan, change nothing"},
		{string(tool.ModeYolo), "Yolo", "Edit and run without asking"},
	}
}

// modes is the state of the modes for a session's answers.
func (s *session) modes() *modeState {
	return &modeState{CurrentModeID: string(s.executor.Mode()), AvailableModes: sessionModes()}
}

// modeChanged tells the editor which mode is on when it was not the editor that
// turned it on.
func (s *session) modeChanged() {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.update(currentModeUpdate{SessionUpdate: "current_mode_update", CurrentModeID: string(s.executor.Mode())})
}

// setMode serves session/set_mode. The mode holds from here on, also for the turn
// that runs.
func (a *Agent) setMode(call *jsonrpc.Call) {
	p, s, err := a.addressed(call)
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	id, err := p.text("modeId")
	if err == nil && s.executor.SetMode(tool.Mode(id)) != nil {
		err = invalid("modeId %q is none of the modes of this session", clip(id))
	}
	s.changed(call, err)
}
