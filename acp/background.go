package acp

import (
	"kimi-acp/soul"
	"kimi-acp/soul/background"
)

// openTasks makes the place for what goes on beside the conversation. It starts nothing.
func (s *session) openTasks() {
	s.tasks = background.New(background.Options{Ended: s.taskEnded, Logger: s.agent.log})
}

// endTasks ends what goes on, and waits for that.
func (s *session) endTasks() {
	if s.tasks != nil { // else the session could not be made
		s.tasks.Close()
	}
}

// taskEnded tells an editor that takes notices at once of work in the background that
// is over. Others, and the model, hear of it in the turn that runs or with the next
// prompt, since nothing else may be sent between turns.
func (s *session) taskEnded(t background.Task) {
	if !s.client.notices || s.state.State() == soul.SessionActive {
		return
	}
	n := soul.TaskNotification(t)
	s.tasks.Showed(t.ID)
	s.update(newNotice(n.Severity, n.Title, n.Body))
}
