package scripted_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/llm/scripted"
)

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "scripts")
	for _, tt := range []struct {
		name, content string
		want          []string
		err           string
	}{
		{"json", ` ["text: a", ""] `, []string{"text: a", ""}, ""},
		{"no scripts", `[]`, []string{}, ""},
		{"text", "\ntext: a\n---\n\n---\n text: b \n", []string{"text: a", "text: b"}, ""},
		{"windows line ends", "text: a\r\n---\r\ntext: b\r\n", []string{"text: a", "text: b"}, ""},
		{"empty", " \n", nil, `Scripted echo file must be a JSON array of strings or a text file split by '\n---\n'.`},
		{"object", `{}`, nil, "Scripted echo JSON must be an array of strings."},
		{"null", `null`, nil, "Scripted echo JSON must be an array of strings."},
		{"number in array", `["a", 1]`, nil, "Scripted echo JSON must be an array of strings."},
		{"null in array", `["a", null]`, nil, "Scripted echo JSON must be an array of strings."},
		{"not text", "text: \xff", nil, "scripted echo file " + path + " is not UTF-8 text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := scripted.Load(path)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if text := errorText(err); text != tt.err {
				t.Errorf("error %q, want %q", text, tt.err)
			}
		})
	}
}

func TestLoadPath(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	if err := os.WriteFile(filepath.Join(home, "s.txt"), []byte("text: a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := scripted.Load("~/s.txt"); err != nil || len(got) != 1 {
		t.Errorf("Load(~/s.txt) = %q, %v", got, err)
	}
	for path, want := range map[string]string{
		"":            "KIMI_SCRIPTED_ECHO_SCRIPTS is required for _scripted_echo.",
		"~/missing":   "Scripted echo file not found: " + filepath.Join(home, "missing"),
		"~nobody-xyz": "Scripted echo file not found: ~nobody-xyz",
	} {
		if _, err := scripted.Load(path); errorText(err) != want {
			t.Errorf("Load(%q): %v, want %s", path, err, want)
		}
	}
	if _, err := scripted.Load(home); err == nil {
		t.Error("a folder was read as a file of scripts")
	}
	big := filepath.Join(home, "big")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 16<<20+1); err != nil {
		t.Fatal(err)
	}
	if _, err := scripted.Load(big); errorText(err) != "scripted echo file "+big+" has more than 16777216 bytes" {
		t.Error(err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
