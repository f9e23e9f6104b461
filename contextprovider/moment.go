package contextprovider

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// DefaultBudget is how many tokens a context may take.
const DefaultBudget = 4000

// MomentOptions say what a Moment is made from. Tokens and Readable must be set.
type MomentOptions struct {
	SessionID string
	Roots     []string // absolute; the first is the working directory
	Providers []Registration
	// Tokens estimates the size of a text.
	Tokens func(text string) int
	// Readable tells whether the text of a file may be shown to a model, by its
	// absolute path.
	Readable func(path string) bool
	// Companion, if not nil, gives what a companion of the editor tells now, nil for
	// nothing. It is asked for each prompt and must be quick. What was told later
	// counts, by EditorState.Seen.
	Companion func() *EditorState
	// Requests, if not nil, gives what the user chose in the editor to be sent with the
	// next prompt; with take it is given once. It must be quick.
	Requests func(take bool) []Request
	Use      Use      // what the session begins with; "": UseAuto
	Always   []string // sections that are told with every prompt
	Off      []string // sections that are never told
	// Windows reads what is selected where the editor did not tell. Nil: nothing does.
	Windows  Windows
	Budget   int           // tokens; 0: DefaultBudget
	Deadline time.Duration // how long a prompt waits; 0: DefaultDeadline
	Logger   *slog.Logger
}

// Moment gathers and words what stands around the prompts of one session. It may be
// used by several goroutines at once; Close ends it.
type Moment struct {
	o        MomentOptions
	registry *Registry
	editor   editorSlot

	mu      sync.Mutex
	use     Use
	changed []string // files that git named last
	last    Bundle   // the latest that was gathered
	notice  string   // what the user is to be told of the latest part
}

// NewMoment makes a Moment. It starts nothing. An error means that two providers have
// one name.
func NewMoment(o MomentOptions) (*Moment, error) {
	if o.Use == "" {
		o.Use = UseAuto
	}
	if o.Budget <= 0 {
		o.Budget = DefaultBudget
	}
	if o.Deadline <= 0 {
		o.Deadline = DefaultDeadline
	}
	m := &Moment{o: o, registry: NewRegistry(o.Logger), use: o.Use}
	for _, p := range append([]Registration{{Provider: editorProvider{windows: o.Windows, readable: o.Readable}, Priority: 100, Share: 3}}, o.Providers...) {
		if err := m.registry.Register(p); err != nil {
			m.Close()
			return nil, err
		}
	}
	return m, nil
}

// Editor changes what is known of the user's editor; see EditorState. change gets a
// copy of the state so far.
func (m *Moment) Editor(change func(*EditorState)) { m.editor.change(change) }

// Use says how often the context is told, and SetUse changes it.
func (m *Moment) Use() Use {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.use
}

// SetUse changes how often the context is told, from the next prompt on.
func (m *Moment) SetUse(u Use) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.use = u
}

// Warm gathers once, so that the first prompt finds it done. It returns when the
// deadline is over, while what is late goes on.
func (m *Moment) Warm(ctx context.Context) {
	if m.Use() != UseOff {
		m.gather(ctx, "", nil)
	}
}

// Part gives the text that tells a model how things stand as a prompt is sent, "" for
// nothing. earlier are the texts that it gave before and that are still in the
// history, the oldest first. It takes no longer than the deadline. What the user chose
// in the editor to be sent is in it whatever Use says, and is in no other one.
func (m *Moment) Part(ctx context.Context, prompt string, mentions []Mention, earlier []string) string {
	requests := m.requests(true)
	use := m.Use()
	b := Bundle{Session: SessionContext{Roots: m.o.Roots}}
	if use != UseOff {
		b = m.gather(ctx, prompt, mentions)
	} else {
		earlier = nil // nothing is told any more, rather than that there is nothing
	}
	b.Requests = requests
	return render(fit(m.sections(b), m.o.Budget, m.o.Tokens), b.Missed, earlier, m.repeats)
}

// repeats tells whether a section is told with every prompt, be it new or not.
func (m *Moment) repeats(section string) bool {
	return section == sectionRequests || m.Use() == UseAlways || slices.Contains(m.o.Always, section)
}

// Notice gives what the user is to be told of the latest part, once, "" for nothing.
func (m *Moment) Notice() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	notice := m.notice
	m.notice = ""
	return notice
}

func (m *Moment) requests(take bool) []Request {
	if m.o.Requests == nil {
		return nil
	}
	all := m.o.Requests(take)
	for i := range all {
		if r := &all[i]; !m.o.Readable(r.Path) {
			r.Text, r.Cut, r.Diagnostics = "", false, nil
		}
	}
	if take {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.notice = paths{m.o.Roots}.sentAlong(all)
	}
	return all
}

// Section gives a section whole, as lines, or an error that lists those that there
// are. It looks anew.
func (m *Moment) Section(ctx context.Context, name string) (string, error) {
	b := m.gather(ctx, "", nil)
	var there []string
	for _, s := range m.sections(b) {
		if s.name == name {
			return strings.Join(s.lines, "\n"), nil
		}
		there = append(there, s.name)
	}
	if len(there) == 0 {
		return "", fmt.Errorf("there is nothing to tell of the editor and the project")
	}
	return "", fmt.Errorf("there is no section %q now; there are: %s", name, strings.Join(there, ", "))
}

// Last is the bundle that was gathered last.
func (m *Moment) Last() Bundle {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

func (m *Moment) gather(ctx context.Context, prompt string, mentions []Mention) Bundle {
	m.mu.Lock()
	changed := m.changed
	m.mu.Unlock()
	b := m.registry.Gather(ctx, Query{
		SessionID: m.o.SessionID, Roots: m.o.Roots, Prompt: prompt, Mentions: mentions,
		Editor: m.looksAt(), Changed: changed,
	}, m.o.Deadline)
	b.withhold(m.o.Readable)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = b
	m.changed = changedFiles(b.Git)
	return b
}

// looksAt is the state of the editor that was told last, by whichever way.
func (m *Moment) looksAt() *EditorState {
	told := m.editor.state()
	if m.o.Companion == nil {
		return told
	}
	sensed := m.o.Companion()
	if sensed == nil || told != nil && told.Seen.After(sensed.Seen) {
		return told
	}
	return sensed
}

// sections are those of a bundle that are told.
func (m *Moment) sections(b Bundle) []section {
	return slices.DeleteFunc(b.sections(), func(s section) bool { return slices.Contains(m.o.Off, s.name) })
}

// maxChanged bounds Query.Changed.
const maxChanged = 50

func changedFiles(all []GitState) []string {
	var out []string
	for _, g := range all {
		for _, c := range g.Changes {
			if len(out) < maxChanged {
				out = append(out, c.Path)
			}
		}
	}
	return out
}

// Close ends what is gathered and waits for it.
func (m *Moment) Close() { m.registry.Close() }
