//go:build clients

package clienttest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a program that runs in a terminal of its own, at whose keyboard the
// test sits.
type terminal struct {
	t     *testing.T
	cmd   *exec.Cmd
	keys  *os.File
	ended chan error

	mu     sync.Mutex
	screen []byte // the end of what was shown
	all    []byte // what was shown from the beginning, at most maxShown
}

// maxShown is how much of what a terminal shows is kept, in bytes.
const maxShown = 4 << 20

// inTerminal starts a program in a terminal of 40 lines of 120 columns.
func inTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	master, slave, err := openTerminal()
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	x := &terminal{t: t, cmd: cmd, keys: master, ended: make(chan error, 1)}
	var reading sync.WaitGroup
	reading.Go(x.read)
	go func() { x.ended <- cmd.Wait() }()
	t.Cleanup(func() {
		cmd.Process.Kill()
		master.Close()
		reading.Wait()
		if t.Failed() {
			t.Logf("the end of what %s showed: %q", cmd.Args, x.screen)
		}
	})
	return x
}

func openTerminal() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120})
	}
	var n int
	if err == nil {
		n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
		return nil, nil, err
	}
	return master, slave, nil
}

// read takes what is shown, as a terminal that is not read stops its program.
func (x *terminal) read() {
	buffer := make([]byte, 32<<10)
	for {
		n, err := x.keys.Read(buffer)
		x.mu.Lock()
		x.screen = append(x.screen, buffer[:n]...)
		x.screen = x.screen[max(0, len(x.screen)-4096):]
		x.all = append(x.all, buffer[:min(n, maxShown-len(x.all))]...)
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// press types keys one after the other, as slowly as a fast typist, since an Escape
// with a key behind it means that key with Alt.
func (x *terminal) press(keys string) {
	x.t.Helper()
	for _, key := range keys {
		if _, err := x.keys.WriteString(string(key)); err != nil {
			x.t.Fatalf("press %q: %v", keys, err)
		}
		time.Sleep(30 * time.Millisecond)
	}
}

// pressUntil presses keys and waits until a text is shown; false: it is not.
func (x *terminal) pressUntil(keys, text string) bool {
	x.t.Helper()
	x.mu.Lock()
	x.screen = nil
	x.mu.Unlock()
	x.press(keys)
	for began := time.Now(); time.Since(began) < leaveTime; time.Sleep(5 * time.Millisecond) {
		x.mu.Lock()
		shown := bytes.Contains(x.screen, []byte(text))
		x.mu.Unlock()
		if shown {
			return true
		}
	}
	return false
}

// picture keeps a picture of what is shown, where a browser can be had to draw it.
func (x *terminal) picture(name string) {
	x.mu.Lock()
	shown := slices.Clone(x.all)
	x.mu.Unlock()
	x.t.Run("picture", func(t *testing.T) {
		installBrowser(t).picture(t, installVSCode(t), name, shown)
	})
}

// leave waits until the program has ended.
func (x *terminal) leave(ctx context.Context) {
	x.t.Helper()
	select {
	case err := <-x.ended:
		if err != nil {
			x.t.Errorf("%s: %v", x.cmd.Args, err)
		}
	case <-ctx.Done():
		x.t.Errorf("%s does not end", x.cmd.Args)
	}
}
