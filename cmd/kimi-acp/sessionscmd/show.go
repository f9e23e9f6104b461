package sessionscmd

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"kimi-acp/internal/screen"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
)

func showFlags(f *flag.FlagSet, c *call) {
	f.BoolVar(&c.path, "path", false, "only the path of the session's folder")
	f.BoolVar(&c.json, "json", false, "write a JSON object")
}

// shown is what is known of a session, as JSON.
type shown struct {
	ID       string           `json:"id"`
	Title    string           `json:"title"`
	WorkDir  string           `json:"work_dir"`
	Path     string           `json:"path"`
	Updated  time.Time        `json:"updated_at"`
	Messages int              `json:"messages"`
	Turns    int              `json:"turns"` // that were recorded
	Tokens   int              `json:"tokens"`
	Findings int              `json:"findings"`
	Files    map[string]int64 `json:"files"` // names and bytes

	history session.History
	state   session.State
	sizes   []string
}

func show(_ context.Context, c *call) (err error) {
	if c.path && c.json {
		return usageError{"--path and --json contradict each other"}
	}
	r, err := c.open(c.words)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if c.path {
		_, err := fmt.Fprintln(c.Out, r.Dir())
		return err
	}
	s, err := look(r)
	if err != nil {
		return err
	}
	if c.json {
		return writeJSON(c.Out, s)
	}
	ids, err := c.Store.IDs()
	if err != nil {
		return err
	}
	c.page(s, shortIDs(ids)[s.ID])
	return nil
}

// look gathers what is known of a session.
func look(r *session.Reader) (shown, error) {
	s := shown{ID: r.ID(), Title: r.Title(), WorkDir: r.WorkDir(), Path: r.Dir(), Files: map[string]int64{}}
	var err error
	if s.history, err = r.History(); err != nil {
		return s, err
	}
	s.Updated, s.Messages, s.Tokens = s.history.Updated.UTC(), len(s.history.Messages), s.history.Tokens
	s.Findings = len(r.Verify().Findings)
	s.state, _ = r.State() // what is wrong with it is among the findings
	for m, err := range r.Recording() {
		if err != nil {
			break // among the findings too
		}
		if m.Type == "TurnBegin" {
			s.Turns++
		}
	}
	files, err := r.Files()
	for _, f := range files {
		if f.IsDir() {
			s.sizes = append(s.sizes, f.Name()+"/")
			continue
		}
		s.Files[f.Name()] = f.Size()
		s.sizes = append(s.sizes, f.Name()+" "+size(f.Size()))
	}
	return s, err
}

// factColumns is the room for the name of a fact.
const factColumns = 9

// page shows a session to a person.
func (c *call) page(s shown, short string) {
	sc := c.Screen(c.columns)
	fact := func(name, text string) {
		sc.Item(screen.Plain, screen.Pad(name, factColumns)+" ", text)
	}
	sc.Item(screen.Bold, "", screen.Shown(s.Title))
	fact("id", s.ID)
	c.pathFact(sc, "folder", cmp.Or(c.tilde(s.WorkDir), "(nobody knows)"))
	if !s.Updated.IsZero() {
		text := s.Updated.Local().Format("2006-01-02 15:04")
		if ago := age(c.Now(), s.Updated); !strings.HasPrefix(text, ago) {
			text += " (" + ago + ")"
		}
		fact("used", text)
	}
	history := plural(s.Messages, "message")
	if s.Turns > 0 {
		history += ", " + plural(s.Turns, "turn")
	}
	if s.Tokens > 0 {
		history += fmt.Sprintf(", %d tokens at the last answer", s.Tokens)
	}
	fact("history", history)
	if text := settings(s.state); text != "" {
		fact("settings", text)
	}
	for i, m := range lastWords(s.history.Messages) {
		if m != "" {
			fact([]string{"you", "agent"}[i], screen.Cut(m, 2*(sc.Width()-factColumns-1)))
		}
	}
	fact("files", strings.Join(s.sizes, ", "))
	c.pathFact(sc, "stored", c.tilde(s.Path))
	if s.Findings == 0 {
		sc.Item(screen.Green, screen.Pad("state", factColumns)+" ", "in order")
		return
	}
	sc.Item(screen.Red, screen.Pad("state", factColumns)+" ", fmt.Sprintf("damaged; what it is: kimi-acp sessions verify %s", short))
}

// pathFact shows a path, broken between its names where it is too long for a line.
func (c *call) pathFact(sc *screen.Screen, name, path string) {
	room := sc.Width() - factColumns - 1
	head, line := screen.Pad(name, factColumns)+" ", ""
	put := func() {
		sc.Print(head + line + "\n")
		head, line = strings.Repeat(" ", factColumns+1), ""
	}
	for _, piece := range strings.SplitAfter(screen.Shown(path), string(filepath.Separator)) {
		if line != "" && screen.Columns(line+piece) > room {
			put()
		}
		line += piece
	}
	put()
}

// settings says which settings are not the usual ones.
func settings(st session.State) string {
	var all []string
	if st.Approval.Yolo {
		all = append(all, "nothing is asked for (yolo)")
	}
	if st.PlanMode {
		all = append(all, "plan mode")
	}
	if st.Archived {
		all = append(all, "archived")
	}
	if n := len(st.Approval.AutoApproveActions); n > 0 {
		all = append(all, plural(n, "kind")+" of actions allowed")
	}
	if len(st.Todos) > 0 {
		done := 0
		for _, t := range st.Todos {
			if t.Status == "done" {
				done++
			}
		}
		all = append(all, fmt.Sprintf("%d of %s done", done, plural(len(st.Todos), "to-do")))
	}
	return strings.Join(all, ", ")
}

// lastWords are the last prompt, and the last answer if there is one behind it.
func lastWords(messages []llm.Message) [2]string {
	var out [2]string
	for _, m := range messages {
		switch text := textOf(m); {
		case text == "":
		case m.Role == llm.RoleUser && !internal(text):
			out = [2]string{text, ""}
		case m.Role == llm.RoleAssistant:
			out[1] = text
		}
	}
	return out
}

// textOf is the text of a message on one line.
func textOf(m llm.Message) string {
	var all []string
	for _, p := range m.Content {
		if p.Type == llm.PartText {
			all = append(all, p.Text)
		}
	}
	return strings.Join(strings.Fields(strings.Join(all, " ")), " ")
}

// internal tells whether a user message was written by a program.
func internal(text string) bool {
	return strings.HasPrefix(text, "<system>") || strings.HasPrefix(text, "<system-reminder>")
}

// size gives bytes as people read them.
func size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
