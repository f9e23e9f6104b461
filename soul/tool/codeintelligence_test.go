package tool

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/contextprovider"
	"kimi-acp/soul/wire"
)

// scriptedCode answers what the test says, and notes what it was asked.
type scriptedCode struct {
	asked    []string
	found    contextprovider.Found
	uses     []contextprovider.Reference
	problems []contextprovider.Diagnostic
	rewrites []contextprovider.Rewrite
	err      error
}

func (s *scriptedCode) Diagnostics(_ context.Context, path string) ([]contextprovider.Diagnostic, error) {
	s.asked = append(s.asked, path)
	return s.problems, s.err
}

func (s *scriptedCode) Definition(_ context.Context, at contextprovider.Place) (contextprovider.Found, error) {
	s.asked = append(s.asked, fmt.Sprintf("%s:%d %s", at.Path, at.Line, at.Symbol))
	return s.found, s.err
}

func (s *scriptedCode) References(_ context.Context, at contextprovider.Place) ([]contextprovider.Reference, error) {
	s.asked = append(s.asked, fmt.Sprintf("%s:%d %s", at.Path, at.Line, at.Symbol))
	return s.uses, s.err
}

func (s *scriptedCode) Symbols(_ context.Context, path, name string) (contextprovider.Found, error) {
	s.asked = append(s.asked, path+" "+name)
	return s.found, s.err
}

func (s *scriptedCode) Rename(_ context.Context, at contextprovider.Place, to string) ([]contextprovider.Rewrite, error) {
	s.asked = append(s.asked, fmt.Sprintf("%s:%d %s to %s", at.Path, at.Line, at.Symbol, to))
	return s.rewrites, s.err
}

func TestCodeIntelligence(t *testing.T) {
	symbol := contextprovider.Symbol{Name: "T.Run", Kind: "method", Path: "/w/a.go", Line: 3, Signature: "func (t *T) Run(\n\tn int)", Doc: "Run\x1b runs.", References: -1}
	problem := contextprovider.Diagnostic{Lines: contextprovider.LineRange{First: 2, Last: 2}, Column: 5, Severity: contextprovider.SeverityError, Source: "compiler", Code: "X", Message: "no\nsuch thing"}
	noServer := fmt.Errorf("%w: gopls is not installed", contextprovider.ErrNoServer)
	for _, tt := range []struct {
		name, args   string
		code         scriptedCode
		asked        string
		text, advice string
	}{
		{
			name: "definition", args: `{"operation":"definition","path":"b.go","symbol":"Run","line":7}`, asked: "/w/b.go:7 Run",
			code: scriptedCode{found: contextprovider.Found{Symbols: []contextprovider.Symbol{symbol}, By: "gopls"}},
			text: "a.go:3: method T.Run\n    func (t *T) Run(\n        n int)\n    Run\\x1b runs.\n", advice: "1 symbol found by gopls.",
		},
		{
			name: "symbols of the workspace", args: `{"operation":"symbols","symbol":"Run"}`, asked: " Run",
			code: scriptedCode{found: contextprovider.Found{Symbols: []contextprovider.Symbol{{Name: "Run", Path: "/lib/x.go", Line: 1}}, More: true}},
			text: "/lib/x.go:1: Run\n", advice: "1 symbol found in the text, without a language server: it may be another one of that name. There are more.",
		},
		{
			name: "references", args: `{"operation":"references","path":"a.go","symbol":"Run"}`, asked: "/w/a.go:0 Run",
			code: scriptedCode{uses: []contextprovider.Reference{{Path: "/w/b.go", Line: 2}, {Path: "/w/a.go", Line: 9}, {Path: "/w/.env", Line: 1}, {Path: "/w/b.go", Line: 1}}},
			text: ".env\n  1\na.go\n  9\nb.go\n  1| one\n  2| two\n", advice: "Run is used in 4 places of 3 files.",
		},
		{name: "no references", args: `{"operation":"references","path":"a.go","symbol":"Run"}`, asked: "/w/a.go:0 Run", advice: "Run is not used anywhere else."},
		{
			name: "diagnostics", args: `{"operation":"diagnostics","path":"a.go"}`, asked: "/w/a.go",
			code: scriptedCode{problems: []contextprovider.Diagnostic{problem}}, text: "2:5: error (compiler X): no such thing\n", advice: "1 problem in /w/a.go.",
		},
		{name: "no diagnostics", args: `{"operation":"diagnostics","path":"a.go"}`, asked: "/w/a.go", advice: "There are no problems in /w/a.go."},
		{name: "no server", args: `{"operation":"references","path":"a.go","symbol":"Run"}`, asked: "/w/a.go:0 Run", code: scriptedCode{err: noServer}, advice: "no language server can be asked about this file: gopls is not installed. Use Grep and ReadFile."},
		{name: "nothing", args: `{"operation":"symbols","path":"a.go"}`, asked: "/w/a.go ", advice: "Nothing was found. No language server was asked; try Grep."},
		{name: "no file", args: `{"operation":"definition","symbol":"Run"}`, advice: "Error validating JSON arguments: `definition` needs a `path` and a `symbol`."},
		{name: "no file of problems", args: `{"operation":"diagnostics"}`, advice: "Error validating JSON arguments: `diagnostics` needs a `path`."},
		{name: "no name", args: `{"operation":"symbols"}`, advice: "Error validating JSON arguments: `symbols` needs a `path`, or a `symbol` to look for."},
		{name: "gone", args: `{"operation":"diagnostics","path":"a.go"}`, asked: "/w/a.go", code: scriptedCode{err: fmt.Errorf("a.go: %w", fs.ErrNotExist)}, advice: "a.go: file does not exist."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, func(o *Options) { o.Tools = []Tool{NewCodeIntelligence(&tt.code)} })
			w.files.texts["/w/b.go"] = "one\n  two  \n"
			w.files.texts["/w/.env"] = "SECRET=1\n"
			got := w.call(t.Context(), "c", "CodeIntelligence", tt.args)
			if diff := cmp.Diff(tt.text, got.Output.Text); diff != "" {
				t.Error(diff)
			}
			if got.Message != tt.advice {
				t.Errorf("%s, want %s", got.Message, tt.advice)
			}
			if asked := strings.Join(tt.code.asked, ","); asked != tt.asked {
				t.Errorf("asked %s, want %s", asked, tt.asked)
			}
		})
	}
}

func TestRenameSymbol(t *testing.T) { synctest.Test(t, renameSymbolTest) }

func renameSymbolTest(t *testing.T) {
	code := &scriptedCode{rewrites: []contextprovider.Rewrite{
		{Path: "/w/a.go", Before: "old()\n", After: "neu()\n"},
		{Path: "/w/b.go", Before: "x old()\n", After: "x neu()\n"},
	}}
	w := newWorld(t, func(o *Options) { o.Tools = []Tool{NewRenameSymbol(code)} })
	w.files.texts["/w/a.go"], w.files.texts["/w/b.go"] = "old()\n", "x old()\n"
	const args = `{"path":"a.go","symbol":"old","new_name":"neu","line":1}`

	done := w.start(t.Context(), "c", "RenameSymbol", args)
	for _, path := range []string{"/w/a.go", "/w/b.go"} {
		synctest.Wait()
		if r := w.pending()["c"]; !strings.Contains(r.Description, "Rename in file `"+path) {
			t.Fatalf("asked %q", r.Description)
		}
		w.answer("c", wire.ApprovalApprove, "")
	}
	got := <-done
	if got.IsError || got.Message != "Renamed old to neu in 2 files. Edited /w/a.go. Edited /w/b.go." || w.files.texts["/w/b.go"] != "x neu()\n" {
		t.Errorf("%+v %q", got, w.files.texts)
	}
	if asked := strings.Join(code.asked, ","); asked != "/w/a.go:1 old to neu" {
		t.Errorf("asked %s", asked)
	}

	// A file that has changed since the server saw it: nothing is written anywhere.
	w.files.texts["/w/a.go"], w.files.texts["/w/b.go"] = "old()\n", "y old()\n"
	got = w.call(t.Context(), "d", "RenameSymbol", args)
	if !got.IsError || w.files.texts["/w/a.go"] != "old()\n" {
		t.Errorf("%+v %q", got, w.files.texts)
	}
	code.err = fmt.Errorf("%w: none", contextprovider.ErrNoServer)
	if got := w.call(t.Context(), "e", "RenameSymbol", args); !strings.HasSuffix(got.Message, "Find the places with Grep and edit them.") {
		t.Errorf("%+v", got)
	}
}
