package permit

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"kimi-acp/internal/config"
	"kimi-acp/internal/policy"
)

// Sources are where the rules of a session come from.
type Sources struct {
	// User gives what the settings say now.
	User    func() config.Policy
	Project *Project // nil: none are kept
	// Repository gives the rules that came with the files of the workspace. They can
	// only tighten. Nil: there are none.
	Repository func() ([]File, error)
}

// File is a file of rules that somebody else has read.
type File struct{ Path, Text string }

// RepositoryFile is where a repository may put rules, below a root of the workspace.
const RepositoryFile = ".kimi/policy.rules"

// Rules are those of one session. They follow their sources: what has changed there
// holds with the next action. They may be used by several goroutines at once.
type Rules struct {
	sources Sources

	mu   sync.Mutex
	from texts
	made *policy.Engine
	err  error
}

// texts are what the sources said.
type texts struct {
	user       config.Policy
	project    string
	repository []File
}

// New gives the rules of a session.
func New(s Sources) *Rules { return &Rules{sources: s} }

// Engine gives what decides by the rules. An error says which rule cannot be used, in
// which file; then nothing may be allowed, since it might have been one that denies.
func (r *Rules) Engine() (*policy.Engine, error) {
	now, err := r.read()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.made == nil && r.err == nil || !reflect.DeepEqual(now, r.from) {
		r.from = now
		r.made, r.err = r.build(now)
	}
	return r.made, r.err
}

func (r *Rules) read() (now texts, err error) {
	if r.sources.User != nil {
		now.user = r.sources.User()
	}
	if now.user.Broken != "" {
		return now, errors.New(now.user.Broken)
	}
	if now.project, err = r.sources.Project.text(); err != nil {
		return now, err
	}
	if r.sources.Repository != nil {
		if now.repository, err = r.sources.Repository(); err != nil {
			return now, fmt.Errorf("reading the repository's rules: %w", err)
		}
	}
	return now, nil
}

func (r *Rules) build(from texts) (*policy.Engine, error) {
	o := policy.Options{Sets: from.user.Sets, Layers: []policy.Layer{{Scope: policy.User, Name: "acp.toml", Rules: from.user.Rules}}}
	if from.project != "" {
		rules, err := r.sources.Project.parse(from.project)
		if err != nil {
			return nil, err
		}
		o.Layers = append(o.Layers, policy.Layer{Scope: policy.Project, Name: r.sources.Project.path, Rules: rules})
	}
	for _, f := range from.repository {
		rules, err := policy.ParseRules(f.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		o.Layers = append(o.Layers, policy.Layer{Scope: policy.Repository, Name: f.Path, Rules: rules})
	}
	return policy.New(o)
}

// User gives what the settings say.
func (r *Rules) User() config.Policy {
	if r.sources.User == nil {
		return config.Policy{}
	}
	return r.sources.User()
}

// Project gives what is kept for the project.
func (r *Rules) Project() *Project { return r.sources.Project }
