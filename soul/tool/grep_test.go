package tool

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"kimi-acp/fileop"
)

func TestGrep(t *testing.T) {
	p := newPlace(t, map[string]string{
		"a.go":       "package a\n\nfunc Alpha() {}\n// alpha again: Alpha\nend\n",
		"b/b.py":     "def alpha():\r\n    pass\r\nalpha()\r\n",
		"b/c.txt":    "nothing\nlast alpha",
		"bin":        "alpha\x00alpha\n",
		"late":       strings.Repeat("x\n", 5000) + "alpha\x00\n",
		"latin":      "alpha \xe9\n",
		"ign/x.go":   "Alpha\n",
		".gitignore": "ign/\n",
		"blocks":     "start {\n in\n}\nstart {\n other\n}\n",
	}, nil)
	for _, test := range []struct{ name, args, output, message string }{
		{"files", `{"pattern":"alpha"}`, "a.go\nb/b.py\nb/c.txt\nlate\nlatin\n", "Found matches in 5 files."},
		{"one file", `{"pattern":"Alpha","path":"a.go"}`, "a.go\n", "Found matches in 1 file."},
		{"a folder", `{"pattern":"alpha","path":"b"}`, "b/b.py\nb/c.txt\n", "2 files"},
		{"an absolute folder", fmt.Sprintf(`{"pattern":"alpha","path":%q}`, filepath.Join(p.root, "b")), "b/b.py\nb/c.txt\n", "2 files"},
		{"ignored too", `{"pattern":"Alpha","include_ignored":true}`, "a.go\nign/x.go\n", "2 files"},
		{"an ignored file that is named", `{"pattern":"Alpha","path":"ign/x.go"}`, "ign/x.go\n", "1 file"},
		{"by glob", `{"pattern":"alpha","glob":"*.{py,txt}"}`, "b/b.py\nb/c.txt\n", "2 files"},
		{"by glob with a slash", `{"pattern":"alpha","glob":"/b/*.py"}`, "b/b.py\n", "1 file"},
		{"but a glob", `{"pattern":"alpha","glob":"!*.py"}`, "a.go\nb/c.txt\nlate\nlatin\n", "4 files"},
		{"by type", `{"pattern":"alpha","type":"Python"}`, "b/b.py\n", "1 file"},
		{"any case", `{"pattern":"ALPHA","-i":true,"type":"go"}`, "a.go\n", "1 file"},
		{"content", `{"pattern":"Alpha","output_mode":"content","path":"a.go"}`, "a.go:3:func Alpha() {}\na.go:4:// alpha again: Alpha\n", "Found 2 matching lines in 1 file."},
		{"content of several", `{"pattern":"alpha","output_mode":"content","path":"b"}`, "b/b.py:1:def alpha():\nb/b.py:3:alpha()\nb/c.txt:2:last alpha\n", "Found 3 matching lines in 2 files."},
		{"no numbers", `{"pattern":"Alpha\\(","output_mode":"content","-n":false}`, "a.go:func Alpha() {}\n", "1 matching line"},
		{"line ends of Windows", `{"pattern":"pass$","output_mode":"content"}`, "b/b.py:2:    pass\n", "1 matching line"},
		{"broken text", `{"pattern":"alpha .","output_mode":"content","path":"latin"}`, "latin:1:alpha \uFFFD\n", "1 matching line"},
		{"around", `{"pattern":"func","output_mode":"content","-C":1}`, "a.go-2-\na.go:3:func Alpha() {}\na.go-4-// alpha again: Alpha\n", "1 matching line"},
		{"before", `{"pattern":"end","output_mode":"content","-B":2,"path":"a.go"}`, "a.go-3-func Alpha() {}\na.go-4-// alpha again: Alpha\na.go:5:end\n", "1 matching line"},
		{"groups", `{"pattern":"start","output_mode":"content","-A":1}`, "blocks:1:start {\nblocks-2- in\n--\nblocks:4:start {\nblocks-5- other\n", "2 matching lines"},
		{"groups that touch", `{"pattern":"start","output_mode":"content","-C":1}`, "blocks:1:start {\nblocks-2- in\nblocks-3-}\nblocks:4:start {\nblocks-5- other\n", "2 matching lines"},
		{"groups of several files", `{"pattern":"^(end|nothing)$","output_mode":"content","-B":1}`, "a.go-4-// alpha again: Alpha\na.go:5:end\n--\nb/c.txt:1:nothing\n", "2 matching lines in 2 files"},
		{"counts", `{"pattern":"[Aa]lpha","output_mode":"count_matches","glob":"[ab].*"}`, "a.go:3\nb/b.py:2\n", "Found 5 matches in 2 files."},
		{"count in one file", `{"pattern":"end","output_mode":"count_matches","path":"a.go"}`, "a.go:1\n", "Found 1 match in 1 file."},
		{"spanning lines", `{"pattern":"start \\{\\n in.*?\\}","multiline":true,"output_mode":"content"}`, "blocks:1:start {\nblocks:2: in\nblocks:3:}\n", "3 matching lines"},
		{"nothing", `{"pattern":"absent"}`, "", "No matches found. What .gitignore files leave out was not searched"},
		{"nothing in all", `{"pattern":"absent","include_ignored":true}`, "", "No matches found."},
		{"a page", `{"pattern":"alpha","head_limit":2}`, "a.go\nb/b.py\n", "Found matches in 5 files. There are more: go on with `offset` 2."},
		{"the next page", `{"pattern":"alpha","head_limit":2,"offset":2}`, "b/c.txt\nlate\n", "go on with `offset` 4."},
		{"the last page", `{"pattern":"alpha","head_limit":2,"offset":4}`, "latin\n", "Found matches in 5 files."},
		{"behind the last page", `{"pattern":"alpha","offset":9}`, "", "There are only 5 lines, all before `offset`."},
		{"a page of content", `{"pattern":"alpha","output_mode":"content","path":"b","head_limit":1,"offset":1}`, "b/b.py:3:alpha()\n", "go on with `offset` 2."},
		{"no limit", `{"pattern":"alpha","head_limit":0}`, "a.go\nb/b.py\nb/c.txt\nlate\nlatin\n", "5 files."},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 3 { // whatever file is done first
				v := p.ok("Grep", test.args)
				if v.Output.Text != test.output {
					t.Errorf("output %q, want %q", v.Output.Text, test.output)
				}
				mustContain(t, v.Message, test.message)
			}
		})
	}
	p.fails("Grep", `{"pattern":"("}`, "`pattern` cannot be used", "RE2")
	p.fails("Grep", `{"pattern":"a\\nb"}`, "`multiline`")
	p.fails("Grep", `{"pattern":"a","path":"none"}`, "no such file")
	p.fails("Grep", `{"pattern":"a","path":"../x"}`, "outside the workspace")
	p.fails("Grep", `{"pattern":"a","glob":"[a"}`, "malformed")
	p.fails("Grep", `{"pattern":"a","type":"klingon"}`, "one of c, clojure")
	p.fails("Grep", `{"pattern":"a","output_mode":"all"}`, "files_with_matches")
}

func TestGrepWithholdsSecrets(t *testing.T) {
	p := newPlace(t, map[string]string{".env": "KEY=secret\n", "sub/id_rsa": "secret\n", "ok": "secret\n", ".env.example": "KEY=secret\n"}, func(o *Options) { o.Asker = rejectAll{} })
	link(t, ".env", filepath.Join(p.root, "alias"))
	for _, mode := range []string{outputFiles, outputContent, outputCounts} {
		for _, path := range []string{".", ".env", "alias", "sub/id_rsa", "sub"} {
			v := p.call(t.Context(), "1", "Grep", fmt.Sprintf(`{"pattern":"secret","path":%q,"output_mode":%q,"-n":false}`, path, mode))
			text := v.Output.Text + v.Message
			for _, leak := range []string{"KEY=secret\n.env:", ".env:", "id_rsa:", "alias"} {
				if strings.Contains(v.Output.Text, leak) {
					t.Errorf("%s in %s shows %q", mode, path, v.Output.Text)
				}
			}
			if !strings.Contains(text, ".env") && !strings.Contains(text, "id_rsa") && !v.Rejected {
				t.Errorf("%s in %s does not say what was withheld: %q", mode, path, text)
			}
		}
	}
	v := p.ok("Grep", `{"pattern":"secret"}`)
	if v.Output.Text != ".env.example\nok\n" {
		t.Errorf("output %q", v.Output.Text)
	}
	mustContain(t, v.Message, "Left out, since reading them has to be asked for; name one to ask for it: .env, sub/id_rsa.")
}

func TestGrepSeesWhatTheUserSees(t *testing.T) {
	p := newPlace(t, map[string]string{"open": "on disk\n", "other": "on disk\n", "ign": "on disk\n", ".gitignore": "ign\n"}, nil)
	p.open("open", "typed here\n")
	p.open("fresh/new.go", "typed there\n")
	p.open("ign", "typed too\n")
	p.open(".env", "typed=secret\n")
	v := p.ok("Grep", `{"pattern":"typed","output_mode":"content"}`)
	if want := "open:1:typed here\nfresh/new.go:1:typed there\n"; v.Output.Text != want {
		t.Errorf("output %q, want %q", v.Output.Text, want)
	}
	mustContain(t, v.Message, "Left out", ".env")
	if v := p.ok("Grep", `{"pattern":"on disk"}`); v.Output.Text != "other\n" {
		t.Errorf("output %q", v.Output.Text)
	}
	if v := p.ok("Grep", `{"pattern":"typed","path":"fresh","glob":"*.py"}`); v.Output.Text != "" {
		t.Errorf("output %q", v.Output.Text)
	}
	if v := p.ok("Glob", `{"pattern":"**/*.go"}`); v.Output.Text != "fresh/new.go\n" {
		t.Errorf("output %q", v.Output.Text)
	}
	if v := p.ok("Grep", `{"pattern":"there","path":"fresh/new.go"}`); v.Output.Text != "fresh/new.go\n" {
		t.Errorf("output %q", v.Output.Text)
	}
	// A file that the editor has closed is the one on disk again.
	p.editor.mu.Lock()
	clear(p.editor.texts)
	p.editor.mu.Unlock()
	if v := p.ok("Grep", `{"pattern":"on disk"}`); v.Output.Text != "open\nother\n" {
		t.Errorf("output %q", v.Output.Text)
	}
}

func TestGrepBounds(t *testing.T) {
	wide := strings.Repeat("é", 3000) + "needle" + strings.Repeat("x", 3000)
	files := map[string]string{"wide": wide + "\n" + "needle first" + strings.Repeat("y", 3000) + "\n", "big": strings.Repeat("x", maxSearched+1) + "needle\n"}
	for i := range 40 {
		files[fmt.Sprintf("many/%02d", i)] = strings.Repeat("a line with a thread in it\n", 100)
	}
	p := newPlace(t, files, nil)
	v := p.ok("Grep", `{"pattern":"needle","output_mode":"content"}`)
	want := "wide:1:…" + strings.Repeat("é", lineLead) + "needle" + strings.Repeat("x", maxSearchLine-lineLead-6) + "…\n" +
		"wide:2:needle first" + strings.Repeat("y", maxSearchLine-12) + "…\n"
	if v.Output.Text != want {
		t.Errorf("output %q", v.Output.Text)
	}
	mustContain(t, v.Message, "larger than 16 MiB: big.")

	// All pages together are everything, once.
	seen := 0
	for offset := 0; ; {
		v := p.ok("Grep", fmt.Sprintf(`{"pattern":"thread","output_mode":"content","head_limit":0,"offset":%d}`, offset))
		n := strings.Count(v.Output.Text, "\n")
		if len(v.Output.Text) > maxSearchOutput || n == 0 {
			t.Fatalf("%d bytes, %d lines", len(v.Output.Text), n)
		}
		first := fmt.Sprintf("many/%02d:%d:", offset/100, offset%100+1)
		if !strings.HasPrefix(v.Output.Text, first) {
			t.Fatalf("the page begins with %.20q, want %q", v.Output.Text, first)
		}
		seen += n
		if _, err := fmt.Sscanf(v.Message[strings.LastIndex(v.Message, "offset")+len("offset"):], "` %d.", &offset); err != nil {
			break
		}
	}
	if seen != 4000 {
		t.Errorf("%d lines on all pages", seen)
	}
}

// stuckTree finds one file and then waits until the search is ended.
type stuckTree struct{ limit bool }

func (stuckTree) Walk(context.Context, string, fileop.WalkOptions) iter.Seq2[fileop.Entry, error] {
	return func(func(fileop.Entry, error) bool) {}
}

func (s stuckTree) Scan(ctx context.Context, _ string, o fileop.ScanOptions) error {
	e := fileop.Entry{Path: "/w/a", Rel: "a"}
	if o.Want(e) {
		o.Visit(0, e, []byte("needle\n"), nil)
	}
	if s.limit {
		return fileop.ErrWalkLimit
	}
	<-ctx.Done()
	return ctx.Err()
}

func TestGrepEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *Options) { o.Tree = stuckTree{} })
		v := w.call(t.Context(), "1", "Grep", `{"pattern":"needle"}`)
		if v.IsError || v.Output.Text != "a\n" {
			t.Errorf("result %+v", v)
		}
		mustContain(t, v.Message, "Found matches in 1 file.", "ended after 20 seconds", "not all results")

		ctx, cancel := context.WithCancel(t.Context())
		done := w.start(ctx, "2", "Grep", `{"pattern":"needle"}`)
		synctest.Wait()
		cancel()
		if v := <-done; !v.IsError || brief(t, v) != "Interrupted" {
			t.Errorf("result %+v", v)
		}
	})
	w := newWorld(t, func(o *Options) { o.Tree = stuckTree{limit: true} })
	v := w.call(t.Context(), "1", "Grep", `{"pattern":"needle"}`)
	mustContain(t, v.Message, "Found matches in 1 file.", "too many files")

	w = newWorld(t, nil)
	for name, args := range map[string]string{"Grep": `{"pattern":"x"}`, "Glob": `{"pattern":"x"}`} {
		if v := w.call(t.Context(), "1", name, args); !v.IsError {
			t.Errorf("%s without a tree: %+v", name, v)
		}
	}
}
