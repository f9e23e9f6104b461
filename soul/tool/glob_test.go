package tool

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/fileop"
)

func TestGlob(t *testing.T) {
	p := newPlace(t, map[string]string{
		"main.go": "", "README.md": "", "src/a.ts": "", "src/b.tsx": "", "src/deep/c.ts": "", "src/deep/d.go": "", "node_modules/m/index.ts": "", ".gitignore": "node_modules\n",
		".hidden/x.ts": "", "src/[odd]/e.ts": "", ".git/config": "", "名.ts": "",
	}, nil)
	link(t, "src", filepath.Join(p.root, "alias"))
	for _, test := range []struct{ name, args, output, message string }{
		{"top", `{"pattern":"*.go"}`, "main.go", "Found 1 path."},
		{"any depth", `{"pattern":"**/*.ts"}`, ".hidden/x.ts src/[odd]/e.ts src/a.ts src/deep/c.ts 名.ts", "Found 5 paths."},
		{"braces", `{"pattern":"src/*.{ts,tsx}"}`, "src/a.ts src/b.tsx", "2 paths"},
		{"braces with slashes", `{"pattern":"{src/deep,.hidden}/*"}`, ".hidden/x.ts src/deep/c.ts src/deep/d.go", "3 paths"},
		{"folders too", `{"pattern":"src/*"}`, "src/[odd] src/a.ts src/b.tsx src/deep", "4 paths"},
		{"files only", `{"pattern":"src/*","include_dirs":false}`, "src/a.ts src/b.tsx", "2 paths"},
		{"below a folder", `{"pattern":"src/deep/**"}`, "src/deep src/deep/c.ts src/deep/d.go", "3 paths"},
		{"a directory", `{"pattern":"*.ts","directory":"src"}`, "src/a.ts", "1 path"},
		{"the working directory", `{"pattern":"*.go","directory":"."}`, "main.go", "1 path"},
		{"an absolute directory", fmt.Sprintf(`{"pattern":"*/c.*","directory":%q}`, filepath.Join(p.root, "src")), "src/deep/c.ts", "1 path"},
		{"an absolute pattern", fmt.Sprintf(`{"pattern":%q}`, filepath.ToSlash(p.root)+"/src/**/*.go"), "src/deep/d.go", "1 path"},
		{"escaped", `{"pattern":"src/\\[odd\\]/*"}`, "src/[odd]/e.ts", "1 path"},
		{"a dot in front", `{"pattern":"./src/*.ts"}`, "src/a.ts", "1 path"},
		{"ignored", `{"pattern":"node_modules/**/*.ts"}`, "", "Nothing fits \"node_modules/**/*.ts\". What .gitignore files leave out was not looked at"},
		{"ignored too", `{"pattern":"node_modules/**/*.ts","include_ignored":true}`, "node_modules/m/index.ts", "1 path"},
		{"an ignored directory that is named", `{"pattern":"**/*.ts","directory":"node_modules"}`, "node_modules/m/index.ts", "1 path"},
		{"links", `{"pattern":"ali*"}`, "alias", "1 path"},
		{"not through links", `{"pattern":"alias/*"}`, "", "Nothing fits"},
		{"not the repository", `{"pattern":".git/*","include_ignored":true}`, "", "Nothing fits"},
		{"no wildcard", `{"pattern":"src/a.ts"}`, "src/a.ts", "1 path"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := p.ok("Glob", test.args)
			if got := words(v.Output.Text); got != test.output {
				t.Errorf("output %q, want %q", got, test.output)
			}
			mustContain(t, v.Message, test.message)
		})
	}
	p.fails("Glob", `{"pattern":"[a"}`, "malformed")
	p.fails("Glob", `{"pattern":"*","directory":"main.go"}`, "is a file")
	p.fails("Glob", `{"pattern":"*","directory":"none"}`, "none")
	p.fails("Glob", `{"pattern":"*","directory":"../.."}`, "outside the workspace")
	p.fails("Glob", `{"pattern":"/x/*","directory":"src"}`, "must be left out")
	p.fails("Glob", `{"pattern":""}`, "1 to 2000 characters")
}

func TestGlobBounds(t *testing.T) {
	files := map[string]string{}
	for i := range maxGlobShown + 200 {
		files[fmt.Sprintf("d/%04d", i)] = ""
	}
	p := newPlace(t, files, nil)
	v := p.ok("Glob", `{"pattern":"d/*"}`)
	if n := strings.Count(v.Output.Text, "\n"); n != maxGlobShown || !strings.HasPrefix(v.Output.Text, "d/0000\n") {
		t.Errorf("%d lines, the first %.10q", n, v.Output.Text)
	}
	mustContain(t, v.Message, "1200 paths fit; the first 1000, by path, are given.")
}

// troubledTree gives one file, a folder that cannot be read, and too many files.
type troubledTree struct{ stuckTree }

func (troubledTree) Walk(_ context.Context, _ string, _ fileop.WalkOptions) iter.Seq2[fileop.Entry, error] {
	return func(yield func(fileop.Entry, error) bool) {
		_ = yield(fileop.Entry{Path: "/w/a", Rel: "a"}, nil) &&
			yield(fileop.Entry{Path: "/w/b", Rel: "b", Type: fs.ModeDir}, fs.ErrPermission) &&
			yield(fileop.Entry{Path: "/w", Type: fs.ModeDir}, fileop.ErrWalkLimit)
	}
}

func TestGlobTrouble(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Tree = troubledTree{} })
	v := w.call(t.Context(), "1", "Glob", `{"pattern":"*"}`)
	if v.IsError || v.Output.Text != "a\n" {
		t.Errorf("result %+v", v)
	}
	mustContain(t, v.Message, "Found 1 path.", "There are too many files", "1 folder could not be read.")
}
