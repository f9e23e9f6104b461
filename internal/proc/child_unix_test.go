//go:build unix

package proc

import (
	"bufio"
	"bytes"
	"os"
	"testing"
	"time"
)

func startShell(t *testing.T, script string) (*Child, *bytes.Buffer) {
	t.Helper()
	var complaints bytes.Buffer
	c, err := StartChild(ChildSpec{Args: []string{"/bin/sh", "-c", script}, Dir: t.TempDir(), Environ: os.Environ(), Stderr: &complaints}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.End(time.Minute)
		if groupExists(c.Group()) {
			t.Error("the group is still there")
		}
	})
	return c, &complaints
}

func TestChildIsSpokenTo(t *testing.T) {
	c, complaints := startShell(t, `while read -r line; do echo "got $line"; echo "saw $line" >&2; done; exit 3`)
	if _, err := c.Write([]byte("one\n")); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || line != "got one\n" {
		t.Fatalf("read %q, %v", line, err)
	}
	if c.Ending() != "" {
		t.Errorf("it runs, and %s", c.Ending())
	}
	if !c.End(time.Minute) {
		t.Error("it was not ended")
	}
	if got := c.Ending(); got != "it ended with code 3" {
		t.Error(got)
	}
	if got := complaints.String(); got != "saw one\n" {
		t.Errorf("standard error: %q", got)
	}
}

func TestChildThatDoesNotEndIsKilled(t *testing.T) {
	c, _ := startShell(t, `trap "" TERM; sleep 300 & while :; do sleep 300; done`)
	if !c.End(time.Millisecond) {
		t.Error("it was not ended")
	}
	if got := c.Ending(); got != "it was ended by SIGKILL" {
		t.Error(got)
	}
}

func TestWhatAChildLeavesBehindIsEnded(t *testing.T) {
	c, _ := startShell(t, `sleep 300 & echo up`)
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || line != "up\n" {
		t.Fatalf("read %q, %v", line, err)
	}
	if !c.End(time.Minute) {
		t.Error("it was not ended")
	}
}

func TestChildThatIsNotThere(t *testing.T) {
	if _, err := StartChild(ChildSpec{Args: []string{"/nonexistent/program"}}, nil); err == nil {
		t.Error("it started")
	}
	if _, err := StartChild(ChildSpec{}, nil); err == nil {
		t.Error("nothing started")
	}
}
