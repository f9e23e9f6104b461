package wirecmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kimi-acp/internal/screen"
	"kimi-acp/soul/session"
)

func logFlags(f *flag.FlagSet, c *call) {
	f.BoolVar(&c.follow, "follow", false, "go on with what is added, until Ctrl-C")
	f.BoolVar(&c.count, "count", false, "only how many messages there are of each type")
	f.StringVar(&c.types, "type", "", "only messages of these `types`, such as ToolCall,ToolResult")
	f.BoolVar(&c.json, "json", false, "write the messages as they stand in the file, one a line")
}

// damaged stands for the type of a line that holds no message.
const damaged = "(damaged)"

func log(ctx context.Context, c *call, r *session.Reader) error {
	if c.follow && c.count {
		return errors.New("--follow and --count contradict each other")
	}
	var wanted []string
	if c.types != "" {
		wanted = strings.Split(c.types, ",")
	}
	recording := r.Recording()
	if c.follow {
		recording = r.Follow(ctx, 0)
	}
	sc := c.Screen(c.columns)
	counts := map[string]count{}
	for m, err := range recording {
		if err != nil {
			return err
		}
		typ := cmp.Or(m.Type, damaged)
		if wanted != nil && !slices.Contains(wanted, typ) {
			continue
		}
		if c.count {
			n := counts[typ]
			counts[typ] = count{n.messages + 1, n.bytes + len(m.Raw)}
			continue
		}
		if err := c.line(sc, typ, m); err != nil {
			return err
		}
	}
	if c.count {
		showCounts(sc, counts)
	}
	return nil
}

// count counts messages of a type.
type count struct{ messages, bytes int }

func showCounts(sc *screen.Screen, counts map[string]count) {
	types := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b].messages-counts[a].messages, strings.Compare(a, b))
	})
	var all count
	for _, typ := range types {
		n := counts[typ]
		all = count{all.messages + n.messages, all.bytes + n.bytes}
		sc.Print(fmt.Sprintf("%7d  %10d bytes  %s\n", n.messages, n.bytes, screen.Shown(typ)))
	}
	sc.Print(sc.Paint(screen.Faint, fmt.Sprintf("%7d  %10d bytes  in all", all.messages, all.bytes)) + "\n")
}

// typeColumns is the room for the name of a type.
const typeColumns = 16

// line shows one message.
func (c *call) line(sc *screen.Screen, typ string, m session.Recorded) error {
	if c.json {
		_, err := fmt.Fprintf(c.Out, "%s\n", bytes.ReplaceAll(m.Raw, []byte{'\n'}, []byte{' '}))
		return err
	}
	at := "--:--:--.---"
	if !m.At.IsZero() {
		at = m.At.Format("15:04:05.000")
	}
	text := payload(m.Raw)
	if m.Err != nil {
		text = m.Err.Error() + ": " + text
	}
	head := fmt.Sprintf("%6d  %s  %s  ", m.Line, at, screen.Pad(screen.Shown(typ), typeColumns))
	style := screen.Plain
	if m.Err != nil {
		style = screen.Red
	}
	room := max(sc.Width()-screen.Columns(head), 10)
	sc.Print(sc.Paint(screen.Faint, head) + sc.Paint(style, screen.Cut(text, room)) + "\n")
	return nil
}

// payload is what an encoded message carries; of what is none, all of it.
func payload(raw []byte) string {
	var in struct {
		Payload json.RawMessage `json:"payload"`
	}
	if json.Unmarshal(raw, &in) != nil || in.Payload == nil {
		return string(raw)
	}
	return string(in.Payload)
}
