package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// scene is the scratch project that the demo works on.
type scene struct {
	dir     string // holds everything, removed at the end
	project string // a git repository
	open    string // the file that is open in the editor
	buffer  string // its unsaved text
}

// The open file: what was committed, and what the user has typed since.
const (
	savedText = `package greet

// Greet says hello.
func Greet(name string) string {
	return "Hello, World!"
}
`
	unsavedText = `package greet

// Greet says hello to one person.
func Greet(name string) string {
	return "Hello, World!"
}
`
	selection = "func Greet(name string) string {\n\treturn \"Hello, World!\"\n}"
	userText  = "Greet ignores the name that it is given. Mend that, and leave everything else as it is."
)

//go:embed script.txt
var script string

// newScene makes the project: a repository with one commit, a file that was
// changed since, and an open file whose text is not saved.
func newScene(ctx context.Context) (*scene, error) {
	dir, err := os.MkdirTemp("", "kimi-acp-demo-")
	if err != nil {
		return nil, fmt.Errorf("make a scratch folder: %w", err)
	}
	// The agent names files by their real path.
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	s := &scene{dir: dir, project: filepath.Join(dir, "greet"), buffer: unsavedText}
	s.open = filepath.Join(s.project, "greet.go")
	if err := s.build(ctx); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	return s, nil
}

func (s *scene) build(ctx context.Context) error {
	for _, d := range []string{s.project, s.share()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("make the scratch project: %w", err)
		}
	}
	write := func(name, text string) error {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("make the scratch project: %w", err)
		}
		return nil
	}
	if err := write("script.txt", script); err != nil {
		return err
	}
	if err := write("greet/greet.go", savedText); err != nil {
		return err
	}
	if err := write("greet/README.md", "# greet\n\nGreets people.\n"); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"add", "."},
		{"-c", "user.name=Demo", "-c", "user.email=demo@example.org", "-c", "commit.gpgsign=false", "commit", "--quiet", "--message=Greet people"},
	} {
		git := exec.CommandContext(ctx, "git", args...)
		git.Dir, git.Env = s.project, s.environ()
		if out, err := git.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
		}
	}
	return write("greet/README.md", "# greet\n\nGreets people by name.\n")
}

// environ is the environment of the agent and of git: nothing of the user's
// settings, and a model that needs no network.
func (s *scene) environ() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + s.dir,
		"USERPROFILE=" + s.dir,
		"SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"KIMI_SHARE_DIR=" + s.share(),
		"KIMI_MODEL_NAME=_scripted_echo",
		"KIMI_SCRIPTED_ECHO_SCRIPTS=" + filepath.Join(s.dir, "script.txt"),
	}
}

func (s *scene) share() string { return filepath.Join(s.dir, "share") }

// remove deletes the scratch folder with all that is in it.
func (s *scene) remove() error {
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("remove the scratch folder: %w", err)
	}
	return nil
}
