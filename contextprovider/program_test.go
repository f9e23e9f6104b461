package contextprovider

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProgram(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("SKIPPED: the programs of this test are scripts for sh")
	}
	dir := t.TempDir()
	query := Query{
		SessionID: "s", Roots: []string{dir}, Prompt: "hello",
		Mentions: []Mention{{Kind: MentionFile, Path: "/w/b.go", Lines: &LineRange{2, 3}}, {Kind: MentionOther, URI: "x:y"}},
		Editor:   &EditorState{Active: "/w/a.go", Cursor: &Position{3, 4}, Selection: &Selection{From: Position{3, 1}, To: Position{5, 1}}, Open: []Document{{Path: "/w/a.go"}}},
	}
	for _, c := range []struct{ name, script, want, err string }{
		{"items", `cat > query; echo '{"items":[{"title":"one","text":"T"},{"title":"two","path":"/w/a.go"}]}'`, "one  T;two /w/a.go ", ""},
		{"nothing", `echo '{"items":[]}'`, "", ""},
		{"it reads nothing and leaves", `exec <&-; echo '{"items":[{"title":"x"}]}'`, "x  ", ""},
		{"no JSON", `echo hello`, "", `it did not write {"items": […]}`},
		{"it fails", `echo no database >&2; exit 3`, "", "it ended with code 3: no database"},
		{"too much", `head -c 300000 /dev/zero`, "", "it wrote more than 262144 bytes"},
	} {
		p := Program{Label: "tickets", Args: []string{"sh", "-c", c.script}, Environ: []string{"PATH=" + os.Getenv("PATH")}}
		facts, err := p.Gather(t.Context(), query)
		var got []string
		for _, n := range facts.Notes {
			got = append(got, n.Title+" "+n.Path+" "+n.Text)
		}
		said := ""
		if err != nil {
			said = err.Error()
		}
		if strings.Join(got, ";") != c.want || said != c.err {
			t.Errorf("%s: %q, %q", c.name, got, said)
		}
	}
	if _, err := (Program{Label: "none", Args: []string{filepath.Join(dir, "none")}}).Gather(t.Context(), query); err == nil || err.Error() != "it could not be started" {
		t.Errorf("no such program: %v", err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "query"))
	if err != nil {
		t.Fatal(err)
	}
	var asked, want any
	if err := json.Unmarshal(raw, &asked); err != nil {
		t.Fatal(err)
	}
	dirJSON, _ := json.Marshal(dir)
	_ = json.Unmarshal([]byte(`{"session":"s","roots":[`+string(dirJSON)+`],"prompt":"hello","mentions":[{"path":"/w/b.go","lines":{"first":2,"last":3}}],
		"editor":{"active":"/w/a.go","line":3,"column":4,"selection":{"first":3,"last":5},"open":["/w/a.go"]}}`), &want)
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}

// In a workspace that is not trusted a program finds nothing that others have put there.
func TestProgramInAnUntrustedWorkspace(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("SKIPPED: the programs of this test are scripts for sh")
	}
	dir, home := t.TempDir(), t.TempDir()
	script := filepath.Join(dir, "tool")
	const text = `echo "{\"items\":[{\"title\":\"$(pwd -P)\"}]}"`
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	real := func(dir string) string {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			t.Fatal(err)
		}
		return real
	}
	for _, c := range []struct {
		name    string
		args    []string
		trusted bool
		want    string
	}{
		{"one of the user's", []string{"sh", "-c", text}, false, real(home)},
		{"one of the user's, trusted", []string{"sh", "-c", text}, true, real(dir)},
		{"by a relative name", []string{"./tool"}, false, "it could not be started"},
		{"by its whole name", []string{script}, false, "it lies in the workspace, which is not trusted"},
		{"by its whole name, trusted", []string{script}, true, real(dir)},
	} {
		p := Program{
			Label: "tool", Args: c.args, Environ: []string{"PATH=" + os.Getenv("PATH")},
			Trusted: func() bool { return c.trusted }, Home: home,
		}
		facts, err := p.Gather(t.Context(), Query{Roots: []string{dir}})
		got := ""
		if err != nil {
			got = err.Error()
		} else if len(facts.Notes) == 1 {
			got = facts.Notes[0].Title
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
