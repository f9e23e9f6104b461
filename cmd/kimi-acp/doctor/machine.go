package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kimi-acp/internal/proc"
)

// commandTimeout bounds the commands that are tried.
const commandTimeout = 10 * time.Second

// commands tries out the shell, and the child that ends commands.
func commands(ctx context.Context, s *Setup) []Check {
	c := Check{Name: "commands", Status: OK, Detail: "run in " + s.Runner.Shell()}
	out, err := s.Runner.Run(ctx, proc.Command{Shell: "echo ready", Timeout: commandTimeout})
	switch {
	case err == nil && out.ExitCode == 0 && strings.TrimSpace(out.Output) == "ready":
	case err != nil:
		c.Status, c.Detail, c.Mend = Fault, "commands cannot be run: "+err.Error(), "install bash, or mend "+s.Runner.Shell()
	default:
		c.Status, c.Detail, c.Mend = Fault, fmt.Sprintf("%s ended with exit code %d for a command that should print one word", s.Runner.Shell(), out.ExitCode), "install bash, or mend "+s.Runner.Shell()
	}
	checks := []Check{c}
	if err := s.Supervisor(ctx); err != nil {
		return append(checks, Check{Name: "commands", Status: Fault, Detail: "the child that ends commands does not work: " + err.Error(), Mend: "reinstall the program; " + s.Self + " must be allowed to start itself"})
	}
	return checks
}

func git(ctx context.Context, s *Setup) []Check {
	const mend = "install git from your system's packages, or from https://git-scm.com"
	if _, err := s.LookPath("git"); err != nil {
		return []Check{{Name: "git", Status: Fault, Detail: "there is no git: the agent cannot see what changed", Mend: mend}}
	}
	out, err := s.Runner.Run(ctx, proc.Command{Shell: "git --version", Timeout: commandTimeout})
	if err != nil || out.ExitCode != 0 {
		return []Check{{Name: "git", Status: Fault, Detail: "git does not run", Mend: mend}}
	}
	return []Check{{Name: "git", Status: OK, Detail: strings.TrimPrefix(strings.TrimSpace(out.Output), "git version ")}}
}

// folders looks whether what should be kept can be.
func folders(_ context.Context, s *Setup) []Check {
	if s.ShareDir == "" {
		return []Check{{Name: "folder", Status: Fault, Detail: "there is no folder for sessions and logs: nothing is kept", Mend: "set KIMI_SHARE_DIR to the absolute path of a folder"}}
	}
	made, err := writable(s.ShareDir)
	if err != nil {
		return []Check{{Name: "folder", Status: Fault, Detail: s.ShareDir + " cannot be written: " + err.Error(), Mend: "make it yours, or set KIMI_SHARE_DIR to another folder"}}
	}
	detail := s.ShareDir + " can be written"
	if !made {
		detail = s.ShareDir + " can be made when it is needed"
	}
	return []Check{
		{Name: "folder", Status: OK, Detail: detail},
		{Name: "log", Status: OK, Detail: s.LogFile + "; KIMI_DEBUG=1 logs the details"},
	}
}

// writable tries to make a file in a folder, or in the nearest folder above it that
// is there, and takes it away again.
func writable(dir string) (there bool, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		f, err := os.CreateTemp(at, ".kimi-acp-doctor-*")
		if errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at) {
			continue
		}
		if err != nil {
			return false, plainCause(err)
		}
		return at == dir, errors.Join(f.Close(), os.Remove(f.Name()))
	}
}

// plainCause leaves out the name of the file that was tried.
func plainCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
