package acp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kimi-acp/acp"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
	"kimi-acp/soul/wire"
)

// A session that is still being made when the editor hangs up is let go of too.
func TestSessionThatComesTooLateIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		making, goOn := make(chan struct{}), make(chan struct{})
		closed := false
		var moved []soul.SessionState
		bus := &soul.EventBus{}
		bus.Subscribe(func(e soul.BusEvent) {
			if m, ok := e.Payload.(soul.SessionMoved); ok {
				moved = append(moved, m.To)
			}
		})
		o := acp.Options{
			Events: bus,
			Logger: slog.New(slog.DiscardHandler),
			NewSoul: func(acp.SoulSpec) (soul.Soul, error) {
				close(making)
				<-goOn
				return behaving{}, nil
			},
			Watch: func(string) (wire.View, func()) {
				return wire.ViewFunc(func(wire.Message) {}), func() { closed = true }
			},
		}
		in, editor := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- acp.Serve(context.Background(), in, io.Discard, o, jsonrpc.Options{}) }()
		cwd, err := json.Marshal(os.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(editor, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
		fmt.Fprintf(editor, `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%s}}`+"\n", cwd)
		<-making
		editor.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		close(goOn)
		synctest.Wait()
		if !closed {
			t.Error("the session was left open")
		}
		if !slices.Equal(moved, []soul.SessionState{soul.SessionClosed}) {
			t.Errorf("the session moved to %q", moved)
		}
	})
}

// Requests at the end of the input are answered, as those of a script that is piped in.
func TestSessionIsMadeAtTheEndOfInput(t *testing.T) {
	cwd, err := json.Marshal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	making, ended := make(chan struct{}), make(chan struct{})
	o := acp.Options{
		Logger: slog.New(slog.DiscardHandler),
		NewSoul: func(acp.SoulSpec) (soul.Soul, error) {
			close(making)
			<-ended
			return behaving{}, nil
		},
	}
	in, editor := io.Pipe()
	go func() {
		fmt.Fprintln(editor, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
		fmt.Fprintf(editor, `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%s}}`+"\n", cwd)
		<-making
		editor.Close()
		close(ended)
	}()
	var out bytes.Buffer
	if err := acp.Serve(context.Background(), in, &out, o, jsonrpc.Options{Linger: time.Minute}); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if !strings.Contains(out.String(), `"id":2,"result":{"sessionId":`) {
		t.Errorf("answered %s", out.String())
	}
}
