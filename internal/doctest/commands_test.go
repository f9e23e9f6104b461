package doctest

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
	"kimi-acp/soul"
)

// help gives what the program prints about itself.
func help(t *testing.T, path string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "USERPROFILE=" + dir, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("kimi-acp %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	if strings.Contains(string(out), dir) {
		t.Errorf("the help of kimi-acp %s is not the same everywhere:\n%s", strings.Join(args, " "), out)
	}
	return strings.TrimRight(string(bytes.ReplaceAll(out, []byte("\t"), []byte("    "))), "\n ")
}

var listedCommand = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) +(\S.*)$`)

func TestCommands(t *testing.T) {
	path := acptest.Build(t)
	main := help(t, path, "help")
	_, list, found := strings.Cut(main, "\nCommands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	listed := listedCommand.FindAllStringSubmatch(list, -1)
	if !found || len(listed) == 0 || len(listed) != strings.Count(list, "\n")+1 {
		t.Fatalf("the commands cannot be told from the help:\n%s", main)
	}
	var programs strings.Builder
	fmt.Fprintf(&programs, "```\n%s\n```\n", main)
	for _, c := range listed {
		text := help(t, path, c[1], "--help")
		fmt.Fprintf(&programs, "\n### kimi-acp %s\n\n", c[1])
		if !strings.Contains(text, "Usage:") { // it has none, and did what it does
			fmt.Fprintf(&programs, "%s. It takes no flags.\n", strings.ToUpper(c[2][:1])+c[2][1:])
			continue
		}
		fmt.Fprintf(&programs, "```\n%s\n```\n", text)
	}

	var slashes [][]string
	for _, c := range soul.New(soul.Config{Logger: slog.New(slog.DiscardHandler)}).Commands() {
		slashes = append(slashes, []string{code(strings.TrimSpace("/" + c.Name + " " + c.Hint)), c.Description})
	}
	if len(slashes) == 0 {
		t.Error("there are no slash commands")
	}
	hold(t, "commands.md", map[string]string{
		"slash commands": table([]string{"in the prompt", "what it does"}, slashes),
		"subcommands":    programs.String(),
	})
}
