package catalog

import (
	"fmt"
	"net/url"
	"strings"

	"kimi-acp/internal/config"
)

// maxListed bounds how many models are offered that only servers know.
const maxListed = 200

// Choice is a model as people choose it.
type Choice struct {
	ID          string  // for Provider; the same in every run, as long as the settings are
	Name        string  // for people
	Description string  // one line: where it is, how much it takes, what it can do
	Levels      []Level // of thinking, the default first; nil: there is nothing to choose
}

// Level is an amount of thinking.
type Level struct {
	ID   string // for Provider
	Name string // for people
}

// Choices gives the models that can be chosen: the default one, then the others of
// the settings, then up to 200 that only servers list, by name. Their IDs are the
// names at the provider, after the provider's own name and a slash if there are
// several providers.
func (c *Catalog) Choices() []Choice {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.choices()
}

// choices gives the choices; mu is held.
func (c *Catalog) choices() []Choice {
	out := make([]Choice, len(c.models))
	for i := range c.models {
		m := &c.models[i]
		out[i] = Choice{ID: m.ID, Name: m.DisplayName, Description: m.describe(), Levels: m.levels(c.opts.Thinking)}
		if m.DisplayName == "" {
			out[i].Name = m.ID
		}
	}
	return out
}

func (m *model) describe() string {
	switch m.Provider.Type {
	case config.TypeScripted:
		return "answers from a file"
	case config.TypeEcho:
		return "answers with what it was asked"
	}
	where := m.Name
	if u, err := url.Parse(m.Provider.BaseURL); err == nil && u.Host != "" {
		where += " at " + u.Host
	}
	facts := []string{where, fmt.Sprintf("%dk tokens", m.call.ContextSize/1000)}
	for _, f := range []struct {
		has  bool
		name string
	}{{m.call.ImageInput, "images"}, {m.call.VideoInput, "video"}, {m.call.Thinking, "thinking"}} {
		if f.has {
			facts = append(facts, f.name)
		}
	}
	return strings.Join(facts, " · ")
}
