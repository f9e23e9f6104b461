package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"kimi-acp/editors/companion"
	"kimi-acp/internal/proc"
)

// wrappedGrace is how long a wrapped server may take to end after its input, and then
// after it was asked to.
const wrappedGrace = 3 * time.Second

// runWrapped runs another language server and gives its exit code.
func runWrapped(ctx context.Context, command []string, in, out *os.File, o companion.Options) int {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	server := exec.CommandContext(ctx, command[0], command[1:]...)
	server.Cancel = func() error {
		if err := server.Process.Signal(syscall.SIGTERM); err == nil {
			return nil
		}
		return server.Process.Kill() // a system without such signals
	}
	server.WaitDelay = wrappedGrace
	server.Env = proc.Scrub(os.Environ())
	server.Stderr = os.Stderr
	to, toErr := server.StdinPipe()
	from, fromErr := server.StdoutPipe()
	for _, err := range []error{toErr, fromErr, server.Start()} {
		if err != nil {
			fmt.Fprintln(os.Stderr, "kimi-acp lsp: cannot start the language server:", err)
			return 1
		}
	}
	// What the server has started may keep its output open when it is gone.
	defer context.AfterFunc(ctx, func() {
		time.Sleep(2 * wrappedGrace)
		_ = from.Close() // a Read that waits is the only thing that it is for
	})()
	if err := companion.Wrap(ctx, in, out, companion.Wrapped{In: lastWord{to, stop}, Out: from}, o); err != nil {
		o.Logger.Info("the connection ended", "error", err)
		stop()
	}
	_ = server.Wait() // its exit code says it
	return max(server.ProcessState.ExitCode(), 0)
}

// lastWord is a server's input. A server that does not end soon after its input is
// asked to.
type lastWord struct {
	io.WriteCloser
	stop context.CancelFunc
}

func (l lastWord) Close() error {
	time.AfterFunc(wrappedGrace, l.stop)
	return l.WriteCloser.Close()
}
