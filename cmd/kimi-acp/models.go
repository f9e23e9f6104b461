package main

import (
	"context"
	"sync"
	"time"

	"kimi-acp/acp"
	"kimi-acp/internal/config"
	"kimi-acp/internal/obs"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/catalog"
	"kimi-acp/soul/tool"
)

// models is the catalog that sessions choose from. It follows the settings: what
// has changed in them holds for new sessions and choices, while the models that
// are in use stay as they are.
type models struct {
	log     *obs.Log
	secrets *obs.Redactor

	warming sync.WaitGroup
	ctx     context.Context //nolint:containedctx // the life of what warms connections
	stop    context.CancelFunc

	mu      sync.Mutex
	cfg     config.Config
	current *catalog.Catalog // nil before the first settings
}

func newModels(log *obs.Log, secrets *obs.Redactor) *models {
	m := &models{log: log, secrets: secrets}
	m.ctx, m.stop = context.WithCancel(context.Background())
	return m
}

// use takes settings over.
func (m *models) use(cfg config.Config, warnings []config.Warning) {
	for _, s := range cfg.Secrets() {
		m.secrets.Add(s)
	}
	for _, w := range warnings {
		m.log.Warn(w.String())
	}
	c := catalog.New(catalog.Options{
		Models:    cfg.Models,
		Default:   cfg.DefaultModel,
		Thinking:  cfg.Thinking,
		UserAgent: "kimi-acp/" + currentVersion(),
		CAFiles:   certificateFiles(),
		NewKey:    newKey(m.secrets),
		Logger:    m.log.Logger,
	})
	m.mu.Lock()
	old := m.current
	m.cfg, m.current = cfg, c
	m.mu.Unlock()
	if old != nil {
		old.Close() // its providers can be used on
	}
}

func (m *models) now() (config.Config, *catalog.Catalog) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cfg, m.current
}

// Models lists the models; see acp.Catalog.
func (m *models) Models() []acp.ModelChoice {
	_, c := m.now()
	var out []acp.ModelChoice
	for _, choice := range c.Choices() {
		model := acp.ModelChoice{ID: choice.ID, Name: choice.Name, Description: choice.Description}
		for _, l := range choice.Levels {
			model.Levels = append(model.Levels, acp.ThoughtLevel{ID: l.ID, Name: l.Name})
		}
		out = append(out, model)
	}
	return out
}

// Provider makes a provider; see acp.Catalog.
func (m *models) Provider(modelID, levelID string) (llm.Provider, error) {
	cfg, c := m.now()
	if modelID == "" && hasModels(cfg.Kernel) {
		return nil, nil // nobody asks for it
	}
	return c.Provider(modelID, levelID)
}

// roles are the models that serve a session beside its own; nil where there is none.
type roles struct {
	fallback llm.Provider // answers while the session's fails
	agents   llm.Provider // of the agents that a session starts
	small    llm.Provider // for titles, summaries and judgements
}

// roles makes the providers of the models that have a role.
func (m *models) roles() roles {
	cfg, c := m.now()
	of := func(role, id string) llm.Provider {
		if id == "" {
			return nil
		}
		p, err := c.Provider(id, "")
		if err != nil {
			m.log.Warn("a model cannot be used in its role", "role", role, "error", err)
			return nil
		}
		return p
	}
	return roles{fallback: of("fallback", cfg.Fallback), small: of("small", cfg.Small), agents: of("agents", cfg.Agents)}
}

// settings is what new sessions begin with.
func (m *models) settings() acp.Settings {
	cfg, _ := m.now()
	missing := cfg.Missing()
	if hasModels(cfg.Kernel) {
		missing = ""
	}
	return acp.Settings{Missing: missing, Mode: tool.Mode(cfg.DefaultMode), DMail: cfg.DMail}
}

// policy is what the settings say now of what may be done.
func (m *models) policy() config.Policy {
	cfg, _ := m.now()
	return cfg.Policy
}

// warmFor bounds the opening of a connection ahead of its use.
const warmFor = 10 * time.Second

// warm opens the connection to the default model's server, so that the first
// prompt does not wait for it.
func (m *models) warm() {
	cfg, c := m.now()
	m.warming.Go(func() {
		ctx, stop := context.WithTimeout(m.ctx, warmFor)
		defer stop()
		c.Warm(ctx, cfg.DefaultModel)
	})
}

func (m *models) close() {
	m.stop()
	m.warming.Wait()
	if _, c := m.now(); c != nil {
		c.Close()
	}
}
