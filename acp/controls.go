package acp

import "kimi-acp/soul/tool"

// controls is what slash commands change about a session; see soul.Controls. What
// they change is told to the editor.
type controls struct{ session *session }

// Mode is the id of the mode that is on.
func (c controls) Mode() string { return string(c.session.executor.Mode()) }

// SetMode turns a mode on.
func (c controls) SetMode(id string) error {
	s := c.session
	if err := s.executor.SetMode(tool.Mode(id)); err != nil {
		return err
	}
	s.saveOptions()
	s.modeChanged()
	s.optionsChanged()
	return nil
}

// Model is the id of the model in use.
func (c controls) Model() string { return c.session.chosen().model }

// Models are the ids of the models there are.
func (c controls) Models() []string {
	var ids []string
	for _, m := range c.session.agent.models() {
		ids = append(ids, m.ID)
	}
	return ids
}

// SetModel changes the model from the next request on.
func (c controls) SetModel(id string) error {
	if err := c.session.choose(optionModel, id); err != nil {
		return err
	}
	c.session.saveOptions()
	c.session.optionsChanged()
	return nil
}
