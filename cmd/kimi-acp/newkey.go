package main

import (
	"os"

	"kimi-acp/internal/config"
	"kimi-acp/internal/obs"
)

// newKey gives what reads a provider's key from the settings anew, since another program
// may have put a new one there. A key counts only for the address that it belongs to; it
// is hidden in logs before anybody else sees it.
func newKey(secrets *obs.Redactor) func(config.Provider) string {
	return func(p config.Provider) string {
		cfg, _ := config.Load(os.Getenv, config.Flags{})
		for _, m := range cfg.Models {
			now := m.Provider
			if now.Name == p.Name && now.Type == p.Type && now.BaseURL == p.BaseURL {
				for _, s := range cfg.Secrets() {
					secrets.Add(s)
				}
				return now.APIKey.Reveal()
			}
		}
		return ""
	}
}
