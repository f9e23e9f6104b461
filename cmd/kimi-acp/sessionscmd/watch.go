package sessionscmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"

	"kimi-acp/cmd/kimi-acp/playback"
	"kimi-acp/soul/session"
)

func watchFlags(f *flag.FlagSet, c *call) {
	f.BoolVar(&c.all, "all", false, "from the session's beginning, not only its last turn")
	f.BoolVar(&c.json, "json", false, "write the messages as they are recorded, one JSON object a line")
}

func watch(ctx context.Context, c *call) (err error) {
	r, err := c.open(c.words)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	from := int64(0)
	if !c.all {
		if from, err = lastTurn(r); err != nil {
			return err
		}
	}
	if !c.json {
		_, _ = fmt.Fprintf(c.Err, "Watching %s, %q. Ctrl-C ends it; the session goes on.\n", r.ID(), r.Title())
	}
	show := playback.New(c.Screen(c.columns), r.WorkDir())
	defer show.Close()
	for m, err := range r.Follow(ctx, from) {
		switch {
		case errors.Is(err, session.ErrNotFound):
			return errors.New("the session was deleted")
		case err != nil:
			return err
		case !c.json:
			show.Receive(m)
		case m.Err == nil || m.Type != "":
			if err := c.writeRaw(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// lastTurn is the offset of the last turn that was recorded.
func lastTurn(r *session.Reader) (int64, error) {
	at := int64(0)
	for m, err := range r.Recording() {
		if err != nil {
			return 0, err
		}
		if m.Type == "TurnBegin" {
			at = m.Offset
		}
	}
	return at, nil
}

// writeRaw writes a message on a line of its own.
func (c *call) writeRaw(m session.Recorded) error {
	var line bytes.Buffer
	if err := json.Compact(&line, m.Raw); err != nil {
		return nil //nolint:nilerr // a damaged line; verify tells of it
	}
	line.WriteByte('\n')
	_, err := c.Out.Write(line.Bytes())
	return err
}
