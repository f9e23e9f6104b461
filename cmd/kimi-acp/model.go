package main

import (
	"net/http"
	"slices"

	"kimi-acp/internal/config"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/openai"
)

// chosenModel gives the model that a person asked for: the default for "", the
// configured one of that id, else one of that name at the default model's server.
func chosenModel(cfg config.Config, id string) (m config.Model, missing string) {
	if missing := cfg.Missing(); missing != "" {
		return config.Model{}, missing
	}
	if id == "" {
		id = cfg.DefaultModel
	}
	if m, ok := cfg.Model(id); ok {
		return m, ""
	}
	m, _ = cfg.Model(cfg.DefaultModel)
	m.ID, m.Name, m.DisplayName = id, id, ""
	return m, ""
}

// chosenProvider makes the provider of a chosen model with a level of thinking, ""
// for what is usual. Missing says what to set when there is none.
func chosenProvider(cfg config.Config, id, level string) (p llm.Provider, missing string) {
	m, missing := chosenModel(cfg, id)
	switch {
	case missing != "":
		return nil, missing
	case level == "":
		return providerOf(m)
	case local(m):
		return nil, "The model " + m.ID + " has no levels of thinking."
	}
	c := openaiConfig(m)
	c.Thinking = openai.Thinking(level)
	provider, err := openai.New(c)
	if err != nil {
		return nil, err.Error()
	}
	return provider, ""
}

// local tells whether a model answers without a server.
func local(m config.Model) bool {
	return m.Provider.Type == config.TypeScripted || m.Provider.Type == config.TypeEcho
}

// openaiConfig says how a model is reached that has a server.
func openaiConfig(m config.Model) openai.Config {
	c := openai.Config{
		BaseURL: m.Provider.BaseURL,
		APIKey:  m.Provider.APIKey.Reveal(),
		Model: llm.Model{
			Name:        m.Name,
			ContextSize: m.ContextSize,
			ImageInput:  slices.Contains(m.Capabilities, config.ImageIn),
			VideoInput:  slices.Contains(m.Capabilities, config.VideoIn),
			Thinking:    slices.Contains(m.Capabilities, config.Thinking),
		},
		UserAgent: "kimi-acp/" + currentVersion(),
		Header:    http.Header{},
	}
	if m.Provider.Type == config.TypeKimi {
		c.Dialect = openai.DialectKimi
	}
	for name, value := range m.Provider.Headers {
		c.Header.Set(name, value)
	}
	return c
}
