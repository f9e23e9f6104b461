package acp

import (
	"slices"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
)

// Catalog says which models a session can use. It may be called by several
// goroutines at once and does not wait for the network.
type Catalog interface {
	// Models lists the models, the default first. The list may grow while the
	// program runs.
	Models() []ModelChoice
	// Provider makes the provider of a model with a thinking level. An id that
	// Models does not list is an error that a person can read.
	Provider(modelID, levelID string) (llm.Provider, error)
}

// ModelChoice is a model as an editor offers it.
type ModelChoice struct {
	ID          string
	Name        string
	Description string
	Levels      []ThoughtLevel // the default first; none: the model's thinking cannot be chosen
}

// ThoughtLevel says how much a model thinks.
type ThoughtLevel struct{ ID, Name string }

// choice is what a session uses.
type choice struct{ model, level string }

func (a *Agent) models() []ModelChoice {
	if a.opts.Catalog == nil {
		return nil
	}
	return a.opts.Catalog.Models()
}

func levelsOf(models []ModelChoice, id string) []ThoughtLevel {
	for _, m := range models {
		if m.ID == id {
			return m.Levels
		}
	}
	return nil
}

// offers reports whether a model is among those that can be chosen.
func offers(models []ModelChoice, id string) bool {
	return slices.ContainsFunc(models, func(m ModelChoice) bool { return m.ID == id })
}

// chosen is the model and the level that the session uses.
func (s *session) chosen() choice {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.choice
}

// switchesModels tells whether the session's soul takes other models. One in another
// program has its own.
func (s *session) switchesModels() bool {
	_, ok := s.mind().(soul.ModelSwitcher)
	return ok
}

// namer is the session's soul where that has models of its own to choose from, else nil.
func (s *session) namer() soul.ModelNamer {
	if n, ok := s.mind().(soul.ModelNamer); ok && len(n.ModelNames()) > 0 {
		return n
	}
	return nil
}

// ownModelOption is the option of a soul that has models of its own.
func ownModelOption(n soul.ModelNamer) configOption {
	o := configOption{ID: optionModel, Name: "Model", Description: "Of the kernel, which is started anew for another one", Category: "model", Type: "select", CurrentValue: n.ModelName()}
	for _, name := range n.ModelNames() {
		o.Options = append(o.Options, optionChoice{Value: name, Name: name})
	}
	return o
}

// nameModel has a soul use one of its own models.
func (s *session) nameModel(n soul.ModelNamer, name string) error {
	if err := n.NameModel(name); err != nil {
		return invalid("%s", err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kernelModel = name
	return nil
}

// use changes model and level. A level that the model does not have becomes its
// default.
func (s *session) use(modelID, levelID string) error {
	if n := s.namer(); n != nil {
		return s.nameModel(n, modelID)
	}
	switcher, ok := s.mind().(soul.ModelSwitcher)
	if !ok {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "This session's kernel cannot change its model"}
	}
	c := s.agent.fitting(modelID, levelID)
	if c.model != modelID { // the default instead of it is not what was asked for
		return invalid("the model %q is no longer in the settings", clip(modelID))
	}
	provider, err := s.agent.opts.Catalog.Provider(c.model, c.level)
	if err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "The model cannot be used: " + err.Error()}
	}
	switcher.UseModel(provider)
	s.executor.SetImages(provider.Model().ImageInput)
	s.mu.Lock()
	s.choice = c
	s.mu.Unlock()
	return nil
}

// provider makes the provider of a choice; nil without a catalog.
func (a *Agent) provider(c choice) (llm.Provider, error) {
	if a.opts.Catalog == nil {
		return nil, nil
	}
	return a.opts.Catalog.Provider(c.model, c.level)
}

// fitting is a choice of what there is: an unknown model becomes the default, a
// level that the model does not have its default.
func (a *Agent) fitting(modelID, levelID string) choice {
	models := a.models()
	if len(models) == 0 {
		return choice{}
	}
	i := max(slices.IndexFunc(models, func(m ModelChoice) bool { return m.ID == modelID }), 0)
	c := choice{model: models[i].ID}
	for j, l := range models[i].Levels {
		if j == 0 || l.ID == levelID {
			c.level = l.ID
		}
	}
	return c
}
