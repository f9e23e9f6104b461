package doctor

import (
	"context"
	"fmt"
	"time"

	"kimi-acp/internal/proc"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/openai"
)

// Setup is what is set up, and what to try out.
type Setup struct {
	Version  string // of the program, and what it was built for
	Self     string // the program's path
	Sources  string // where the settings were read from
	Warnings []Warning
	Missing  string // what to set before there is a model; "": nothing
	Model    Model
	Server   Server // nil: none is to be called
	Offline  bool   // the user wants no call
	Clock    *Clock // that Server's calls pass; nil: the clock is not looked at

	ShareDir string // "": nothing is kept
	LogFile  string
	Runner   Runner
	// Supervisor checks that the program's child, which ends commands, works.
	Supervisor func(context.Context) error
	// LookPath finds a program, like exec.LookPath.
	LookPath func(string) (string, error)

	Timeout time.Duration    // of each call, 0: 30 s
	Now     func() time.Time // nil: time.Now
}

// Warning is a setting that could not be taken as it is.
type Warning struct {
	Where string // the variable, or file:line
	What  string
}

// Model is the model that is set up, and where its settings come from.
type Model struct {
	Name        string
	Why         string // why it is this one
	ContextSize int    // tokens
	Images      bool   // images are sent to it
	Local       bool   // it needs neither server nor key
	Address     string // the server's, without what may be secret in it
	HasKey      bool

	// What to set to change them, such as KIMI_API_KEY.
	NameSetting, KeySetting, AddressSetting string
}

// Server is a model behind an address; *openai.Provider is one.
type Server interface {
	llm.Provider
	// Models asks which models there are; the error is an *llm.Error or ctx's.
	Models(ctx context.Context) ([]openai.ModelInfo, error)
}

// Runner runs commands; *proc.Runner is one.
type Runner interface {
	Run(ctx context.Context, c proc.Command) (proc.Outcome, error)
	Shell() string
}

const defaultTimeout = 30 * time.Second

// Examine looks at everything in turn. Checks that ctx's end broke off are skipped.
func Examine(ctx context.Context, s Setup) Report {
	if s.Timeout <= 0 {
		s.Timeout = defaultTimeout
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	var r Report
	for _, look := range []func(context.Context, *Setup) []Check{
		version, settings, model, server, clock, commands, git, folders, editor,
	} {
		r.Checks = append(r.Checks, look(ctx, &s)...)
	}
	return r
}

func version(_ context.Context, s *Setup) []Check {
	return []Check{{Name: "version", Status: OK, Detail: s.Version}}
}

func settings(_ context.Context, s *Setup) []Check {
	checks := []Check{{Name: "config", Status: OK, Detail: s.Sources}}
	if len(s.Warnings) > 0 {
		checks[0].Status = Note
	}
	for _, w := range s.Warnings {
		checks = append(checks, Check{Name: "config", Status: Fault, Detail: w.Where + " " + w.What, Mend: "correct " + w.Where})
	}
	return checks
}

func model(_ context.Context, s *Setup) []Check {
	m := s.Model
	if s.Missing != "" {
		return []Check{{Name: "model", Status: Fault, Detail: "no model can be used", Mend: s.Missing}}
	}
	checks := []Check{{Name: "model", Status: OK, Detail: fmt.Sprintf("%s, %s; %d tokens of context", m.Name, m.Why, m.ContextSize)}}
	if m.Local {
		return append(checks, Check{Name: "key", Status: OK, Detail: "none is needed: the answers come from a file"})
	}
	switch {
	case m.HasKey:
		checks = append(checks, Check{Name: "key", Status: OK, Detail: "set, for " + m.Address})
	default:
		checks = append(checks, Check{Name: "key", Status: Note, Detail: "none is set; " + m.Address + " may want one (" + m.KeySetting + ")"})
	}
	images := "images are sent to the model"
	if !m.Images {
		images = "images are not sent to the model"
	}
	return append(checks, Check{Name: "images", Status: OK, Detail: images + ", as configured"})
}

// seconds says how long something took.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
