package main

import (
	"kimi-acp/internal/config"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/openai"
	"kimi-acp/soul/llm/scripted"
)

// newProvider makes the model's provider, or says what is missing for one.
func newProvider(cfg config.Config) (p llm.Provider, missing string) {
	if missing := cfg.Missing(); missing != "" {
		return nil, missing
	}
	model := llm.Model{Name: cfg.Provider.Model, ContextSize: cfg.Provider.ContextSize, ImageInput: true, Thinking: true}
	if cfg.Provider.Type == config.TypeScripted {
		scripts, err := scripted.Load(cfg.Provider.Scripts)
		if err != nil {
			return nil, err.Error()
		}
		return scripted.New(scripts, model), ""
	}
	provider, err := openai.New(openai.Config{
		BaseURL:   cfg.Provider.BaseURL,
		APIKey:    cfg.Provider.APIKey.Reveal(),
		Model:     model,
		UserAgent: "kimi-acp/" + currentVersion(),
	})
	if err != nil {
		return nil, err.Error()
	}
	return provider, ""
}
