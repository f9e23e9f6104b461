package sessionscmd

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"kimi-acp/internal/screen"
)

func deleteFlags(f *flag.FlagSet, c *call) {
	f.BoolVar(&c.yes, "yes", false, "do not ask")
}

func remove(_ context.Context, c *call) error {
	if len(c.words) == 0 {
		return usageError{"name the sessions; kimi-acp sessions list shows them"}
	}
	if !c.yes && !c.Answers {
		return usageError{"nobody is there to be asked; say --yes to delete without a question"}
	}
	var ids []string // all are looked for before the first one goes
	for _, word := range c.words {
		id, err := c.find(word)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	in := bufio.NewReader(c.In)
	for _, id := range ids {
		if err := c.removeOne(in, id); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) removeOne(in *bufio.Reader, id string) error {
	r, err := c.Store.Read("", id)
	if err != nil {
		return err
	}
	title := screen.Shown(r.Title())
	if err := r.Close(); err != nil {
		return err
	}
	if !c.yes {
		if _, err := fmt.Fprintf(c.Out, "Delete %s, %q, for good? [y/N] ", id, title); err != nil {
			return err
		}
		answer, err := in.ReadString('\n')
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			if err != nil { // the input has ended, and with it the line
				_, _ = fmt.Fprintln(c.Out)
			}
			return errors.New("nothing more was deleted")
		}
	}
	if err := c.Store.Delete(id); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Out, "Deleted %s, %q.\n", id, title)
	return err
}
