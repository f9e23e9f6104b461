//go:build unix

package proc

import (
	"os"
	"os/exec"
)

// shell is the program that takes command lines.
type shell struct{ path string }

// findShell prefers bash, in whose dialect most command lines are written.
func findShell() shell {
	for _, path := range []string{"/bin/bash", "/usr/bin/bash"} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return shell{path}
		}
	}
	return shell{"/bin/sh"}
}

func (s shell) command(line string) *exec.Cmd { return exec.Command(s.path, "-c", line) }
