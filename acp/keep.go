package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"

	"kimi-acp/contextprovider"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
	store "kimi-acp/soul/session"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// keptOptions is how a session was set when it was last used.
type keptOptions struct {
	Mode  string `json:"mode,omitempty"`
	Model string `json:"model,omitempty"`
	Level string `json:"level,omitempty"`
	// Kernel is the id of the kernel that was chosen for the session; "": none was.
	Kernel string `json:"kernel,omitempty"`
	// KernelModel is what was chosen of a kernel's own models; "": nothing was.
	KernelModel string `json:"kernel_model,omitempty"`
	// Context is how often the model is told of the editor.
	Context contextprovider.Use `json:"context,omitempty"`
}

// storeError is what an editor gets when a session cannot be opened or changed.
func storeError(id string, err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrID):
		return unknownSession(id)
	case errors.Is(err, store.ErrInUse):
		return invalidRequest("The session is open in another window or program; close it there first")
	case errors.Is(err, store.ErrCursor):
		return invalid("cursor is none that session/list gave")
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "The session's files cannot be used: " + clip(err.Error())}
}

// keep makes a session on disk the place where this one is written down.
func (s *session) keep(kept *store.Session) {
	s.mu.Lock()
	s.kept = kept
	s.mu.Unlock()
	if err := s.tasks.Keep(filepath.Join(kept.OwnDir(), "tasks")); err != nil {
		s.agent.log.Warn("not all that went on in the background of a session is known", "session", s.id, "error", err)
	}
	s.stopRecording = s.wire.Attach(wire.Merged, kept.Wire())
	stopKnowing := s.wire.Attach(wire.Merged, wire.ViewFunc(func(m wire.Message) { // behind the recorder
		if _, ok := m.(wire.TurnBegin); ok {
			s.hasBegun()
		}
	}))
	stopRecording := s.stopRecording
	s.stopRecording = func() {
		stopRecording()
		stopKnowing()
	}
	s.findWaiting()
	keep(s.mind(), kept)
}

// restore takes over how a session was set and where its plan stood. What is no
// longer there falls back; it says so in a sentence.
func (s *session) restore(kept *store.Session) (fallback string) {
	s.titled = kept.State().CustomTitle != ""
	s.executor.SetPlan(tool.PlanKept(kept.Restored().Messages, kept.State().TodoItems()))
	var o keptOptions
	s.saved = kept.Options()
	if json.Unmarshal(s.saved, &o) != nil {
		return ""
	}
	switch o.Context {
	case contextprovider.UseOff, contextprovider.UseAuto, contextprovider.UseAlways:
		if s.moment != nil {
			s.moment.SetUse(o.Context)
		}
	}
	if o.Mode != "" && s.executor.SetMode(tool.Mode(o.Mode)) != nil {
		s.agent.log.Warn("a session was in a mode that is not there any more", "session", s.id, "mode", o.Mode)
	}
	if n := s.namer(); n != nil && o.KernelModel != "" {
		if err := s.nameModel(n, o.KernelModel); err != nil {
			s.agent.log.Warn("a session's model cannot be used any more", "session", s.id, "model", o.KernelModel, "error", err)
			return "The model " + o.KernelModel + " of this session is not to be had any more; it goes on with " + n.ModelName()
		}
	}
	if o.Model == "" || s.agent.opts.Catalog == nil || !s.switchesModels() {
		return ""
	}
	if err := s.use(o.Model, o.Level); err != nil {
		s.agent.log.Warn("a session's model cannot be used any more", "session", s.id, "model", o.Model, "error", err)
		return "The model " + o.Model + " of this session is not to be had any more; it goes on with " + s.chosen().model
	}
	return ""
}

// saveOptions keeps how the session is set, also while it is parked. It may wait for
// the disk.
func (s *session) saveOptions() {
	s.shelving.Lock()
	defer s.shelving.Unlock()
	s.saveOptionsNow()
}

// saveOptionsNow is saveOptions for a caller that holds shelving.
func (s *session) saveOptionsNow() {
	c := s.chosen()
	o := keptOptions{Mode: string(s.executor.Mode()), Model: c.model, Level: c.level}
	if in := s.kernelInUse(); in != s.kernels.Default {
		o.Kernel = in
	}
	if s.moment != nil {
		o.Context = s.moment.Use()
	}
	s.mu.Lock()
	o.KernelModel = s.kernelModel
	s.mu.Unlock()
	raw, err := json.Marshal(o)
	if err == nil && bytes.Equal(raw, s.saved) {
		return
	}
	if kept := s.file(); err == nil && kept != nil {
		err = kept.SetOptions(raw)
	} else if err == nil && s.state.State() == soul.SessionPaused {
		err = s.agent.opts.Sessions.SetOptions(s.id, raw)
	}
	if err != nil {
		s.agent.log.Warn("the options of a session were not kept", "session", s.id, "error", err)
		return
	}
	s.saved = raw
}

// savePlan keeps the plan where kimi-cli looks for it, when it has changed.
func (s *session) savePlan() {
	kept := s.file()
	if kept == nil {
		return
	}
	todos := store.TodosOf(s.executor.Plan())
	if slices.Equal(todos, kept.State().Todos) {
		return
	}
	if err := kept.UpdateState(func(st *store.State) { st.Todos = todos }); err != nil {
		s.agent.log.Warn("the plan of a session was not kept", "session", s.id, "error", err)
	}
}

// file is where the session is kept, nil: nowhere, or it is parked.
func (s *session) file() *store.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept
}

// ownDir is the folder of ours beside the session, "" while it is not kept, or parked.
func (s *session) ownDir() string {
	if kept := s.file(); kept != nil {
		return kept.OwnDir()
	}
	return ""
}
