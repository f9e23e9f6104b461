package config

import "slices"

// draft is the settings while the sources are laid over each other, the weakest first.
type draft struct {
	config   Config
	sources  []source
	standIn  choice // the fallback model
	small    choice // the model for small tasks
	agents   choice // the model of agents that a session starts
	warnings warnings
}

// source is what one source says of models.
type source struct {
	kimiCLI   bool   // kimi-cli's own file, to which its variables apply
	fallback  choice // the default model
	providers map[string]*provider
	models    []entry // in their order
}

// choice is a model that a source names for a purpose.
type choice struct {
	id string  // empty: none
	at Warning // where it stands; What is empty
}

// provider is a provider as a source describes it.
type provider struct {
	Provider
	signIn   bool   // the key is to come from signing in, which is not done here
	unusable string // why no model of it can be used; empty: they can
}

// entry is a model as a source describes it.
type entry struct {
	model        Model   // without its provider
	provider     string  // name
	reasoningKey *string // instead of the provider's
	at           Warning // where it stands; What is empty
}

// resolve finds the providers of the models and puts the models into their order.
func (d *draft) resolve() {
	d.config.KimiModels = d.kimiModels()
	usable := map[string]bool{}
	var all []Model
	for i := len(d.sources) - 1; i >= 0; i-- {
		for _, e := range d.sources[i].models {
			m, problem := d.model(i, e)
			switch {
			case usable[m.ID]: // a stronger source has said what it is
			case problem != "":
				d.complain(e.at, "the model "+quote(m.ID)+" is left out: "+problem)
			case len(all) >= maxModels:
				d.complain(e.at, "the model "+quote(m.ID)+" is left out: there are too many models")
			default:
				usable[m.ID] = true
				all = append(all, m)
			}
		}
	}
	chosen := d.choose(usable)
	switch id := d.standIn.id; {
	case usable[id]:
		d.config.Fallback = id
	case id != "":
		d.complain(d.standIn.at, "there is no usable model "+quote(id)+" to fall back on; none is used")
	}
	switch id := d.small.id; {
	case usable[id]:
		d.config.Small = id
	case id != "":
		d.complain(d.small.at, "there is no usable model "+quote(id)+" for small tasks; the session's own does them")
	}
	switch id := d.agents.id; {
	case usable[id]:
		d.config.Agents = id
	case id != "":
		d.complain(d.agents.at, "there is no usable model "+quote(id)+" for the agents of a session; they have the session's own")
	}
	if len(all) == 0 {
		return
	}
	first := max(slices.IndexFunc(all, func(m Model) bool { return m.ID == chosen }), 0)
	d.config.DefaultModel = all[first].ID
	d.config.Models = slices.Concat(all[first:first+1], all[:first], all[first+1:])
}

// kimiModels names the models of kimi-cli's own file. It may be signed in where this
// program is not, so all of them count.
func (d *draft) kimiModels() (names []string) {
	for _, s := range d.sources {
		if !s.kimiCLI {
			continue
		}
		for _, e := range s.models {
			if e.model.ID == s.fallback.id {
				names = slices.Insert(names, 0, e.model.ID)
			} else if len(names) < maxModels {
				names = append(names, e.model.ID)
			}
		}
	}
	return names
}

// model completes a model of a source by its provider, which is looked for in the
// source itself and then in the weaker ones.
func (d *draft) model(from int, e entry) (m Model, problem string) {
	m = e.model
	if e.provider == "" {
		return m, "it names no provider"
	}
	for i := from; i >= 0; i-- {
		p, ok := d.sources[i].providers[e.provider]
		if !ok {
			continue
		}
		m.Provider = p.Provider
		if e.reasoningKey != nil {
			m.Provider.ReasoningKey = *e.reasoningKey
		}
		switch {
		case p.problem() != "":
			return m, "its provider " + quote(e.provider) + " " + p.problem()
		case m.Name == "" && p.Type != TypeEcho && p.Type != TypeScripted:
			return m, "it does not say the model's name at the provider"
		}
		return m, ""
	}
	return m, "there is no provider " + quote(e.provider)
}

// choose gives the default model: the one that the strongest source names, of those that
// can be used.
func (d *draft) choose(usable map[string]bool) string {
	for _, s := range slices.Backward(d.sources) {
		switch id := s.fallback.id; {
		case usable[id]:
			return id
		case id != "":
			d.complain(s.fallback.at, "there is no usable model "+quote(id)+" to be the default; it is passed over")
		}
	}
	return ""
}

func (d *draft) complain(at Warning, what string) {
	at.What = what
	d.warnings.add(at)
}
