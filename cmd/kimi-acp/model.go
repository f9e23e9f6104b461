package main

import (
	"errors"
	"log/slog"
	"os"
	"slices"

	"kimi-acp/internal/config"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/catalog"
)

// chosenModel gives the model that a person asked for: the default for "", the
// configured one of that id, else one of that name at the default model's server. The
// error says what to set when there is none.
func chosenModel(cfg config.Config, id string) (config.Model, error) {
	if missing := cfg.Missing(); missing != "" {
		return config.Model{}, errors.New(missing)
	}
	m, _ := cfg.Model(cfg.DefaultModel)
	if id == "" {
		return m, nil
	}
	if configured, ok := cfg.Model(id); ok {
		return configured, nil
	}
	m.ID, m.Name, m.DisplayName = id, id, ""
	return m, nil
}

// openModel makes the provider of a chosen model at a level of thinking, "" for the
// usual one. Options may name an HTTP client and a logger. The caller calls done when
// the provider is no longer used; it is nil when there is an error.
func openModel(cfg config.Config, m config.Model, level string, o catalog.Options) (p llm.Provider, done func(), err error) {
	o.Models, o.Default, o.Thinking = cfg.Models, m.ID, cfg.Thinking
	if _, ok := cfg.Model(m.ID); !ok {
		o.Models = append(slices.Clone(cfg.Models), m)
	}
	o.UserAgent = "kimi-acp/" + currentVersion()
	o.CAFiles = certificateFiles()
	c := catalog.New(o)
	if p, err = c.Provider(m.ID, level); err != nil {
		c.Close()
		return nil, nil, err
	}
	return p, c.Close, nil
}

// openRoles makes the providers of the models that have a role. The caller calls done
// afterwards.
func openRoles(cfg config.Config, log *slog.Logger) (r roles, done func()) {
	var ends []func()
	of := func(role, id string) llm.Provider {
		m, ok := cfg.Model(id)
		if !ok {
			return nil
		}
		p, end, err := openModel(cfg, m, "", catalog.Options{Logger: log})
		if err != nil {
			log.Warn("a model cannot be used in its role", "role", role, "error", err)
			return nil
		}
		ends = append(ends, end)
		return p
	}
	r = roles{fallback: of("fallback", cfg.Fallback), small: of("small", cfg.Small), agents: of("agents", cfg.Agents)}
	return r, func() {
		for _, end := range ends {
			end()
		}
	}
}

// certificateFiles names the files of certificate authorities to trust beside the
// system's.
func certificateFiles() []string {
	if f := os.Getenv("SSL_CERT_FILE"); f != "" {
		return []string{f}
	}
	return nil
}

// local tells whether a model answers without a server.
func local(m config.Model) bool {
	return m.Provider.Type == config.TypeScripted || m.Provider.Type == config.TypeEcho
}
