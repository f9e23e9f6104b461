package policy

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// readList reads a file of commands: one a line, as a Go string when it begins
// with a double quote and ends with one.
func readList(t testing.TB, name string) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		if text, err := strconv.Unquote(line); err == nil && line[0] == '"' {
			line = text
		}
		list = append(list, line)
	}
	return list
}

// project is a trusted workspace with nothing said about the disk.
func project() Context {
	return Context{Roots: []string{"/project"}, Home: "/home/you", Trusted: true, Own: []string{"/home/you/.kimi"}}
}

func TestAttacksAreNotAllowed(t *testing.T) {
	inspect := engine(t, Options{})
	build := engine(t, Options{Sets: []string{SetInspect, SetBuild}})
	c := project()
	for _, cmd := range readList(t, "attacks.txt") {
		if v := inspect.Shell(cmd, c); v.Decision == Allow {
			t.Errorf("inspect allows %q by %s", cmd, v.Rule)
		}
		if v := build.Shell(cmd, c); v.Decision == Allow {
			t.Errorf("build allows %q by %s", cmd, v.Rule)
		}
	}
}

// Everyday commands are not asked for, but for few: whoever is asked too often
// stops reading.
func TestEverydayCommandsAreAllowed(t *testing.T) {
	for _, list := range []struct {
		file string
		sets []string
	}{
		{"inspect.txt", []string{SetInspect}},
		{"build.txt", []string{SetInspect, SetBuild}},
	} {
		t.Run(list.file, func(t *testing.T) {
			e := engine(t, Options{Sets: list.sets})
			commands := readList(t, list.file)
			if len(commands) < 100 {
				t.Fatalf("only %d commands", len(commands))
			}
			asked := 0
			for _, cmd := range commands {
				switch v := e.Shell(cmd, project()); v.Decision {
				case Allow:
				case Deny:
					t.Errorf("%q is denied: %s", cmd, v.Reason)
				default:
					asked++
					t.Logf("asked for %q: %s", cmd, v.Reason)
				}
			}
			if share := float64(asked) / float64(len(commands)); share >= 0.05 {
				t.Errorf("%d of %d commands are asked for, which is %.1f %%", asked, len(commands), 100*share)
			}
		})
	}
}
