package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/contextprovider"
	"kimi-acp/internal/policy"
	"kimi-acp/soul/wire"
)

//go:embed codeintelligence.md
var codeIntelligenceDescription string

// The operations of CodeIntelligence.
const (
	askDefinition  = "definition"
	askReferences  = "references"
	askSymbols     = "symbols"
	askDiagnostics = "diagnostics"
)

type codeArguments struct {
	Operation string `json:"operation" jsonschema:"What to ask."`
	Path      string `json:"path,omitempty" jsonschema:"The file: an absolute path, or one relative to the working directory. Only symbols does without."`
	Symbol    string `json:"symbol,omitempty" jsonschema:"The name that is meant, as it stands in the file. Not for diagnostics."`
	Line      int    `json:"line,omitempty" jsonschema:"The line of the file in which the name stands. Left out: where the file defines it, or else uses it first."`
}

// CodeTools are the tools that ask about code: one that answers, and where there is a
// language server that can do it, one that renames.
func CodeTools(code contextprovider.Code, renames bool) []Tool {
	all := []Tool{NewCodeIntelligence(code)}
	if renames {
		all = append(all, NewRenameSymbol(code))
	}
	return all
}

// NewCodeIntelligence makes the tool that asks about code.
func NewCodeIntelligence(code contextprovider.Code) Tool {
	return Define(Definition[codeArguments]{
		Name:        "CodeIntelligence",
		Description: codeIntelligenceDescription,
		Effect:      ReadOnly,
		Refine: func(a map[string]*jsonschema.Schema) {
			a["operation"].Enum = []any{askDefinition, askReferences, askSymbols, askDiagnostics}
			a["line"].Minimum = jsonschema.Ptr(1.0)
		},
		Run: func(ctx context.Context, c *Invocation, in codeArguments) wire.ToolReturnValue {
			return askCode(ctx, c, code, in)
		},
	})
}

func askCode(ctx context.Context, c *Invocation, code contextprovider.Code, in codeArguments) wire.ToolReturnValue {
	if in.Operation == askSymbols && in.Path == "" {
		if in.Symbol == "" {
			return failure("Error validating JSON arguments: `symbols` needs a `path`, or a `symbol` to look for.", "Invalid arguments")
		}
		found, err := code.Symbols(ctx, "", in.Symbol)
		return c.foundSymbols(ctx, found, err, in)
	}
	if in.Path == "" || in.Symbol == "" && (in.Operation == askDefinition || in.Operation == askReferences) {
		return failure("Error validating JSON arguments: `"+in.Operation+"` needs a `path`"+map[bool]string{true: " and a `symbol`"}[in.Operation != askDiagnostics && in.Operation != askSymbols]+".", "Invalid arguments")
	}
	file, err := c.mayRead(ctx, in.Path, false)
	if err != nil {
		return Failed(ctx, err)
	}
	at := contextprovider.Place{Path: file.name, Line: in.Line, Symbol: in.Symbol}
	switch in.Operation {
	case askDefinition:
		found, err := code.Definition(ctx, at)
		return c.foundSymbols(ctx, found, err, in)
	case askReferences:
		all, err := code.References(ctx, at)
		if err != nil {
			return codeFailed(ctx, err)
		}
		return c.foundReferences(ctx, all, in)
	case askSymbols:
		found, err := code.Symbols(ctx, file.name, in.Symbol)
		return c.foundSymbols(ctx, found, err, in)
	}
	all, err := code.Diagnostics(ctx, file.name)
	if err != nil {
		return codeFailed(ctx, err)
	}
	if len(all) == 0 {
		return wire.ToolReturnValue{Message: "There are no problems in " + file.name + "."}
	}
	return wire.ToolReturnValue{Output: wire.Output{Text: problemLines(all)}, Message: plural(len(all), "problem") + " in " + file.name + "."}
}

// codeFailed is the result of a question that could not be answered.
func codeFailed(ctx context.Context, err error) wire.ToolReturnValue {
	if errors.Is(err, contextprovider.ErrNoServer) {
		return failure(sentence(err.Error())+" Use Grep and ReadFile.", "No language server")
	}
	return Failed(ctx, err)
}

// foundSymbols lists symbols. Of a file that may not be read only the place is told.
func (c *Invocation) foundSymbols(ctx context.Context, found contextprovider.Found, err error, in codeArguments) wire.ToolReturnValue {
	if err != nil {
		return codeFailed(ctx, err)
	}
	if len(found.Symbols) == 0 {
		message := "Nothing was found."
		if found.By == "" {
			message += " No language server was asked; try Grep."
		}
		return wire.ToolReturnValue{Message: message}
	}
	var out strings.Builder
	for _, s := range found.Symbols {
		fmt.Fprintf(&out, "%s:%d: %s\n", policy.Visible(relative(s.Path, c.executor.cwd)), s.Line, policy.Visible(strings.TrimSpace(s.Kind+" "+s.Name)))
		if in.Operation == askSymbols && len(found.Symbols) > fewSymbols || c.executor.files.hides(s.Path, "") && c.inWorkspace(s.Path) {
			continue
		}
		for line := range strings.SplitSeq(strings.TrimSpace(s.Signature+"\n"+s.Doc), "\n") {
			if line = strings.TrimRight(line, " \t\r"); line != "" {
				out.WriteString("    " + policy.Visible(strings.ReplaceAll(line, "\t", "    ")) + "\n")
			}
		}
	}
	message := fmt.Sprintf("%s found by %s.", plural(len(found.Symbols), "symbol"), found.By)
	if found.By == "" {
		message = plural(len(found.Symbols), "symbol") + " found in the text, without a language server: it may be another one of that name."
	}
	if found.More {
		message += " There are more."
	}
	return wire.ToolReturnValue{Output: wire.Output{Text: clipCode(out.String())}, Message: message}
}

// fewSymbols is how many symbols are listed with what is said of them.
const fewSymbols = 20

func (c *Invocation) inWorkspace(path string) bool {
	_, err := c.executor.operator.Resolve(path)
	return err == nil
}

// maxQuoted bounds the files of which lines are quoted.
const maxQuoted = 40

// foundReferences lists places with the lines that stand there, file by file.
func (c *Invocation) foundReferences(ctx context.Context, all []contextprovider.Reference, in codeArguments) wire.ToolReturnValue {
	if len(all) == 0 {
		return wire.ToolReturnValue{Message: in.Symbol + " is not used anywhere else."}
	}
	slices.SortStableFunc(all, func(a, b contextprovider.Reference) int {
		if p := strings.Compare(a.Path, b.Path); p != 0 {
			return p
		}
		return a.Line - b.Line
	})
	var out strings.Builder
	var lines []string
	path, files, last := "", 0, 0
	for _, r := range all {
		if r.Path == path && r.Line == last {
			continue // a line says it all
		}
		last = r.Line
		if r.Path != path {
			path, lines = r.Path, nil
			if files++; files <= maxQuoted {
				lines = c.quotable(ctx, path)
			}
			out.WriteString(policy.Visible(relative(path, c.executor.cwd)) + "\n")
		}
		line := ""
		if r.Line <= len(lines) {
			line = "| " + policy.Visible(shorten(strings.TrimSpace(lines[r.Line-1]), maxQuote))
		}
		fmt.Fprintf(&out, "  %d%s\n", r.Line, line)
	}
	return wire.ToolReturnValue{
		Output:  wire.Output{Text: clipCode(out.String())},
		Message: fmt.Sprintf("%s is used in %s of %s.", in.Symbol, plural(len(all), "place"), plural(files, "file")),
	}
}

// maxQuote bounds a line that is quoted, in characters.
const maxQuote = 200

// quotable gives the lines of a file that may be read without asking, none of others.
func (c *Invocation) quotable(ctx context.Context, path string) []string {
	if c.executor.files.hides(path, "") || !c.inWorkspace(path) {
		return nil
	}
	s, err := c.executor.operator.Read(ctx, path)
	if err != nil || c.executor.files.hides(path, s.Real) {
		return nil
	}
	return strings.Split(s.Text, "\n")
}

// maxCode bounds what the tool gives, in bytes.
const maxCode = 40_000

func clipCode(text string) string {
	if len(text) <= maxCode {
		return text
	}
	end := strings.LastIndexByte(text[:maxCode], '\n') + 1
	return text[:end] + "(the rest is left out)\n"
}
