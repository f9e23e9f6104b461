package sessionscmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"

	"kimi-acp/internal/screen"
	"kimi-acp/soul/session"
)

func verifyFlags(f *flag.FlagSet, c *call) {
	f.BoolVar(&c.all, "all", false, "the sessions of all folders, also those that no list shows")
	f.BoolVar(&c.json, "json", false, "write a JSON array")
}

// verified is what was found in a session, as JSON.
type verified struct {
	ID       string    `json:"id"`
	OK       bool      `json:"ok"`
	Messages int       `json:"messages"`
	Recorded int       `json:"recorded"`
	Size     int64     `json:"size"`    // bytes of the history
	Checked  int64     `json:"checked"` // bytes of it that were held against sums
	Findings []finding `json:"findings"`

	title string
}

type finding struct {
	Kind session.Kind `json:"kind"`
	Text string       `json:"text"`
}

func verify(_ context.Context, c *call) error {
	ids, err := c.toVerify()
	if err != nil {
		return err
	}
	all := []verified{}
	damaged := 0
	for _, id := range ids {
		v, err := c.examine(id)
		if errors.Is(err, session.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			continue // deleted in this moment
		}
		if err != nil {
			return err
		}
		if !v.OK {
			damaged++
		}
		all = append(all, v)
	}
	if c.json {
		err = writeJSON(c.Out, all)
	} else {
		err = c.report(all, damaged)
	}
	if err == nil && damaged > 0 {
		err = errDamaged
	}
	return err
}

// toVerify gives the ids of the sessions that are meant.
func (c *call) toVerify() ([]string, error) {
	switch {
	case c.all && len(c.words) > 0:
		return nil, usageError{"--all and an ID contradict each other"}
	case c.all:
		return c.Store.IDs()
	case len(c.words) > 0:
		id, err := c.find(c.words[0])
		return []string{id}, err
	}
	sessions, err := c.sessions(c.Dir)
	var ids []string
	for _, s := range sessions {
		ids = append(ids, s.ID)
	}
	if err == nil && len(ids) == 0 {
		err = usageError{fmt.Sprintf("no session belongs to %s; give an ID, or --all", c.tilde(c.Dir))}
	}
	return ids, err
}

func (c *call) examine(id string) (verified, error) {
	r, err := c.Store.Read("", id)
	if err != nil {
		return verified{}, err
	}
	report := r.Verify()
	v := verified{
		ID: id, OK: len(report.Findings) == 0, Messages: report.Records, Recorded: report.Recorded,
		Size: report.Size, Checked: report.Checked, Findings: []finding{}, title: r.Title(),
	}
	for _, f := range report.Findings {
		v.Findings = append(v.Findings, finding(f))
	}
	return v, r.Close()
}

// report shows what was found.
func (c *call) report(all []verified, damaged int) error {
	ids, err := c.Store.IDs()
	if err != nil {
		return err
	}
	short := shortIDs(ids)
	sc := c.Screen(c.columns)
	idColumns := 0
	for _, v := range all {
		idColumns = max(idColumns, len(short[v.ID]))
	}
	for _, v := range all {
		mark, style := "✓ ", screen.Plain
		if !v.OK {
			mark, style = "✗ ", screen.Red
		}
		facts := fmt.Sprintf("  %s, %s", plural(v.Messages, "message"), size(v.Size))
		if v.Checked == 0 && v.Size > 0 { // another program wrote it
			facts += ", without sums"
		}
		head := mark + screen.Pad(short[v.ID], idColumns) + "  "
		room := sc.Width() - screen.Columns(head) - screen.Columns(facts)
		sc.Print(sc.Paint(style, head) + screen.Pad(screen.Cut(v.title, room), room) + sc.Paint(screen.Faint, facts) + "\n")
		for _, f := range v.Findings {
			sc.Item(screen.Plain, "  · ", screen.Shown(f.Text))
		}
	}
	sc.Gap()
	if damaged == 0 {
		sc.Item(screen.Green, "", plural(len(all), "session")+" in order.")
		return nil
	}
	sc.Item(screen.Red, "", fmt.Sprintf("%d of %s damaged. kimi-acp sessions repair ID mends what can be mended; the rest is left out, or used as it is, and nothing is deleted.", damaged, plural(len(all), "session")))
	return nil
}

func repair(_ context.Context, c *call) error {
	if len(c.words) == 0 {
		return usageError{"name the session; kimi-acp sessions verify shows which are damaged"}
	}
	id, err := c.find(c.words[0])
	if err != nil {
		return err
	}
	found, err := c.mend(id)
	if err != nil {
		return err
	}
	v, err := c.examine(id)
	if err != nil {
		return err
	}
	sc := c.Screen(c.columns)
	for _, text := range found {
		sc.Item(screen.Plain, "· ", screen.Shown(text))
	}
	switch {
	case v.OK && len(found) == 0:
		sc.Item(screen.Green, "", "The session was in order.")
	case v.OK:
		sc.Item(screen.Green, "", "The session is in order now.")
	default:
		sc.Gap()
		sc.Item(screen.Yellow, "", "What cannot be mended stays in the files, and is left out each time:")
		for _, f := range v.Findings {
			sc.Item(screen.Plain, "· ", screen.Shown(f.Text))
		}
	}
	return nil
}

// mend opens a session, which repairs it, and says what was found.
func (c *call) mend(id string) (found []string, err error) {
	s, err := c.Store.Open("", id)
	if err != nil {
		return nil, err
	}
	return s.Restored().Skipped, errors.Join(s.Mend(), s.Close())
}
