package sessionscmd

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"kimi-acp/internal/screen"
	"kimi-acp/soul/session"
)

func listFlags(f *flag.FlagSet, c *call) {
	f.BoolVar(&c.all, "all", false, "the sessions of all folders")
	f.StringVar(&c.cwd, "cwd", "", "the sessions of this `folder`")
	f.BoolVar(&c.json, "json", false, "write a JSON array")
}

// listed is a session as JSON.
type listed struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	WorkDir string    `json:"work_dir"`
	Updated time.Time `json:"updated_at"`
}

func list(_ context.Context, c *call) error {
	dir, err := c.folder()
	if err != nil {
		return err
	}
	sessions, err := c.sessions(dir)
	if err != nil {
		return err
	}
	if c.json {
		all := []listed{}
		for _, s := range sessions {
			all = append(all, listed{s.ID, s.Title, s.WorkDir, s.UpdatedAt.UTC()})
		}
		return writeJSON(c.Out, all)
	}
	ids, err := c.Store.IDs()
	if err != nil {
		return err
	}
	sc := c.Screen(c.columns)
	switch {
	case len(sessions) > 0:
		c.table(sc, sessions, shortIDs(ids))
	case dir == "" && len(ids) > 0:
		sc.Item(screen.Plain, "", fmt.Sprintf("There is nothing to list: of %s nobody knows the folder, or nothing was said. kimi-acp sessions verify --all shows them.", plural(len(ids), "session")))
	case dir == "":
		sc.Item(screen.Plain, "", "There are no sessions.")
	default:
		sc.Item(screen.Plain, "", fmt.Sprintf("No session belongs to %s. Those of all folders: kimi-acp sessions list --all", c.tilde(dir)))
	}
	return nil
}

// folder is the folder whose sessions are meant, "" for all.
func (c *call) folder() (string, error) {
	switch {
	case c.all && c.cwd != "":
		return "", usageError{"--all and --cwd contradict each other"}
	case c.all:
		return "", nil
	case c.cwd == "":
		return c.Dir, nil
	case filepath.IsAbs(c.cwd):
		return filepath.Clean(c.cwd), nil
	}
	return filepath.Join(c.Dir, c.cwd), nil
}

// sessions gives all sessions of a folder, of all with "".
func (c *call) sessions(dir string) ([]session.Info, error) {
	var all []session.Info
	o := session.ListOptions{WorkDir: dir, Limit: 1000}
	for {
		page, err := c.Store.List(o)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Sessions...)
		if o.Cursor = page.Next; o.Cursor == "" {
			return all, nil
		}
	}
}

// minShort is how much of an id is shown at least.
const minShort = 8

// shortIDs gives how much of each id is needed to tell it from the others; ids are
// in order.
func shortIDs(ids []string) map[string]string {
	short := make(map[string]string, len(ids))
	for i, id := range ids {
		n := minShort
		if i > 0 {
			n = max(n, common(id, ids[i-1])+1)
		}
		if i+1 < len(ids) {
			n = max(n, common(id, ids[i+1])+1)
		}
		short[id] = id[:min(n, len(id))]
	}
	return short
}

// common counts the bytes that two texts begin with alike.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// ageColumns is the room for an age, such as 2026-11-30.
const ageColumns = 10

// table shows sessions, one a line; where they are of several folders, with these.
func (c *call) table(sc *screen.Screen, sessions []session.Info, short map[string]string) {
	idColumns, dirColumns := len("ID"), 0
	for _, s := range sessions {
		idColumns = max(idColumns, len(short[s.ID]))
		if c.all {
			dirColumns = max(dirColumns, screen.Columns(c.tilde(s.WorkDir)))
		}
	}
	idColumns = min(idColumns, sc.Width()/3)
	room := sc.Width() - idColumns - ageColumns - 4
	if c.all {
		dirColumns = min(dirColumns, room/2)
		room -= dirColumns + 2
	}
	row := func(st screen.Style, id, age, title, dir string) {
		line := screen.Pad(screen.Cut(id, idColumns), idColumns) + "  " + screen.Pad(age, ageColumns) + "  "
		if c.all {
			line += screen.Pad(screen.Cut(title, room), room) + "  " + cutLeft(dir, dirColumns)
		} else {
			line += screen.Cut(title, room)
		}
		sc.Print(sc.Paint(st, strings.TrimRight(line, " ")) + "\n")
	}
	row(screen.Faint, "ID", "USED", "TITLE", "FOLDER")
	for _, s := range sessions {
		row(screen.Plain, short[s.ID], age(c.Now(), s.UpdatedAt), s.Title, c.tilde(s.WorkDir))
	}
}

// cutLeft shortens a text at its beginning.
func cutLeft(text string, columns int) string {
	text = screen.Shown(text)
	if screen.Columns(text) <= columns {
		return text
	}
	for i := range text {
		if rest := text[i:]; screen.Columns(rest) < columns {
			return "…" + rest
		}
	}
	return "…"
}

// age says in a few columns how long ago something was.
func age(now, at time.Time) string {
	switch d := now.Sub(at); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 7*24*time.Hour:
		return fmt.Sprintf("%d d ago", int(d.Hours()/24))
	}
	return at.Local().Format(time.DateOnly)
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}
