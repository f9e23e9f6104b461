package contextprovider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"kimi-acp/internal/proc"
)

// Bounds on what a program may tell.
const (
	maxItems      = 20
	maxItemText   = 8 << 10 // bytes
	maxItemTitle  = 200     // bytes
	maxAnswer     = 256 << 10
	longestAnswer = 5 * time.Second
)

// Program is a provider that is a program of the user's: it gets the query as JSON on
// its standard input and answers with items.
type Program struct {
	Label   string   // its name in the settings
	Args    []string // the program and its arguments
	Environ []string // its whole environment
	// Run runs it, so that it does not outlive this process; nil: proc.Output, which does
	// not see to that.
	Run func(ctx context.Context, p proc.Program) (proc.Written, error)
	// Trusted tells whether the workspace may run code of its own; nil: it may. Where it
	// may not the program is run in Home, and not at all when it lies in the workspace: it
	// is the user's, and shall not find what others have put where they work.
	Trusted func() bool
	Home    string // the user's own folder, absolute
}

// programQuery is what a program gets; docs/context.md describes it.
type programQuery struct {
	Session  string           `json:"session"`
	Roots    []string         `json:"roots"`
	Prompt   string           `json:"prompt"`
	Mentions []programMention `json:"mentions"`
	Editor   *programEditor   `json:"editor"`
}

type programMention struct {
	Path  string     `json:"path"`
	Lines *LineRange `json:"lines,omitempty"`
}

type programEditor struct {
	Active    string     `json:"active,omitempty"`
	Line      int        `json:"line,omitempty"`
	Column    int        `json:"column,omitempty"`
	Selection *LineRange `json:"selection,omitempty"`
	Open      []string   `json:"open"`
}

// programAnswer is what a program writes.
type programAnswer struct {
	Items []struct {
		Title string `json:"title"`
		Path  string `json:"path"`
		Text  string `json:"text"`
	} `json:"items"`
}

// Name is the program's name in the settings.
func (p Program) Name() string { return p.Label }

// Gather runs the program for at most 5 seconds, in the working directory if that is
// trusted.
func (p Program) Gather(ctx context.Context, q Query) (Facts, error) {
	ctx, cancel := context.WithTimeout(ctx, longestAnswer)
	defer cancel()
	query, err := json.Marshal(queryFor(q))
	if err != nil {
		return Facts{}, fmt.Errorf("the query: %w", err)
	}
	dir := ""
	if len(q.Roots) > 0 {
		dir = q.Roots[0]
	}
	if p.Trusted != nil && !p.Trusted() {
		if p.within(q.Roots) {
			return Facts{}, errors.New("it lies in the workspace, which is not trusted")
		}
		dir = p.Home
	}
	run := p.Run
	if run == nil {
		run = proc.Output
	}
	w, err := run(ctx, proc.Program{Args: p.Args, Dir: dir, Environ: p.Environ, Stdin: query, MaxOutput: maxAnswer})
	switch {
	case ctx.Err() != nil:
		return Facts{}, errors.New("it took too long")
	case err != nil:
		return Facts{}, errors.New("it could not be started")
	case w.ExitCode != 0:
		why, _, _ := strings.Cut(strings.TrimSpace(w.Stderr), "\n")
		return Facts{}, fmt.Errorf("it ended with code %d: %s", w.ExitCode, why)
	case w.Truncated:
		return Facts{}, fmt.Errorf("it wrote more than %d bytes", maxAnswer)
	}
	var answer programAnswer
	if err := json.Unmarshal(w.Stdout, &answer); err != nil {
		return Facts{}, errors.New(`it did not write {"items": […]}`)
	}
	var facts Facts
	for _, i := range answer.Items[:min(len(answer.Items), maxItems)] {
		facts.Notes = append(facts.Notes, Note{Source: p.Label, Title: clipped(i.Title, maxItemTitle), Path: i.Path, Text: clipped(i.Text, maxItemText)})
	}
	return facts, nil
}

// within tells whether the program is one of the workspace, by whatever name it is found.
func (p Program) within(roots []string) bool {
	path, err := exec.LookPath(p.Args[0])
	if err != nil || !filepath.IsAbs(path) {
		return false // it is looked for from Home on
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	return inRoots(roots, path) || inRoots(roots, real)
}

func clipped(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

func queryFor(q Query) programQuery {
	out := programQuery{Session: q.SessionID, Roots: q.Roots, Prompt: q.Prompt, Mentions: []programMention{}}
	for _, m := range q.Mentions {
		if m.Path != "" {
			out.Mentions = append(out.Mentions, programMention{m.Path, m.Lines})
		}
	}
	e := q.Editor
	if e == nil {
		return out
	}
	out.Editor = &programEditor{Active: e.Active, Open: []string{}}
	if e.Cursor != nil {
		out.Editor.Line, out.Editor.Column = e.Cursor.Line, e.Cursor.Column
	}
	if e.Selection != nil {
		out.Editor.Selection = &LineRange{First: e.Selection.From.Line, Last: e.Selection.To.Line}
	}
	for _, d := range e.Open {
		out.Editor.Open = append(out.Editor.Open, d.Path)
	}
	return out
}
