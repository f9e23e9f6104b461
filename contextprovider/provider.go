package contextprovider

import "context"

// Provider knows some facts of the moment.
type Provider interface {
	// Name is what settings and notes call the provider: a short word of small
	// letters. It never varies.
	Name() string
	// Gather gives the facts for a prompt. It is called by one goroutine at a time,
	// and may take longer than the prompt waits: what it gives then is used for the
	// next one. When ctx ends it returns soon. An error's text is told to the model
	// as the reason why the facts are missing; no facts are no error.
	Gather(ctx context.Context, q Query) (Facts, error)
}

// Closer is a Provider that holds on to something, such as watches.
type Closer interface {
	// Close lets go of it and waits for what was started. Gather is not called
	// after it.
	Close()
}

// Query is what a provider is asked with.
type Query struct {
	SessionID string
	Roots     []string // absolute; the first is the working directory
	Prompt    string   // what the user typed; "" while a session warms up
	Mentions  []Mention
	Editor    *EditorState // what editors have told so far, nil when nothing
	// Changed are files that were last known to have changed, absolute, at most 50.
	Changed []string
}

// Focus gives the absolute paths that a prompt is about, the nearest first: the
// active file, what is mentioned, what has changed, what is open.
func (q Query) Focus() []string {
	var all []string
	seen := map[string]bool{"": true}
	add := func(path string) {
		if !seen[path] {
			seen[path] = true
			all = append(all, path)
		}
	}
	if q.Editor != nil {
		add(q.Editor.Active)
	}
	for _, m := range q.Mentions {
		add(m.Path)
	}
	for _, path := range q.Changed {
		add(path)
	}
	if q.Editor != nil {
		for _, d := range q.Editor.Open {
			add(d.Path)
		}
	}
	return all
}

// Use says how often something of the context is told.
type Use string

// The uses, as they stand in settings.
const (
	UseOff    Use = "off"    // never
	UseAuto   Use = "auto"   // when there is something new to tell
	UseAlways Use = "always" // with every prompt
)

// Registration is a provider with its place among the others.
type Registration struct {
	Provider Provider
	// Priority decides between providers that know the same fact: the greater one's
	// is taken.
	Priority int
	// Share is the provider's part of the budget beside the shares of the others, at
	// least 1. What one leaves over goes to those that need more.
	Share int
}
