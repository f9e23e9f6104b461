package tool

import (
	"context"
	"errors"
	"fmt"

	"kimi-acp/fileop"
	"kimi-acp/internal/policy"
)

// Outside reads files that lie in no root of the workspace, once that was settled;
// *fileop.Operator is one. Calls may run side by side.
type Outside interface {
	// ReadOutside gives the bytes of the file at a path without links, see
	// fileop.Operator.
	ReadOutside(ctx context.Context, real string) ([]byte, error)
}

// settled is a file as it was judged: what is read or searched has to be this one.
type settled struct {
	name    string // absolute, as the user writes it
	real    string // where it leads; "": not known
	outside bool   // of all roots
}

// is tells whether a file that was found is the one that was judged. One of which it
// is not known where it leads is taken at its name.
func (s settled) is(real string) bool { return real == "" || s.real == "" || real == s.real }

// found tells the same of a path that a walk gives, which may be either of the two.
func (s settled) found(path string) bool { return path == s.name || s.is(path) }

// facts are what is known of a file; real is where it leads as fileop sees it, and
// may be empty.
func (g *Guard) facts(name, real string) policy.PathFacts {
	p := policy.PathFacts{Path: name}
	if g.Context.Look != nil {
		p = g.Context.Look(name)
		p.Path = name
	}
	if p.Real == "" && !p.Failed {
		p.Real = real
	}
	return p
}

func (g *Guard) read(p policy.PathFacts) ruling {
	return g.judge(func(e *policy.Engine, c policy.Context) policy.Verdict { return e.Read(p, c) })
}

// edit judges changing a file. The question shows what stands in it, and a
// replacement tells whether a text does, so one that may not be read is no ordinary
// file to change either.
func (g *Guard) edit(p policy.PathFacts) ruling {
	return g.judge(func(e *policy.Engine, c policy.Context) policy.Verdict { return e.Write(p, c) }).stricter(g.read(p))
}

// anyEdit is the rule that an answer about ordinary edits makes.
const anyEdit = "allow edit **"

// change judges a planned change: the file, and the place to which it moves. Deleting
// is asked for also where a rule allows edits, or a mode does.
func (g *Guard) change(c fileop.Change) ruling {
	r := g.edit(g.facts(c.Path, c.Real))
	if c.NewPath != "" {
		r = r.stricter(g.edit(g.facts(c.NewPath, c.NewReal)))
	}
	if c.Kind != fileop.ActionDelete {
		return r
	}
	if r.Decision == policy.Allow {
		r.Decision, r.Key = policy.Ask, anyEdit
	}
	if r.Key != "" {
		r.Key = "delete: " + r.Key // no rule: an answer to this allows no edits
	}
	r.firm = max(r.firm, Guarded)
	return r
}

// hides tells whether what stands in a file is kept from the model unless the user
// says otherwise.
func (g *Guard) hides(name, real string) bool {
	return g.read(g.facts(name, real)).Decision != policy.Allow
}

// shows gives what tells of the files of a search whether they may be searched
// without asking.
func (g *Guard) shows() (func(path string) bool, error) {
	engine, err := g.engine()
	if err != nil {
		return nil, fmt.Errorf("the rules cannot be used: %w", err)
	}
	screen := engine.Screen(g.context())
	return func(path string) bool {
		return screen.Passes(path) || engine.Read(policy.PathFacts{Path: path}, g.Context).Decision == policy.Allow
	}, nil
}

// mayRead settles whether a file may be read, or a folder searched. Searching ends at
// the roots whatever anybody answers, reading a file does not.
func (c *Invocation) mayRead(ctx context.Context, path string, search bool) (settled, error) {
	e := c.executor
	name, err := e.operator.Resolve(path)
	outside := errors.Is(err, fileop.ErrOutside)
	switch {
	case outside:
		name = absolute(path, e.cwd)
	case err != nil:
		return settled{}, err
	}
	facts := e.files.facts(name, "")
	r := e.files.read(facts)
	if outside && r.Decision != policy.Deny && (search || e.outside == nil || facts.Real == "") {
		return settled{}, err
	}
	where := ""
	if facts.Real != "" && facts.Real != name {
		where = ", which leads to " + codeSpan(policy.Visible(facts.Real))
	}
	err = c.pause(ctx, func() error {
		return c.permit(ctx, r, Action{
			Name:        "read file",
			Description: "Read file " + codeSpan(policy.Visible(name)) + where,
			Effect:      ReadOnly,
		})
	})
	return settled{name: name, real: facts.Real, outside: outside}, err
}

// pause gives the reader's place of a call away while somebody is asked.
func (c *Invocation) pause(ctx context.Context, ask func() error) error {
	if !c.reading {
		return ask()
	}
	c.executor.readers.leave()
	c.reading = false
	if err := ask(); err != nil {
		return err
	}
	if err := c.executor.readers.enter(ctx); err != nil {
		return err
	}
	c.reading = true
	return nil
}

// MayFetch settles whether an address may be fetched. It judges the name of a host;
// whoever connects has to ask policy.PrivateAddress of each address, too.
func (c *Invocation) MayFetch(ctx context.Context, url string) error {
	r := c.executor.files.judge(func(e *policy.Engine, pc policy.Context) policy.Verdict { return e.Fetch(url, pc) })
	return c.permit(ctx, r, Action{
		Name:        "fetch",
		Description: "Fetch " + codeSpan(policy.Visible(url)),
		Effect:      ReadOnly,
	})
}
