package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/fileop"
	"kimi-acp/soul/wire"
)

const (
	maxGlobShown  = 1000   // paths
	maxGlobOutput = 50_000 // bytes of paths
	maxPattern    = 2000   // characters of a pattern, here and in Grep
)

//go:embed glob.md
var globDescription string

type globArguments struct {
	Pattern        string `json:"pattern" jsonschema:"The pattern, with slashes, for paths from the directory on: *, ?, [a-z], {a,b}, and ** for any number of folders."`
	Directory      string `json:"directory,omitempty" jsonschema:"Where to look: an absolute path, or one relative to the working directory. Left out: all folders of the workspace."`
	IncludeDirs    bool   `json:"include_dirs,omitempty" jsonschema:"Also give folders."`
	IncludeIgnored bool   `json:"include_ignored,omitempty" jsonschema:"Also give what .gitignore files leave out."`
}

func newGlob() Tool {
	return Define(Definition[globArguments]{
		Name:        "Glob",
		Description: globDescription,
		Effect:      ReadOnly,
		Defaults:    globArguments{IncludeDirs: true},
		Refine: func(a map[string]*jsonschema.Schema) {
			a["pattern"].MinLength = jsonschema.Ptr(1)
			a["pattern"].MaxLength = jsonschema.Ptr(maxPattern)
			a["include_ignored"].Default = []byte("false")
		},
		Run: glob,
	})
}

var errNoTree = errors.New("files cannot be searched in this session")

func glob(ctx context.Context, c *Invocation, in globArguments) wire.ToolReturnValue {
	if c.executor.tree == nil {
		return Failed(ctx, errNoTree)
	}
	pattern, directory := filepath.ToSlash(in.Pattern), in.Directory
	if directory == "." {
		directory = "" // the working directory stands for the workspace
	}
	if !doublestar.ValidatePattern(pattern) {
		return failure(fmt.Sprintf("The pattern %q is malformed: a bracket or brace is not closed.", shorten(in.Pattern, maxBrief)), "Malformed pattern")
	}
	g := globSearch{in: in, pattern: path.Clean(pattern), from: directory, cwd: c.executor.cwd}
	if filepath.IsAbs(in.Pattern) {
		if directory != "" {
			return failure("`pattern` is absolute, so `directory` must be left out.", "Invalid arguments")
		}
		var fixed string
		fixed, g.pattern = doublestar.SplitPattern(g.pattern)
		g.from = filepath.FromSlash(fixed)
	}
	if g.from != "" {
		at, err := c.mayRead(ctx, g.from, true)
		if err != nil {
			return Failed(ctx, err)
		}
		g.from = at.name
	}
	if err := g.run(ctx, c.executor.tree); err != nil {
		return Failed(ctx, err)
	}
	if c.executor.overlay != nil {
		for _, u := range unsavedFiles(ctx, c.executor, g.from) {
			if doublestar.MatchUnvalidated(g.pattern, u.rel) {
				g.add(u.snapshot.Path)
			}
		}
	}
	return g.result()
}

// globSearch is one search for paths.
type globSearch struct {
	in      globArguments
	pattern string // for paths from where the walk begins
	from    string // where the walk begins; "": in all roots
	cwd     string

	shown   []string
	total   int
	size    int // bytes of shown
	failed  int // folders that could not be read
	limited bool
}

func (g *globSearch) run(ctx context.Context, tree Tree) error {
	options := fileop.WalkOptions{IncludeIgnored: g.in.IncludeIgnored, Enter: pathsBelow(g.pattern)}
	for e, err := range tree.Walk(ctx, g.from, options) {
		switch {
		case errors.Is(err, fileop.ErrWalkLimit):
			g.limited = true
			return nil
		case err != nil && (e.Path == "" || ctx.Err() != nil):
			return err
		case err != nil:
			g.failed++
		case e.Rel == ".":
			return fmt.Errorf("%s is a file; `directory` must be a folder", e.Path)
		case (g.in.IncludeDirs || !e.IsDir()) && doublestar.MatchUnvalidated(g.pattern, e.Rel):
			g.add(e.Path)
		}
	}
	return nil
}

// pathsBelow tells of folders whether a path below them can fit the pattern, by the
// part before its first wildcard and by how deep it reaches.
func pathsBelow(pattern string) func(fileop.Entry) bool {
	fixed, rest := doublestar.SplitPattern(pattern)
	depth := -1 // any
	if !strings.Contains(rest, "**") && !strings.ContainsAny(rest, `{\`) {
		depth = strings.Count(pattern, "/")
	}
	return func(e fileop.Entry) bool {
		if depth >= 0 && strings.Count(e.Rel, "/") >= depth {
			return false
		}
		if fixed == "." || e.Rel == fixed {
			return true
		}
		return strings.HasPrefix(e.Rel, fixed+"/") || strings.HasPrefix(fixed, e.Rel+"/")
	}
}

func (g *globSearch) add(path string) {
	g.total++
	name := relative(path, g.cwd)
	if len(g.shown) == maxGlobShown || g.size+len(name) > maxGlobOutput {
		return
	}
	g.size += len(name) + 1
	g.shown = append(g.shown, name)
}

func (g *globSearch) result() wire.ToolReturnValue {
	var b strings.Builder
	for _, name := range g.shown {
		b.WriteString(strings.ToValidUTF8(name, "\uFFFD") + "\n")
	}
	v := wire.ToolReturnValue{Output: wire.Output{Text: b.String()}}
	switch {
	case g.total == 0:
		v.Message = fmt.Sprintf("Nothing fits %q.", shorten(g.in.Pattern, maxBrief))
		if !g.in.IncludeIgnored {
			v.Message += " What .gitignore files leave out was not looked at; `include_ignored` changes that."
		}
	case len(g.shown) < g.total:
		v.Message = fmt.Sprintf("%d paths fit; the first %d, by path, are given. Make the pattern or the directory narrower to see the others.", g.total, len(g.shown))
	default:
		v.Message = "Found " + plural(g.total, "path") + "."
	}
	if g.limited {
		v.Message += fmt.Sprintf(" There are too many files: the search ended after %d of them, so there may be more.", fileop.MaxWalk)
	}
	if g.failed > 0 {
		v.Message += fmt.Sprintf(" %s could not be read.", plural(g.failed, "folder"))
	}
	return v
}
