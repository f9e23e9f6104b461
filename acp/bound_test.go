package acp_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
)

// patch is the line of a script that calls the tool ApplyPatch.
func patch(id, text string) string {
	return toolCall(id, "ApplyPatch", map[string]any{"patch": text})
}

// TestWhatWasAskedIsWhatIsDone changes what an action is about while its question is
// open, and then says yes: nothing is written, deleted or moved, and what came meanwhile
// stays. Where it is asked for again, the question shows what came.
func TestWhatWasAskedIsWhatIsDone(t *testing.T) {
	const before, mine = "one\ntwo\nthree\n", "one\ntwo\nthree\nmine\n"
	for name, w := range map[string]struct {
		script    string
		meanwhile map[string]string // files as the user leaves them, "-": gone
		want      map[string]string // every file in the end
	}{
		"edit":        {editFile("e", "a.txt", "two", "2"), map[string]string{"a.txt": mine}, map[string]string{"a.txt": mine}},
		"edit, gone":  {editFile("e", "a.txt", "two", "2"), map[string]string{"a.txt": "-"}, map[string]string{}},
		"overwrite":   {readFile("r", "a.txt") + writeFile("w", "a.txt", "new\n"), map[string]string{"a.txt": mine}, map[string]string{"a.txt": mine}},
		"make":        {writeFile("w", "new.txt", "new\n"), map[string]string{"new.txt": mine}, map[string]string{"a.txt": before, "new.txt": mine}},
		"patch":       {patch("p", "*** Update File: a.txt\n-two\n+2\n"), map[string]string{"a.txt": mine}, map[string]string{"a.txt": mine}},
		"delete":      {patch("p", "*** Delete File: a.txt\n"), map[string]string{"a.txt": mine}, map[string]string{"a.txt": mine}},
		"move":        {patch("p", "*** Update File: a.txt\n*** Move to: b.txt\n"), map[string]string{"a.txt": mine}, map[string]string{"a.txt": mine}},
		"move, onto":  {patch("p", "*** Update File: a.txt\n*** Move to: b.txt\n"), map[string]string{"b.txt": mine}, map[string]string{"a.txt": before, "b.txt": mine}},
		"move, edit":  {patch("p", "*** Update File: a.txt\n*** Move to: b.txt\n-two\n+2\n"), map[string]string{"a.txt": mine}, map[string]string{"a.txt": mine}},
		"two, second": {patch("p", "*** Add File: 0.txt\n+first\n*** Delete File: a.txt\n"), map[string]string{"a.txt": mine}, map[string]string{"0.txt": "first\n", "a.txt": mine}},
	} {
		for way, k := range map[string]acptest.Capabilities{"disk": {}, "editor": both} {
			t.Run(name+", "+way, func(t *testing.T) {
				c := stage{scripts: []string{w.script, "text: done"}}.serve(t)
				dir := t.TempDir()
				put(t, dir, "a.txt", before)
				asked := 0
				c.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
					if strings.Contains(string(p.ToolCall), "first") {
						return acptest.Choose("allow_once")(ctx, p)
					}
					if asked++; asked > 1 {
						if shown := string(p.ToolCall); strings.Contains(shown, "diff") && !strings.Contains(shown, "mine") {
							t.Errorf("asked again without what came meanwhile: %s", p.ToolCall)
						}
						return acptest.Choose("reject_once")(ctx, p)
					}
					for file, text := range w.meanwhile {
						leave(t, filepath.Join(dir, file), text)
					}
					return acptest.Choose("allow_once")(ctx, p)
				}
				c.Initialize(k)
				turn := c.NewSession(dir).Prompt(acptest.Text("go"))
				turn.Wait()
				if got := filesIn(t, dir); !maps.Equal(got, w.want) {
					t.Errorf("the files are %q, want %q", got, w.want)
				}
				calls := turn.Calls()
				if last := calls[len(calls)-1]; last.Status != "failed" {
					t.Errorf("the call is %s: %s", last.Status, last.Text())
				}
			})
		}
	}
}

// leave makes a file what the user wants it to be.
func leave(t *testing.T, path, text string) {
	t.Helper()
	err := os.WriteFile(path, []byte(text), 0o600)
	if text == "-" {
		err = os.Remove(path)
	}
	if err != nil {
		t.Error(err)
	}
}

func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all[e.Name()] = onlyText(t, filepath.Join(dir, e.Name()))
	}
	return all
}

// TestCommandRunsWhereItWasAsked puts another folder into the place of the working
// directory while a command is asked for. The command is asked for again, and the
// question says why.
func TestCommandRunsWhereItWasAsked(t *testing.T) {
	for name, swap := range map[string]func(dir, other string) error{
		"a link":         func(dir, other string) error { return os.Symlink(other, dir) },
		"another folder": func(dir, other string) error { return os.Rename(other, dir) },
	} {
		t.Run(name, func(t *testing.T) {
			c := stage{scripts: []string{shell("s", "touch made"), "text: done"}}.serve(t)
			base := t.TempDir()
			dir, other := filepath.Join(base, "w"), filepath.Join(base, "other")
			for _, d := range []string{dir, other} {
				if err := os.Mkdir(d, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			var questions []string
			c.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
				if questions = append(questions, string(p.ToolCall)); len(questions) > 1 {
					return acptest.Choose("reject_once")(ctx, p)
				}
				if err := os.Rename(dir, dir+"-before"); err != nil {
					t.Error(err)
				}
				if err := swap(dir, other); err != nil {
					t.Error(err)
				}
				return acptest.Choose("allow_once")(ctx, p)
			}
			c.Initialize(both)
			c.NewSession(dir).Prompt(acptest.Text("go")).Wait()
			if len(questions) != 2 || strings.Contains(questions[0], "another folder now") || !strings.Contains(questions[1], "another folder now") {
				t.Errorf("asked %q", questions)
			}
			for _, d := range []string{dir, dir + "-before"} {
				if got := filesIn(t, d); len(got) > 0 {
					t.Errorf("in %s there is %q", d, got)
				}
			}
		})
	}
}
