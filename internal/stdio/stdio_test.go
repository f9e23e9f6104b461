//go:build unix

package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The test binary also plays the process that claims its standard input and output,
// which the process that runs the tests must not.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "play" {
		if err := play(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "failed:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func play(part string) error {
	in, out, err := Claim()
	if err != nil {
		return err
	}
	switch part {
	case "stray":
		return playStray(in, out)
	case "broken":
		return playBroken(in, out)
	case "close":
		return playClose(in, out)
	case "blocking":
		return playBlocking(in, out)
	}
	return errors.New("no such part")
}

// playStray prints in every way that is not the protocol's, lets a child read and
// print, and then answers one line.
func playStray(in, out *os.File) error {
	fmt.Println("stray print")
	if _, err := unix.Write(1, []byte("stray write\n")); err != nil {
		return err
	}
	child := exec.Command("/bin/sh", "-c", `cat; echo stray child; for fd in "$0" "$1"; do (: <&$fd) 2>/dev/null && echo leaked; done; exit 0`,
		fmt.Sprint(in.Fd()), fmt.Sprint(out.Fd()))
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := child.Run(); err != nil {
		return err
	}
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, "answer to "+line)
	return err
}

// playBroken waits until the other side is gone and writes.
func playBroken(in, out *os.File) error {
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	_, err := io.WriteString(out, "x")
	if !errors.Is(err, syscall.EPIPE) {
		return errors.New(fmt.Sprint("writing to nobody gave ", err))
	}
	// A child must still be ended by the signal: the shell says by which.
	child := exec.Command("/bin/sh", "-c", "kill -PIPE $$")
	var ended *exec.ExitError
	if err := child.Run(); !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE {
		return errors.New(fmt.Sprint("the child's end was ", err))
	}
	_, err = io.WriteString(os.Stderr, "survived\n")
	return err
}

// playClose ends a Read that waits, and writes with a deadline to a full pipe.
func playClose(in, out *os.File) error {
	read := make(chan error)
	go func() {
		_, err := in.Read(make([]byte, 1))
		read <- err
	}()
	if err := in.Close(); err != nil {
		return err
	}
	if err := <-read; !errors.Is(err, os.ErrClosed) {
		return errors.New(fmt.Sprint("the read ended with ", err))
	}
	if err := out.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		return err
	}
	if _, err := out.Write(make([]byte, 8<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.New(fmt.Sprint("the write ended with ", err))
	}
	_, err := io.WriteString(os.Stderr, "ended\n")
	return err
}

// playBlocking checks that files which others share were left as they are.
func playBlocking(in, out *os.File) error {
	for _, f := range []*os.File{in, out, os.Stderr} {
		conn, err := f.SyscallConn()
		if err != nil {
			return err
		}
		var flags int
		var flagErr error
		if err := conn.Control(func(fd uintptr) { flags, flagErr = unix.FcntlInt(fd, unix.F_GETFL, 0) }); err != nil {
			return err
		}
		if flagErr != nil {
			return flagErr
		}
		if flags&unix.O_NONBLOCK != 0 {
			return fmt.Errorf("%s is non-blocking", f.Name())
		}
	}
	_, err := io.WriteString(out, "fine\n")
	return err
}

func player(t *testing.T, part string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(exe, "play", part)
}

func TestOnlyTheProtocolIsOnStdout(t *testing.T) {
	var stdout, stderr bytes.Buffer
	cmd := player(t, "stray")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("question\n"), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("%v\n%s", err, stderr.String())
	}
	if got := stdout.String(); got != "answer to question\n" {
		t.Errorf("stdout %q", got)
	}
	if got := stderr.String(); got != "stray print\nstray write\nstray child\n" {
		t.Errorf("stderr %q", got)
	}
}

func TestBrokenStdoutIsAnError(t *testing.T) {
	var stderr bytes.Buffer
	cmd := player(t, "broken")
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stdout.Close()
	stdin.Close()
	if err := cmd.Wait(); err != nil || stderr.String() != "survived\n" {
		t.Errorf("%v\n%s", err, stderr.String())
	}
}

func TestClosingEndsWaiting(t *testing.T) {
	var stderr bytes.Buffer
	cmd := player(t, "close")
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe() // stays open and silent
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe() // is not read
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	if err := cmd.Run(); err != nil || stderr.String() != "ended\n" {
		t.Errorf("%v\n%s", err, stderr.String())
	}
}

func TestSharedFilesStayBlocking(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := player(t, "blocking")
	cmd.Stdin = file
	// As with 2>&1 in a shell. Fd makes the pipe blocking, as a shell's is.
	write.Fd()
	cmd.Stdout, cmd.Stderr = write, write
	err = cmd.Run()
	write.Close()
	got, readErr := io.ReadAll(read)
	if err != nil || readErr != nil || string(got) != "fine\n" {
		t.Errorf("%v, %v, output %q", err, readErr, got)
	}
}
