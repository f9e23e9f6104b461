// Package config holds the settings of the program: read from files, variables and
// flags, checked, laid over each other, and passed down as a value.
//
// It knows names of files, keys and variables, defaults and ranges, and has package
// policy read its rules. It must not know what the settings are used for: it opens no connection, speaks to no model, and never
// writes a file.
package config

import (
	"path/filepath"
	"strings"
)

// Provider types.
const (
	TypeKimi     = "kimi"           // Moonshot's dialect of chat completions
	TypeOpenAI   = "openai"         // anything else that speaks OpenAI chat completions
	TypeScripted = "_scripted_echo" // answers read from a file, without a network
	TypeEcho     = "_echo"          // answers with what it was asked, without a network
)

// Capabilities of a model.
const (
	ImageIn        = "image_in"        // takes images
	VideoIn        = "video_in"        // takes videos
	Thinking       = "thinking"        // can think before it answers
	AlwaysThinking = "always_thinking" // cannot answer without thinking
)

// Modes in which a session can begin.
const (
	ModeDefault     = "default"
	ModeAcceptEdits = "accept-edits"
	ModePlan        = "plan"
	ModeYolo        = "yolo"
)

// EnvironmentProvider is the name of the provider that variables describe.
const EnvironmentProvider = "environment"

// Config is the settings. The zero value is not useful; Load makes one. It is a value
// that is never changed once it has been handed out.
type Config struct {
	// ShareDir is the folder for everything kept between runs, an absolute path or
	// empty when there is no place for it: then nothing is kept.
	ShareDir     string
	Debug        bool    // log the details too
	Models       []Model // the usable ones with distinct IDs: the default first, then by source and place in the file
	DefaultModel string  // ID of Models[0]; empty when there is none
	Small        string  // ID of the model for titles, summaries and judgements; empty: the session's own
	Agents       string  // ID of the model of agents that a session starts; empty: the session's own
	Fallback     string  // ID of the model that answers while the provider of another one fails; empty: none
	// KimiModels are the IDs of the models of kimi-cli's own file, usable here or not, the
	// default first.
	KimiModels  []string
	Thinking    *bool  // whether models that can think do; nil: not said
	DefaultMode string // one of the modes; empty: ModeDefault
	DMail       bool   // the model may go back to an earlier point of its turn
	// AgentFile is the path of the file of the agent that sessions have: absolute, beginning
	// with ~, or within the project; empty: they have the one that comes with the program.
	AgentFile string
	// NoPlanReview has no agent look at what the agents of a plan say they have done.
	NoPlanReview bool
	Loop         Loop     // how long a turn may become
	Services     Services // web services that tools use
	Hooks        []Hook   // those of all files, in their order
	Goal         Goal     // how long a goal is worked on
	Skills       Skills   // where skills are looked for
	Context      Context  // what the model is told of editor and project
	// LanguageServers are those of the settings, in the order of the file.
	LanguageServers []LanguageServer
	Policy          Policy // what may be done without asking

	// Kernel is which kernel sessions run in: builtin, python, rust, auto, or a command
	// line; empty: not said.
	Kernel string

	// lacks says why variables that begin to describe a model do not make one.
	lacks string
}

// Model is a model that can be chosen.
type Model struct {
	ID           string   // what users choose it by
	Name         string   // its name at the provider; empty for TypeEcho only
	DisplayName  string   // for people; may be empty
	ContextSize  int      // tokens that it takes, prompt and answer together; 4000 to 100000000
	Capabilities []string // of those above, in their order
	Provider     Provider
}

// Provider says where a model is spoken to. Key, headers and address come from the same
// source, so that a key goes only to the address that it was given for.
type Provider struct {
	Name         string            // in its file, or EnvironmentProvider
	Type         string            // one of the provider types
	BaseURL      string            // http or https, without a slash at the end; empty for types without a network
	APIKey       Secret            // may be empty: servers on the own machine often need none
	Headers      map[string]string // further header fields, which may hold secrets: see Config.Secrets
	Scripts      string            // path of the answers of TypeScripted
	ReasoningKey string            // field of a message that holds thinking; empty: none
}

// Loop bounds what a turn does.
type Loop struct {
	MaxStepsPerTurn        int     // model calls in a turn; 1 to 1000000
	MaxRetriesPerStep      int     // attempts for one model call, the first included; 1 to 100
	MaxRalphIterations     int     // further turns on the same prompt; 0 to 1000000, or -1 for no end
	ReservedContextSize    int     // tokens kept free for the answer; 1000 to 100000000
	CompactionTriggerRatio float64 // part of the context at which it is compacted; 0.5 to 0.99
}

// Services are the web services that tools use, nil for those that are not set up.
type Services struct {
	MoonshotSearch *Service
	MoonshotFetch  *Service
}

// Service is a web service. Its key, too, goes only to its own address.
type Service struct {
	BaseURL string // http or https, without a slash at the end
	APIKey  Secret
	Headers map[string]string
}

// Goal bounds what is done for a goal before the user is asked again.
type Goal struct {
	Rounds int // 1 to 1000
	Tokens int // of answers and questions together; 0: no bound
}

// Skills says where skills are looked for.
type Skills struct {
	FirstOnly bool     // of the folders of several programs at one place, the first that is there counts alone
	Extra     []string // further folders: absolute, beginning with ~, or within the project; at most 100
}

// LogDir is the folder for logs, empty if nothing is kept.
func (c Config) LogDir() string {
	if c.ShareDir == "" {
		return ""
	}
	return filepath.Join(c.ShareDir, "logs")
}

// Model gives the model of an ID, and whether there is one.
func (c Config) Model(id string) (Model, bool) {
	for _, m := range c.Models {
		if m.ID == id {
			return m, true
		}
	}
	return Model{}, false
}

// Secrets gives all texts that must not be shown: the keys, and what header fields with
// telling names hold.
func (c Config) Secrets() []string {
	var all []string
	add := func(key Secret, headers map[string]string) {
		if key != "" {
			all = append(all, key.Reveal())
		}
		for name, value := range headers {
			if secretHeader(name) {
				all = append(all, value)
			}
		}
	}
	for _, m := range c.Models {
		add(m.Provider.APIKey, m.Provider.Headers)
	}
	for _, s := range []*Service{c.Services.MoonshotSearch, c.Services.MoonshotFetch} {
		if s != nil {
			add(s.APIKey, s.Headers)
		}
	}
	return all
}

func secretHeader(name string) bool {
	name = strings.ToLower(name)
	for _, telling := range []string{"auth", "key", "token", "secret", "cookie", "password"} {
		if strings.Contains(name, telling) {
			return true
		}
	}
	return false
}
