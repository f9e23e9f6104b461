package acp

import (
	"context"
	"encoding/json"

	"kimi-acp/contextprovider"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul/tool"
)

// The ids of the config options. Their order is that of the list.
const (
	optionMode   = "mode"
	optionModel  = "model"
	optionLevel  = "thought_level"
	optionKernel = "kernel"
	// What is told of the editor; the name is that of Kimi's other clients.
	optionContext = "editor_context"
)

type configOption struct {
	ID           string         `json:"id"`
	Name         string         `json:"name"`
	Description  string         `json:"description,omitempty"`
	Category     string         `json:"category,omitempty"`
	Type         string         `json:"type"`
	CurrentValue string         `json:"currentValue"`
	Options      []optionChoice `json:"options"`
}

type optionChoice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type configOptionsResult struct {
	ConfigOptions []configOption `json:"configOptions"`
}

type configOptionUpdate struct {
	SessionUpdate string         `json:"sessionUpdate"`
	ConfigOptions []configOption `json:"configOptions"`
}

// configOptions is the complete list: one change may alter the others.
func (s *session) configOptions() (all []configOption) {
	mode := configOption{ID: optionMode, Name: "Mode", Description: "What may be done without asking", Category: "mode", Type: "select", CurrentValue: string(s.executor.Mode())}
	for _, m := range sessionModes() {
		mode.Options = append(mode.Options, optionChoice{m.ID, m.Name, m.Description})
	}
	out := []configOption{mode}
	defer func() {
		if kernel, ok := s.kernelOption(); ok {
			all = append(all, kernel)
		}
		if s.moment != nil {
			all = append(all, s.contextOption())
		}
	}()
	if n := s.namer(); n != nil {
		return append(out, ownModelOption(n))
	}
	chosen, models := s.chosen(), s.agent.models()
	if len(models) == 0 || !s.switchesModels() {
		return out
	}
	model := configOption{ID: optionModel, Name: "Model", Category: "model", Type: "select", CurrentValue: chosen.model}
	for _, m := range models {
		model.Options = append(model.Options, optionChoice{m.ID, m.Name, m.Description})
	}
	if !offers(models, chosen.model) {
		// Editors take only a current value that is offered.
		model.Options = append(model.Options, optionChoice{chosen.model, chosen.model, "in use, but no longer in the settings"})
	}
	out = append(out, model)
	if levels := levelsOf(models, chosen.model); len(levels) > 0 {
		level := configOption{ID: optionLevel, Name: "Thinking", Description: "How much the model thinks before it answers", Category: "thought_level", Type: "select", CurrentValue: chosen.level}
		for _, l := range levels {
			level.Options = append(level.Options, optionChoice{Value: l.ID, Name: l.Name})
		}
		out = append(out, level)
	}
	return out
}

// setOption serves session/set_config_option.
func (a *Agent) setOption(call *jsonrpc.Call) {
	p, s, err := a.addressed(call)
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	id, err := p.text("configId")
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	// Whatever the type says, a string is the id of a value.
	var value *string
	if json.Unmarshal(p["value"], &value) != nil || value == nil {
		call.ReplyNow(nil, invalid("value must be a string, not %s", kindOf(p["value"])))
		return
	}
	if id == optionKernel {
		a.swapKernel(call, s, *value)
		return
	}
	modeBefore := s.executor.Mode()
	if err := s.choose(id, *value); err != nil {
		call.ReplyNow(nil, err)
		return
	}
	call.GoLocal(func(context.Context) (any, error) {
		s.telling.Lock()
		defer s.telling.Unlock()
		s.saveOptions()
		call.Reply(configOptionsResult{s.configOptions()}, nil)
		if now := s.executor.Mode(); now != modeBefore {
			s.update(currentModeUpdate{SessionUpdate: "current_mode_update", CurrentModeID: string(now)})
		}
		return nil, nil
	})
}

// choose sets an option to a value that it offers. It takes effect with the next
// model request or tool call.
func (s *session) choose(id, value string) error {
	s.choosing.Lock()
	defer s.choosing.Unlock()
	for _, o := range s.configOptions() {
		if o.ID != id {
			continue
		}
		for _, c := range o.Options {
			if c.Value == value {
				return s.apply(id, value)
			}
		}
		return invalid("value %q is none of those that option %s offers", clip(value), id)
	}
	return invalid("configId %q is none of the options of this session", clip(id))
}

func (s *session) apply(id, value string) error {
	switch id {
	case optionMode:
		return s.executor.SetMode(tool.Mode(value))
	case optionContext:
		s.moment.SetUse(contextprovider.Use(value))
		return nil
	case optionModel:
		return s.use(value, s.chosen().level)
	default:
		return s.use(s.chosen().model, value)
	}
}

// optionsChanged tells the editor of options and mode when something other than
// set_config_option has changed them.
func (s *session) optionsChanged() {
	s.telling.Lock()
	defer s.telling.Unlock()
	if !s.client.profile.HideConfigOptions {
		s.update(configOptionUpdate{SessionUpdate: "config_option_update", ConfigOptions: s.configOptions()})
	}
}

// setModel serves session/set_model of old clients.
func (a *Agent) setModel(call *jsonrpc.Call) {
	p, s, err := a.addressed(call)
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	id, err := p.text("modelId")
	if err == nil {
		err = s.choose(optionModel, id)
	}
	s.changed(call, err)
}

// changed answers a request that has changed an option by another way than
// set_config_option, or could not, and tells the editor of the options.
func (s *session) changed(call *jsonrpc.Call, err error) {
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	call.GoLocal(func(context.Context) (any, error) {
		s.saveOptions()
		call.ReplyNow(struct{}{}, nil)
		s.optionsChanged()
		return nil, nil
	})
}
