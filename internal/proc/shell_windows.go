//go:build windows

package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/windows"
)

// shell is the program that takes command lines: Git Bash, or cmd if bash is false.
type shell struct {
	path string
	bash bool
}

// findShell looks for Git Bash beside git and where its installer puts it. The bash on
// the search path is not taken, since it may be the one that runs inside WSL.
func findShell() shell {
	var roots []string
	if git, err := exec.LookPath("git.exe"); err == nil {
		roots = append(roots, filepath.Dir(filepath.Dir(git))) // …\Git\cmd\git.exe
	}
	for _, name := range []string{"ProgramFiles", "ProgramFiles(x86)"} {
		if dir := os.Getenv(name); dir != "" {
			roots = append(roots, filepath.Join(dir, "Git"))
		}
	}
	for _, root := range roots {
		path := filepath.Join(root, "bin", "bash.exe")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return shell{path: path, bash: true}
		}
	}
	path := "cmd.exe"
	if system, err := windows.GetSystemDirectory(); err == nil {
		path = filepath.Join(system, path)
	}
	return shell{path: path}
}

func (s shell) command(line string) *exec.Cmd {
	if s.bash {
		return exec.Command(s.path, "-c", line)
	}
	cmd := exec.Command(s.path)
	// cmd has quoting rules of its own: with /s it takes what stands between the outer
	// quotes as it is.
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /d /s /c "` + line + `"`}
	return cmd
}
