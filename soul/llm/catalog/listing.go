package catalog

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"kimi-acp/internal/config"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/openai"
)

const (
	listFor    = 10 * time.Minute // how long a list counts as new
	retryAfter = time.Minute      // before a list that could not be had is asked for again
)

// endpoint is a server with an account, and what it lists. What stands after the
// provider is guarded by the catalog's mu.
type endpoint struct {
	key      endpointKey
	label    string // the provider's name, or one like it if that is taken
	provider config.Provider
	circuit  llm.Circuit // shared by the providers of all its models; locks itself

	list     []openai.ModelInfo
	next     time.Time          // when to ask again
	fetching chan struct{}      // closed when the asking has ended; nil: nobody asks
	cancel   context.CancelFunc // ends the asking
}

// endpointKey tells endpoints apart: another account may have other models.
type endpointKey struct {
	name, typ, baseURL string
	apiKey             config.Secret
}

// keyOf gives the endpoint of a provider; false: it has no network.
func keyOf(p config.Provider) (endpointKey, bool) {
	network := p.Type == config.TypeKimi || p.Type == config.TypeOpenAI
	return endpointKey{p.Name, p.Type, p.BaseURL, p.APIKey}, network
}

// freeLabel gives a label that no endpoint has: files may use a name for several
// providers.
func (c *Catalog) freeLabel(name string) string {
	label := name
	for n := 2; slices.ContainsFunc(c.endpoints, func(e *endpoint) bool { return e.label == label }); n++ {
		label = fmt.Sprintf("%s-%d", name, n)
	}
	return label
}

// endpoint gives the known endpoint of a key, nil if there is none.
func (c *Catalog) endpoint(key endpointKey) *endpoint {
	for _, e := range c.endpoints {
		if e.key == key {
			return e
		}
	}
	return nil
}

// Warm prepares the first call of a model: it opens a connection to its server,
// and asks for the server's list of models if that was not done in the last ten
// minutes. It returns when that is done or ctx ends, after which the list is still
// waited for in the background. Failures cost nothing and are logged.
func (c *Catalog) Warm(ctx context.Context, modelID string) {
	c.mu.Lock()
	p, listed := c.prepare(ctx, modelID)
	c.mu.Unlock()
	switch {
	case listed != nil: // which warms the connection too
		select {
		case <-listed:
		case <-ctx.Done():
		}
	case p != nil:
		p.Warm(ctx)
	}
}

// prepare begins to ask for the list of a model's server if it is time; mu is
// held. It gives what to wait for, or else the provider to warm, if any.
func (c *Catalog) prepare(ctx context.Context, modelID string) (*openai.Provider, <-chan struct{}) {
	m, err := c.find(modelID)
	if err != nil || m.endpoint == nil || c.closed {
		return nil, nil
	}
	e := m.endpoint
	if e.fetching != nil {
		return nil, e.fetching
	}
	p, err := c.dial(m, openai.ThinkingUnset)
	if err != nil {
		return nil, nil // Provider says why
	}
	if time.Now().Before(e.next) {
		return p, nil
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	e.fetching, e.cancel = done, cancel
	c.fetches.Go(func() { // ends with Close, or with the limit of Models
		defer cancel()
		changed := c.fetch(ctx, e, p)
		close(done)
		if changed && c.opts.Changed != nil {
			c.opts.Changed()
		}
	})
	return nil, done
}

// fetch asks for a server's list and tells whether the choices changed.
func (c *Catalog) fetch(ctx context.Context, e *endpoint, p *openai.Provider) (changed bool) {
	list, err := p.Models(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	e.fetching, e.cancel = nil, nil
	if err != nil {
		e.next = time.Now().Add(retryAfter)
		c.opts.Logger.Debug("the list of models cannot be had", "provider", e.provider.Name, "error", err)
		return false
	}
	e.next = time.Now().Add(listFor)
	e.list = list
	before := c.choices()
	c.models = c.choose()
	return !reflect.DeepEqual(before, c.choices())
}

// choose puts together what can be chosen from the settings and the lists; mu is
// held, or nobody else knows the catalog yet.
func (c *Catalog) choose() []model {
	var out []model
	ids := map[string]bool{}
	for _, m := range c.opts.Models {
		var e *endpoint
		var info openai.ModelInfo
		if key, ok := keyOf(m.Provider); ok {
			e = c.endpoint(key)
			info = e.listed(m.Name)
		}
		ids[m.ID] = true
		out = append(out, complete(m, info, e))
	}
	configured := out
	var further []model
	for _, e := range c.endpoints {
		for _, info := range e.list {
			known := slices.ContainsFunc(configured, func(m model) bool { return m.endpoint == e && m.Name == info.ID })
			id := c.listedID(e, info.ID, ids)
			if known || id == "" || !chats(info) {
				continue
			}
			ids[id] = true
			further = append(further, complete(config.Model{ID: id, Name: info.ID, Provider: e.provider}, info, e))
		}
	}
	slices.SortStableFunc(further, func(a, b model) int { return strings.Compare(a.ID, b.ID) })
	return append(out, further[:min(len(further), maxListed)]...)
}

// listed gives what the endpoint's list says of a model: nothing, if it is not there.
func (e *endpoint) listed(name string) openai.ModelInfo {
	for _, info := range e.list {
		if info.ID == name {
			return info
		}
	}
	return openai.ModelInfo{}
}

// listedID gives the ID of a model that only its server knows, "" if all that fit
// are taken. It must not depend on which list comes first.
func (c *Catalog) listedID(e *endpoint, name string, taken map[string]bool) string {
	full := e.label + "/" + name
	if len(c.endpoints) == 1 && !taken[name] {
		return name
	}
	if taken[full] {
		return ""
	}
	return full
}

// chats tells whether a listed model is one to talk to. Most lists do not say, so
// the words in the names of other models decide.
func chats(info openai.ModelInfo) bool {
	name := strings.ToLower(info.ID)
	return info.Chat && !slices.ContainsFunc(notForChat(), func(word string) bool { return strings.Contains(name, word) })
}

func notForChat() []string {
	return []string{"embed", "rerank", "whisper", "tts", "transcribe", "speech", "realtime", "-audio", "moderation", "dall-e", "-image", "imagen", "sora"}
}
