// Package catalog knows which models a session can choose: those of the settings,
// completed by what their servers list. It makes the providers for them, which
// share connections.
//
// It must not know sessions, editors or files of settings, and it keeps nothing
// beyond the process: a server's list is asked for once it is needed, beside other
// work, and if it cannot be had the settings alone count.
package catalog

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"kimi-acp/internal/config"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/openai"
	"kimi-acp/soul/llm/scripted"
)

// Errors of Provider, to be matched: a choice that was saved may have become
// stale, and there is the default to go back to.
var (
	ErrUnknownModel = errors.New("there is no such model")
	ErrUnknownLevel = errors.New("the model has no such level of thinking")
)

// maxNamed bounds how many models an error names.
const maxNamed = 10

// Options are what a Catalog is made of.
type Options struct {
	Models    []config.Model // with distinct IDs, of the types that config knows
	Default   string         // ID of the model that comes first; "" or unknown: the first of Models
	Thinking  *bool          // whether models think unless told otherwise; nil: they do
	UserAgent string         // for every request

	// NewKey reads a provider's key anew, when a server has not accepted the one that it
	// had; "": there is none. Calls may come side by side. Nil: keys stay as they are.
	NewKey func(config.Provider) string

	// HTTPClient makes all requests. Nil: one of the catalog's own, which trusts
	// CAFiles too. A file that cannot be used is logged and passed over.
	HTTPClient *http.Client
	CAFiles    []string // as in openai.TransportOptions

	Logger *slog.Logger // nil: none
	// Changed is called, if not nil, when Choices gives something else than before.
	// Calls may come side by side, from goroutines of the catalog: it must not call
	// Close.
	Changed func()
}

// Catalog is the models that can be chosen. Its methods may be called side by side.
type Catalog struct {
	opts   Options
	client *http.Client
	own    *http.Transport // nil: the client is the caller's

	fetches sync.WaitGroup // waited for by Close

	mu        sync.Mutex
	closed    bool                    // guarded by mu: no fetch begins any more
	endpoints []*endpoint             // guarded by mu, in the order of the models
	models    []model                 // guarded by mu: what can be chosen, in order
	scripted  map[string]llm.Provider // guarded by mu: by ID, since scripts are used up
}

// model is a model that can be chosen.
type model struct {
	config.Model
	always   bool      // cannot answer without thinking
	call     llm.Model // what is known of it
	endpoint *endpoint // nil: it has no network
}

// New makes a catalog; nothing is sent. The caller closes it.
func New(o Options) *Catalog {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Catalog{opts: o, client: o.HTTPClient, scripted: map[string]llm.Provider{}}
	if c.client == nil {
		c.own = newTransport(o)
		c.client = &http.Client{Transport: c.own}
	}
	c.opts.Models = defaultFirst(o.Models, o.Default)
	for _, m := range c.opts.Models {
		if key, ok := keyOf(m.Provider); ok && c.endpoint(key) == nil {
			c.endpoints = append(c.endpoints, &endpoint{key: key, label: c.freeLabel(m.Provider.Name), provider: m.Provider})
		}
	}
	c.models = c.choose()
	return c
}

// newTransport makes the catalog's own transport, without the files that cannot be
// used.
func newTransport(o Options) *http.Transport {
	var files []string
	t, _ := openai.NewTransport(openai.TransportOptions{}) // only files can be wrong
	for _, name := range o.CAFiles {
		with, err := openai.NewTransport(openai.TransportOptions{CAFiles: append(files, name)})
		if err != nil {
			o.Logger.Warn("a file of certificate authorities is passed over", "error", err)
			continue
		}
		files = append(files, name)
		t = with
	}
	return t
}

// Close stops what is asked in the background, waits for it, and closes the
// catalog's own connections. Providers can be used on. It may be called again.
func (c *Catalog) Close() {
	c.mu.Lock()
	c.closed = true
	for _, e := range c.endpoints {
		if e.cancel != nil {
			e.cancel()
		}
	}
	c.mu.Unlock()
	c.fetches.Wait()
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// Provider makes the provider of a model at a level of thinking; nothing is sent.
// An empty modelID is the default model, an empty levelID the model's default. Its
// error wraps ErrUnknownModel or ErrUnknownLevel and says what there is, or says
// what in the settings cannot be used.
func (c *Catalog) Provider(modelID, levelID string) (llm.Provider, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, err := c.find(modelID)
	if err != nil {
		return nil, err
	}
	levels := m.levels(c.opts.Thinking)
	if levelID == "" && levels != nil {
		levelID = levels[0].ID
	}
	if levelID != "" && !slices.ContainsFunc(levels, func(l Level) bool { return l.ID == levelID }) {
		return nil, unknownLevel(m, levelID, levels)
	}
	switch m.Provider.Type {
	case config.TypeEcho:
		return scripted.NewEcho(m.call), nil
	case config.TypeScripted:
		return c.scriptedProvider(m)
	}
	p, err := c.dial(m, m.thinking(levelID))
	if err != nil {
		return nil, fmt.Errorf("the model %s: %w", m.ID, err)
	}
	return p, nil
}

// find gives the model of an ID; mu is held. What no ID is may be a name at the
// provider, with or without the provider's before it: as listed models have them.
func (c *Catalog) find(id string) (*model, error) {
	if id == "" && len(c.models) > 0 {
		return &c.models[0], nil
	}
	for _, same := range []func(*model) bool{
		func(m *model) bool { return m.ID == id },
		func(m *model) bool { return m.Name == id },
		func(m *model) bool { return m.endpoint != nil && m.endpoint.label+"/"+m.Name == id },
	} {
		for i := range c.models {
			if same(&c.models[i]) {
				return &c.models[i], nil
			}
		}
	}
	return nil, c.unknownModel(id)
}

// unknownModel says which models there are; mu is held.
func (c *Catalog) unknownModel(id string) error {
	if len(c.models) == 0 {
		return fmt.Errorf("%w as %q: none is set up", ErrUnknownModel, id)
	}
	var names []string
	for _, m := range c.models[:min(len(c.models), maxNamed)] {
		names = append(names, m.ID)
	}
	more := ""
	if n := len(c.models) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("%w as %q; there are %s%s", ErrUnknownModel, id, strings.Join(names, ", "), more)
}

func unknownLevel(m *model, id string, levels []Level) error {
	var ids []string
	for _, l := range levels {
		ids = append(ids, l.ID)
	}
	has := "none to choose"
	if ids != nil {
		has = strings.Join(ids, ", ")
	}
	return fmt.Errorf("%w as %q: %s has %s", ErrUnknownLevel, id, m.ID, has)
}

// scriptedProvider gives the one provider of a script; mu is held.
func (c *Catalog) scriptedProvider(m *model) (llm.Provider, error) {
	if p := c.scripted[m.ID]; p != nil {
		return p, nil
	}
	scripts, err := scripted.Load(m.Provider.Scripts)
	if err != nil {
		return nil, err
	}
	p := scripted.New(scripts, m.call)
	c.scripted[m.ID] = p
	return p, nil
}

// dial makes a provider on the shared connections.
func (c *Catalog) dial(m *model, thinking openai.Thinking) (*openai.Provider, error) {
	cfg := openai.Config{
		BaseURL:      m.Provider.BaseURL,
		APIKey:       m.Provider.APIKey.Reveal(),
		Model:        m.call,
		Thinking:     thinking,
		ReasoningKey: m.Provider.ReasoningKey,
		HTTPClient:   c.client,
		UserAgent:    c.opts.UserAgent,
		Header:       http.Header{},
	}
	if read := c.opts.NewKey; read != nil {
		provider := m.Provider
		cfg.NewKey = func() string { return read(provider) }
	}
	if m.endpoint != nil {
		cfg.Circuit = &m.endpoint.circuit
	}
	if m.Provider.Type == config.TypeKimi {
		cfg.Dialect = openai.DialectKimi
	}
	if cfg.ReasoningKey == "" {
		cfg.ReasoningKey = openai.NoReasoningKey
	}
	for name, value := range m.Provider.Headers {
		cfg.Header.Set(name, value)
	}
	return openai.New(cfg)
}

// defaultFirst gives the models with the default one in front.
func defaultFirst(models []config.Model, id string) []config.Model {
	out := slices.Clone(models)
	i := slices.IndexFunc(out, func(m config.Model) bool { return m.ID == id })
	if i > 0 {
		first := out[i]
		copy(out[1:i+1], out[:i])
		out[0] = first
	}
	return out
}
