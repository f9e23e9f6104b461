package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/internal/screen"
)

// Options says how the demo is shown and who answers.
type Options struct {
	Agent  []string  // the command that serves ACP on stdin and stdout
	In     io.Reader // the user's answers, a line each; nil: permissions are given by themselves
	Out    io.Writer
	Colour bool
	Width  int // columns, taken as 40 to 96
}

// limit is how long the agent may take between two answers of the user, all in all.
const limit = time.Minute

// errAgentGone says that the agent ended before it had answered.
var errAgentGone = errors.New("the agent ended early")

// Run shows the demo. It leaves nothing behind, also when ctx ends.
func Run(ctx context.Context, o Options) (err error) {
	s, err := newScene(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	clock := newClock(limit, func() { cancel(fmt.Errorf("the agent did not answer within %v", limit)) })
	defer clock.stop()

	e := &editor{scene: s, screen: screen.New(o.Out, o.Colour, o.Width), calls: map[string]*update{}}
	e.answer = answerer(e.screen, o.In, clock)

	agent := exec.CommandContext(ctx, o.Agent[0], o.Agent[1:]...)
	agent.Dir, agent.Env = s.project, s.environ()
	var complaints strings.Builder
	agent.Stderr = &complaints
	in, err := agent.StdinPipe()
	if err != nil {
		return fmt.Errorf("start the agent: %w", err)
	}
	out, err := agent.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start the agent: %w", err)
	}
	if err := agent.Start(); err != nil {
		return fmt.Errorf("start the agent: %w", err)
	}
	conn := jsonrpc.NewConn(out, in, e, jsonrpc.Options{Dialect: jsonrpc.ACP, Framing: jsonrpc.Newline})
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = conn.Run(ctx) // how it ended shows in the calls
	}()
	e.opening()
	stop, err := converse(ctx, conn, s)
	_ = in.Close() // how an editor says goodbye; an agent that has gone does not mind
	<-over
	waited := agent.Wait()
	e.screen.End()
	switch {
	case err != nil && context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("%w\n%s", err, strings.TrimSpace(complaints.String()))
	case waited != nil:
		return fmt.Errorf("the agent: %w", waited)
	}
	e.closing(stop)
	return nil
}

// converse does what an editor does: handshake, session, prompt.
func converse(ctx context.Context, conn *jsonrpc.Conn, s *scene) (stopReason string, err error) {
	call := func(method string, params, result any) error {
		err := conn.Call(ctx, method, params, result)
		if errors.Is(err, jsonrpc.ErrClosed) {
			err = errAgentGone
		}
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		return nil
	}
	if err := call("initialize", object{
		"protocolVersion":    1,
		"clientCapabilities": object{"fs": object{"readTextFile": true, "writeTextFile": true}},
		"clientInfo":         object{"name": "kimi-acp-demo", "version": "1"},
	}, nil); err != nil {
		return "", err
	}
	var session struct {
		SessionID string `json:"sessionId"`
	}
	if err := call("session/new", object{"cwd": s.project, "mcpServers": []any{}}, &session); err != nil {
		return "", err
	}
	var result struct {
		StopReason string `json:"stopReason"`
	}
	err = call("session/prompt", object{"sessionId": session.SessionID, "prompt": []object{
		{"type": "text", "text": userText},
		{"type": "resource", "resource": object{"uri": "file://" + s.open + "?column=9#L4:6", "text": selection}},
	}}, &result)
	return result.StopReason, err
}

// answerer gives the function that asks the user for a permission, or answers by
// itself when nobody is there.
func answerer(s *screen.Screen, in io.Reader, c *clock) func(context.Context, permission) string {
	var lines *bufio.Scanner
	if in != nil {
		lines = bufio.NewScanner(in)
	}
	return func(_ context.Context, p permission) string {
		byKey := map[string]string{}
		var keys []string
		for _, o := range p.Options {
			key := map[string]string{"allow_once": "y", "allow_always": "a", "reject_once": "n", "reject_always": "x"}[o.Kind]
			byKey[key] = o.OptionID
			keys = append(keys, "["+key+"] "+o.Name)
		}
		if lines == nil {
			s.Line(screen.Yellow, "Allow? yes (answered by itself)")
			return byKey["y"]
		}
		c.stop()
		defer c.start()
		for {
			for _, k := range keys {
				s.Line(screen.Yellow, k)
			}
			s.Print("  " + s.Paint(screen.Bold, "Your answer: "))
			if !lines.Scan() {
				s.Print("\n")
				return ""
			}
			if id, ok := byKey[strings.ToLower(strings.TrimSpace(lines.Text()))]; ok && id != "" {
				return id
			}
		}
	}
}

// clock runs out once after a time in which it was not stopped and started anew.
type clock struct {
	timer *time.Timer
	limit time.Duration
}

func newClock(limit time.Duration, out func()) *clock {
	return &clock{timer: time.AfterFunc(limit, out), limit: limit}
}

func (c *clock) stop()  { c.timer.Stop() }
func (c *clock) start() { c.timer.Reset(c.limit) }
