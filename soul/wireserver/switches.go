package wireserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"kimi-acp/soul"
	"kimi-acp/soul/session"
	"kimi-acp/soul/tool"
)

const switchAFK = soul.SwitchAFK

// switches are yolo, afk and plan mode, and what they mean for the tools: plan mode
// outweighs the other two.
type switches struct {
	server *server

	mu sync.Mutex
	on map[soul.Switch]bool
}

var (
	_ soul.Switches = (*switches)(nil)
	_ soul.Controls = (*switches)(nil)
)

func newSwitches(s *server) *switches {
	st := s.opts.Kept.State()
	w := &switches{server: s, on: map[soul.Switch]bool{
		soul.SwitchYolo: s.opts.Yolo || st.Approval.Yolo,
		soul.SwitchAFK:  s.opts.AFK || st.Approval.AFK,
		soul.SwitchPlan: st.PlanMode,
	}}
	w.apply()
	return w
}

// On tells where a switch stands.
func (w *switches) On(s soul.Switch) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.on[s]
}

// Turn turns a switch and keeps it in the session.
func (w *switches) Turn(s soul.Switch, on bool) {
	w.mu.Lock()
	same := w.on[s] == on
	w.on[s] = on
	w.mu.Unlock()
	w.apply()
	if same {
		return
	}
	if err := w.server.opts.Kept.UpdateState(func(st *session.State) {
		switch s {
		case soul.SwitchYolo:
			st.Approval.Yolo = on
		case soul.SwitchAFK:
			st.Approval.AFK = on
		case soul.SwitchPlan:
			st.PlanMode = on
		}
	}); err != nil {
		w.server.log.Warn("a switch was not kept", "switch", s, "error", err)
	}
}

// apply puts the tools into the mode that the switches mean.
func (w *switches) apply() {
	if err := w.server.executor.SetMode(tool.Mode(w.Mode())); err != nil {
		w.server.log.Error("bug: a mode of ours is unknown", "error", err)
	}
}

// Folders are those that belong to the session beside its working folder.
func (w *switches) Folders() []string { return w.server.opts.Roots[1:] }

// AddFolder keeps a folder for the session's next start.
func (w *switches) AddFolder(path string) error {
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.server.opts.Roots[0], path)
	}
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("it cannot be looked at: %w", err)
	case !info.IsDir():
		return errors.New("it is no folder")
	case slices.Contains(w.server.opts.Roots, path):
		return errors.New("it belongs to the session already")
	}
	return w.server.opts.Kept.UpdateState(func(st *session.State) {
		if !slices.Contains(st.AdditionalDirs, path) {
			st.AdditionalDirs = append(st.AdditionalDirs, path)
		}
	})
}

// Mode is the mode that the switches mean; see soul.Controls.
func (w *switches) Mode() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.on[soul.SwitchPlan]:
		return string(tool.ModePlan)
	case w.on[soul.SwitchYolo], w.on[soul.SwitchAFK]:
		return string(tool.ModeYolo)
	}
	return string(tool.ModeDefault)
}

// SetMode turns the switches to where they mean a mode.
func (w *switches) SetMode(id string) error {
	w.Turn(soul.SwitchPlan, id == string(tool.ModePlan))
	w.Turn(soul.SwitchYolo, id == string(tool.ModeYolo))
	return nil
}

// Model is the model in use. There is no other to choose: the client chose at the start.
func (w *switches) Model() string {
	if p := w.server.opts.Provider; p != nil {
		return p.Model().Name
	}
	return ""
}

// Models are those to choose from, which are none.
func (w *switches) Models() []string { return nil }

// SetModel refuses.
func (w *switches) SetModel(string) error {
	return errors.New("the model is chosen when the program is started")
}
