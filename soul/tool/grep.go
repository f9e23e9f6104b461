package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/fileop"
	"kimi-acp/soul/wire"
)

// The limits of one search.
const (
	searchTime      = 20 * time.Second
	maxSearched     = 16 << 20 // bytes of a file that is searched
	maxContextLines = 100
	maxHeadLimit    = 10_000
	maxOffset       = 1_000_000
	defaultHead     = 250
)

// What Grep gives.
const (
	outputFiles   = "files_with_matches"
	outputContent = "content"
	outputCounts  = "count_matches"
)

//go:embed grep.md
var grepDescription string

type grepArguments struct {
	Pattern        string `json:"pattern" jsonschema:"A regular expression (RE2, as in Go)."`
	Path           string `json:"path,omitempty" jsonschema:"A file or directory: an absolute path, or one relative to the working directory. Left out or .: all folders of the workspace."`
	Glob           string `json:"glob,omitempty" jsonschema:"Search only files whose path fits, such as *.go, src/**/*.{ts,tsx}, or !*_test.go for all others. Without a slash it is for the name alone."`
	Type           string `json:"type,omitempty" jsonschema:"Search only files of a language, such as go, py, ts, rust, java."`
	OutputMode     string `json:"output_mode,omitempty" jsonschema:"files_with_matches gives paths, content the lines, count_matches how often the pattern is found in each file."`
	Before         int    `json:"-B,omitempty" jsonschema:"With content: how many lines to give before each match."`
	After          int    `json:"-A,omitempty" jsonschema:"With content: how many lines to give after each match."`
	Context        int    `json:"-C,omitempty" jsonschema:"With content: how many lines to give before and after each match."`
	LineNumbers    bool   `json:"-n,omitempty" jsonschema:"With content: give line numbers."`
	IgnoreCase     bool   `json:"-i,omitempty" jsonschema:"Upper and lower case are the same."`
	HeadLimit      int    `json:"head_limit,omitempty" jsonschema:"How many lines of the result to give; 0: as many as fit."`
	Offset         int    `json:"offset,omitempty" jsonschema:"How many lines of the result to pass over, to go on where a result ended."`
	Multiline      bool   `json:"multiline,omitempty" jsonschema:"A match may span lines, and . also stands for a line feed."`
	IncludeIgnored bool   `json:"include_ignored,omitempty" jsonschema:"Also search what .gitignore files leave out."`
}

func newGrep() Tool {
	return Define(Definition[grepArguments]{
		Name:        "Grep",
		Description: grepDescription,
		Effect:      ReadOnly,
		Defaults:    grepArguments{Path: ".", OutputMode: outputFiles, LineNumbers: true, HeadLimit: defaultHead},
		Refine: func(a map[string]*jsonschema.Schema) {
			a["pattern"].MinLength = jsonschema.Ptr(1)
			a["pattern"].MaxLength = jsonschema.Ptr(maxPattern)
			a["glob"].MaxLength = jsonschema.Ptr(maxPattern)
			a["output_mode"].Enum = []any{outputFiles, outputContent, outputCounts}
			for name, most := range map[string]int{"-A": maxContextLines, "-B": maxContextLines, "-C": maxContextLines, "head_limit": maxHeadLimit, "offset": maxOffset} {
				a[name].Minimum = jsonschema.Ptr(0.0)
				a[name].Maximum = jsonschema.Ptr(float64(most))
			}
		},
		Run: grep,
	})
}

func grep(ctx context.Context, c *Invocation, in grepArguments) wire.ToolReturnValue {
	e := c.executor
	if e.tree == nil {
		return Failed(ctx, errNoTree)
	}
	pattern, err := compileSearch(in.Pattern, in.IgnoreCase, in.Multiline)
	if err != nil {
		return failure(fmt.Sprintf("`pattern` cannot be used: %s", sentence(err.Error()))+" The syntax is RE2: there are no look-arounds and no back-references, and ( [ { . * + ? need a backslash when they are meant as they stand.", "Bad pattern")
	}
	filter, err := newFileFilter(in.Glob, in.Type)
	if err != nil {
		return failure(sentence(err.Error()), "Invalid arguments")
	}
	from := in.Path
	if from == "." {
		from = ""
	}
	s := newSearch(in, pattern, filter, e)
	if s.shows, err = e.files.shows(); err != nil {
		return Failed(ctx, err)
	}
	if from != "" {
		if s.at, err = c.mayRead(ctx, from, true); err != nil {
			return Failed(ctx, err)
		}
		from = s.at.name
	}
	if err := s.run(ctx, from); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return failure(fmt.Sprintf("%s: there is no such file or directory.", from), "")
		}
		return Failed(ctx, err)
	}
	return s.result()
}

func newSearch(in grepArguments, pattern *searchPattern, filter fileFilter, e *Executor) *search {
	in.Before, in.After = max(in.Before, in.Context), max(in.After, in.Context)
	s := &search{
		in:      in,
		pattern: pattern,
		filter:  filter,
		exec:    e,
		order:   newInOrder(),
		page:    page{offset: in.Offset, limit: in.HeadLimit},
		known:   map[string]fileop.KnownFile{},
	}
	if e.overlay != nil {
		for _, k := range e.overlay.Known() {
			s.known[k.Path] = k
		}
	}
	return s
}

// run searches; whatever ends it early but an error is noted.
func (s *search) run(ctx context.Context, from string) error {
	limited, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	s.stop = cancel
	err := s.exec.tree.Scan(limited, from, fileop.ScanOptions{
		WalkOptions: fileop.WalkOptions{IncludeIgnored: s.in.IncludeIgnored},
		Workers:     runtime.GOMAXPROCS(0),
		MaxFile:     maxSearched,
		Want:        s.wants,
		Visit:       func(n int, e fileop.Entry, data []byte, err error) { s.visit(limited, n, e, data, err) },
	})
	missing := errors.Is(err, fs.ErrNotExist)
	if (err == nil || missing) && len(s.known) > 0 && s.searchUnsaved(limited, from) && missing {
		err = nil // it is in the editor only
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		s.told.timedOut = true
	case s.page.more:
		// It was stopped, since the page is full.
	case errors.Is(err, fileop.ErrWalkLimit):
		s.told.limited = true
	case err != nil:
		return err
	}
	return nil
}
