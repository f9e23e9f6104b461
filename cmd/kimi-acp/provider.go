package main

import (
	"net/http"
	"slices"

	"kimi-acp/internal/config"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/openai"
	"kimi-acp/soul/llm/scripted"
)

// newProvider makes the provider of the default model, or says what is missing for one.
func newProvider(cfg config.Config) (p llm.Provider, missing string) {
	if missing := cfg.Missing(); missing != "" {
		return nil, missing
	}
	m, _ := cfg.Model(cfg.DefaultModel)
	return providerOf(m)
}

// providerOf makes the provider of a model, or says what is wrong with what it needs.
func providerOf(m config.Model) (p llm.Provider, problem string) {
	model := llm.Model{
		Name:        m.Name,
		ContextSize: m.ContextSize,
		ImageInput:  slices.Contains(m.Capabilities, config.ImageIn),
		VideoInput:  slices.Contains(m.Capabilities, config.VideoIn),
		Thinking:    slices.Contains(m.Capabilities, config.Thinking),
	}
	switch m.Provider.Type {
	case config.TypeEcho:
		return scripted.NewEcho(model), ""
	case config.TypeScripted:
		scripts, err := scripted.Load(m.Provider.Scripts)
		if err != nil {
			return nil, err.Error()
		}
		return scripted.New(scripts, model), ""
	}
	header := http.Header{}
	for name, value := range m.Provider.Headers {
		header.Set(name, value)
	}
	provider, err := openai.New(openai.Config{
		BaseURL:   m.Provider.BaseURL,
		APIKey:    m.Provider.APIKey.Reveal(),
		Model:     model,
		UserAgent: "kimi-acp/" + currentVersion(),
		Header:    header,
	})
	if err != nil {
		return nil, err.Error()
	}
	return provider, ""
}
