//go:build bench

package searchbench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"kimi-acp/fileop"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// rounds is how often each of the two runs; the fastest run of each counts, which is
// the one that other work on the machine disturbed least.
const rounds = 5

// pattern is a search, and what rg is asked for it.
type pattern struct {
	name string
	args map[string]any
	rg   []string
}

func patterns() []pattern {
	grep := func(name, pattern string, extra ...string) pattern2 {
		return pattern2{name, pattern, extra}
	}
	var out []pattern
	for _, p := range []pattern2{
		grep("rare literal", "F1234567890"),
		grep("literal in few", "func F12345("),
		grep("literal and class", `func F1(69|68)\d\(`),
		grep("literal in all", "context"),
		grep("digits", `return \w+\d9`),
		grep("word before literal", `\w+Handler\b`),
		grep("alternatives", `Handlers|sessions|tokenize`),
		grep("no literal", `[A-Z][a-z]{5,}[0-9]{4}`),
		grep("line ends", `^package unit$`),
		grep("case", `RARE NEEDLE`, "-i"),
	} {
		args := map[string]any{"pattern": p.pattern, "output_mode": "count_matches"}
		rg := []string{"--count-matches", "-e", p.pattern}
		if p.name == "rare literal" || p.name == "literal in few" {
			args["pattern"] = strings.ReplaceAll(p.pattern, "(", `\(`)
			rg = []string{"--count-matches", "-F", "-e", p.pattern}
		}
		for _, e := range p.extra {
			args[e] = true
			rg = append(rg, e)
		}
		out = append(out, pattern{"Grep, " + p.name, args, rg})
	}
	return append(out,
		pattern{"Grep, files with a literal", map[string]any{"pattern": "session"}, []string{"-l", "-e", "session"}},
		pattern{"Grep, first 250 lines", map[string]any{"pattern": "return", "output_mode": "content"}, []string{"-n", "-e", "return"}},
		pattern{"Glob, all of a kind", map[string]any{"pattern": "**/*.ts"}, []string{"--files", "-g", "*.ts"}},
		pattern{"Glob, a few", map[string]any{"pattern": "**/file123*.{go,py}"}, []string{"--files", "-g", "file123*.{go,py}"}},
	)
}

type pattern2 struct {
	name, pattern string
	extra         []string
}

func BenchmarkAgainstRipgrep(b *testing.B) {
	if _, err := exec.LookPath("rg"); err != nil {
		b.Skip("NOT COMPARED: rg is not installed (Debian: apt-get install ripgrep)")
	}
	root := makeTree(b)
	disk, err := fileop.OpenDisk(root)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = disk.Close() }()
	executor := tool.NewExecutor(tool.Options{Operator: fileop.New(fileop.Options{Disk: disk, Roots: []string{root}}), Cwd: root})

	var table strings.Builder
	fmt.Fprintf(&table, "%-30s %10s %10s %7s %s\n", "", "ours", "rg", "ratio", "results, ours / rg")
	for _, p := range patterns() {
		var ours, theirs []time.Duration
		var text, lines int
		for range rounds {
			start := time.Now()
			n := runOurs(b, executor, p)
			ours = append(ours, time.Since(start))
			start = time.Now()
			m := runRipgrep(b, root, p)
			theirs = append(theirs, time.Since(start))
			text, lines = n, m
		}
		a, z := slices.Min(ours), slices.Min(theirs)
		fmt.Fprintf(&table, "%-30s %10s %10s %7.2f %d / %d\n", p.name, a.Round(time.Millisecond), z.Round(time.Millisecond), float64(a)/float64(z), text, lines)
	}
	fmt.Printf("\n%d files\n%s", treeFiles, table.String()) // a log of a benchmark is cut
}

// runOurs gives how many results a call tells of.
func runOurs(b *testing.B, e *tool.Executor, p pattern) int {
	b.Helper()
	args, err := json.Marshal(p.args)
	if err != nil {
		b.Fatal(err)
	}
	name, _, _ := strings.Cut(p.name, ",")
	text := string(args)
	v := e.CallTool(b.Context(), wire.ToolCallRequest{ID: "1", Name: name, Arguments: &text})
	if v.IsError {
		b.Fatalf("%s: %s", p.name, v.Message)
	}
	// The message has the whole numbers, the output only a page.
	n := 0
	for field := range strings.FieldsSeq(v.Message) {
		var number int
		if _, err := fmt.Sscanf(field, "%d", &number); err == nil {
			n = number
			if strings.Contains(v.Message, "Found") {
				if _, after, ok := strings.Cut(v.Message, " in "); ok {
					_, _ = fmt.Sscanf(after, "%d", &n)
				}
			}
			break
		}
	}
	return n
}

// runRipgrep gives how many lines rg prints.
func runRipgrep(b *testing.B, root string, p pattern) int {
	b.Helper()
	cmd := exec.Command("rg", append([]string{"--no-config", "--hidden", "--no-messages"}, p.rg...)...)
	if p.rg[0] != "--files" {
		cmd.Args = append(cmd.Args, ".")
	}
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		b.Fatalf("rg %v: %v", p.rg, err)
	}
	return bytes.Count(out, []byte{'\n'})
}
