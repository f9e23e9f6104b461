package sessionscmd

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kimi-acp/soul/session"
)

func exportFlags(f *flag.FlagSet, c *call) {
	f.StringVar(&c.format, "format", "", "`md` or jsonl (default: by the name of FILE, else md)")
	f.BoolVar(&c.force, "force", false, "replace FILE if it is there")
}

func export(_ context.Context, c *call) (err error) {
	id, file, err := c.exported()
	if err != nil {
		return err
	}
	if c.format == "" {
		c.format = "md"
		if filepath.Ext(file) == ".jsonl" {
			c.format = "jsonl"
		}
	}
	if c.format != "md" && c.format != "jsonl" {
		return usageError{fmt.Sprintf("there is no format %q; use md or jsonl", c.format)}
	}
	r, err := c.open(id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	h, err := r.History()
	if err != nil {
		return err
	}
	for _, f := range h.Findings {
		_, _ = fmt.Fprintln(c.Err, "kimi-acp sessions export:", f.Text)
	}
	var out []byte
	if c.format == "md" {
		out = pageOf(r, h)
	} else if out, err = jsonLines(h); err != nil {
		return err
	}
	if file == "" {
		_, err := c.Out.Write(out)
		return err
	}
	return c.write(file, out)
}

// exported takes the words apart: which session, and where to. A lone word that is
// the name of a file, and of no session, is a file.
func (c *call) exported() (id []string, file string, err error) {
	switch len(c.words) {
	case 0:
		return nil, "", nil
	case 2:
		return c.words[:1], c.words[1], nil
	}
	word := c.words[0]
	if ext := filepath.Ext(word); ext == ".md" || ext == ".jsonl" {
		return nil, word, nil
	}
	return c.words, "", nil
}

func (c *call) write(file string, out []byte) error {
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.Dir, file)
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if c.force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	// The user named it. A session may hold what nobody else should read.
	f, err := os.OpenFile(file, flags, 0o600) //nolint:forbidigo // it is no edit of the agent's
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; --force replaces it", c.tilde(file))
	}
	if err != nil {
		return err
	}
	_, err = f.Write(out)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Out, "Wrote %s to %s.\n", size(int64(len(out))), c.tilde(file))
	return err
}

// jsonLines gives the messages as a model gets them, one a line, the system prompt
// first.
func jsonLines(h session.History) ([]byte, error) {
	var out bytes.Buffer
	if h.System != "" {
		line, err := systemMessage(h.System).AppendJSON(nil)
		if err != nil {
			return nil, err
		}
		out.Write(append(line, '\n'))
	}
	for _, m := range h.Messages {
		line, err := m.AppendJSON(nil)
		if err != nil {
			return nil, fmt.Errorf("writing a message: %w", err)
		}
		out.Write(append(line, '\n'))
	}
	return out.Bytes(), nil
}
