package acp

import (
	"context"
	"errors"

	"kimi-acp/fileop"
	"kimi-acp/soul"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// desk is what slash commands do with a session that is kept; see soul.Session. What
// they change is told to the editor.
type desk struct{ session *session }

// Title is what the session is called.
func (d desk) Title() string {
	if kept := d.session.file(); kept != nil {
		return kept.Title()
	}
	return ""
}

// SetTitle gives the session another title, which is not replaced by one of ours.
func (d desk) SetTitle(title string) error {
	s := d.session
	kept := s.file() // a turn runs, so it stays
	if kept == nil {
		return errNotKept
	}
	if err := kept.SetTitle(title); err != nil {
		return err
	}
	s.isTitled(kept.Title())
	return nil
}

var errNotKept = errors.New("the session is not kept")

// isTitled shows a title that somebody gave, which is not replaced by one of ours.
func (s *session) isTitled(title string) {
	s.mu.Lock()
	s.titled = true
	s.mu.Unlock()
	s.showTitle(title)
}

// Fork makes another session that begins as this one is now.
func (d desk) Fork() (id, title string, err error) {
	s := d.session
	fork, err := s.agent.opts.Sessions.Fork(s.id, s.roots[0])
	if err != nil {
		return "", "", err
	}
	return fork.ID(), fork.Title(), fork.Close()
}

// SetPlan replaces the plan, and shows it, outside of a turn with the next one: plans
// belong to turns.
func (d desk) SetPlan(items []wire.PlanItem) {
	d.session.executor.SetPlan(items)
	if d.session.planDue = d.session.state.State() != soul.SessionActive; !d.session.planDue {
		d.session.showPlan()
	}
}

// showPlan shows the plan as it is.
func (s *session) showPlan() {
	s.planDue = false
	s.view.showPlan(soul.PlanFrom(s.executor.Plan()))
}

// askedFiles are the user's files for slash commands: what the rules keep from a model
// is not read for one.
type askedFiles struct {
	*fileop.Operator
	rules *tool.Guard
}

// Read gives a file that the model may see.
func (f askedFiles) Read(ctx context.Context, path string) (fileop.Snapshot, error) {
	s, err := f.Operator.Read(ctx, path)
	if err != nil {
		return fileop.Snapshot{}, err
	}
	if !readable(f.rules, s.Path) || !readable(f.rules, s.Real) {
		return fileop.Snapshot{}, errors.New("files such as this one hold secrets, and are not given to the model")
	}
	return s, nil
}
