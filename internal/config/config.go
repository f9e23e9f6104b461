// Package config holds the settings of the program: read once at the start, checked,
// and passed down as a value.
//
// It knows names of variables, defaults and ranges. It must not know what the settings
// are used for: it opens no connection, starts nothing and speaks to no model.
package config

import "path/filepath"

// Provider types.
const (
	TypeOpenAI   = "openai"         // anything that speaks OpenAI chat completions
	TypeScripted = "_scripted_echo" // answers read from a file, without a network
)

// Defaults.
const (
	DefaultContextSize = 128_000 // tokens, when nothing says how many the model takes
	DefaultMaxSteps    = 1000    // model calls in a turn
	DefaultMaxRetries  = 3       // attempts for one model call, the first included
)

// Config is the settings. The zero value is not useful; Load makes one.
type Config struct {
	// ShareDir is the folder for everything kept between runs, an absolute path or
	// empty when there is no place for it: then nothing is kept.
	ShareDir   string
	Debug      bool // log the details too
	Provider   Provider
	MaxSteps   int // at least 1
	MaxRetries int // at least 1
}

// Provider says which model is spoken to, and where. Key and address come from the same
// source, so that a key goes only to the address that it was given for.
type Provider struct {
	Type        string // TypeOpenAI or TypeScripted; empty when no model is set up
	BaseURL     string // http or https, without a slash at the end
	APIKey      Secret // may be empty: servers on the own machine often need none
	Model       string
	ContextSize int    // tokens that the model takes, prompt and answer together
	Scripts     string // path of the answers of TypeScripted
}

// LogDir is the folder for logs, empty if nothing is kept.
func (c Config) LogDir() string {
	if c.ShareDir == "" {
		return ""
	}
	return filepath.Join(c.ShareDir, "logs")
}

// Load reads the settings from their sources. They come in this order, and the later
// one wins: the defaults, then the environment. getenv gives a variable's value and
// the empty text for one that is not set, like os.Getenv.
//
// Load does not fail: a value that cannot be used is left out, and a Warning says so.
func Load(getenv func(name string) string) (Config, []Warning) {
	env := environment{getenv: getenv}
	c := merge(defaults(), env.read())
	return c, env.warnings
}

// layer is what one source says. A zero field is one that it does not speak of. A
// provider is taken whole or not at all: its parts belong together.
type layer struct {
	shareDir   string
	debug      bool
	provider   *Provider
	maxSteps   int
	maxRetries int
}

func defaults() layer {
	return layer{maxSteps: DefaultMaxSteps, maxRetries: DefaultMaxRetries}
}

// merge lays the layers over each other, a later one over an earlier one.
func merge(layers ...layer) Config {
	var c Config
	for _, l := range layers {
		if l.shareDir != "" {
			c.ShareDir = l.shareDir
		}
		if l.debug {
			c.Debug = true
		}
		if l.provider != nil {
			c.Provider = *l.provider
		}
		if l.maxSteps != 0 {
			c.MaxSteps = l.maxSteps
		}
		if l.maxRetries != 0 {
			c.MaxRetries = l.maxRetries
		}
	}
	return c
}
