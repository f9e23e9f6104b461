package jsonrpc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
)

// While the peer does not read, an urgent answer overtakes what is queued, and an
// ordinary one keeps its place.
func TestReplyNowOvertakes(t *testing.T) {
	in, peerOut := io.Pipe()
	peerIn, out := io.Pipe()
	queued := make(chan struct{})
	answered := make(chan struct{}, 2)
	conn := NewConn(in, out, HandlerFunc(func(c *Call) {
		<-queued
		if c.Method() == "urgent" {
			c.ReplyNow("urgent", nil)
		} else {
			c.Reply("ordinary", nil)
		}
		answered <- struct{}{}
	}), Options{Framing: Newline, Dialect: ACP})
	over := make(chan error, 1)
	go func() { over <- conn.Run(context.Background()) }()

	// The first notification is being written, the others wait.
	for n := range 4 {
		if err := conn.Notify(fmt.Sprintf("n%d", n), nil); err != nil {
			t.Fatal(err)
		}
	}
	close(queued)
	for _, method := range []string{"ordinary", "urgent"} {
		if _, err := fmt.Fprintf(peerOut, `{"jsonrpc":"2.0","id":"%s","method":"%s"}`+"\n", method, method); err != nil {
			t.Fatal(err)
		}
	}
	<-answered
	<-answered
	var order []string
	lines := bufio.NewScanner(peerIn)
	for len(order) < 6 && lines.Scan() {
		for _, word := range []string{"n0", "n1", "n2", "n3", "ordinary", "urgent"} {
			if strings.Contains(lines.Text(), `"`+word+`"`) {
				order = append(order, word)
				break
			}
		}
	}
	got := strings.Join(order, " ")
	// How many notifications the write that was under way holds is up to chance.
	if i, j := strings.Index(got, "urgent"), strings.Index(got, "ordinary"); i < 0 || j < i || !strings.HasSuffix(got, "n3 ordinary") && !strings.HasSuffix(got, "ordinary") {
		t.Errorf("came as %s", got)
	}
	if strings.Index(got, "ordinary") < strings.Index(got, "n3") {
		t.Errorf("the ordinary answer lost its place: %s", got)
	}
	_ = peerOut.Close()
	if err := <-over; err != nil {
		t.Error(err)
	}
	_ = peerIn.Close()
}
