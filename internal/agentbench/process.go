package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"kimi-acp/internal/jsonrpc"
)

// The limits of one agent.
const (
	answerTime = time.Minute     // for one request
	goneTime   = 5 * time.Second // from its end to that of all that it started
)

// subject is a candidate that is set up: a home, a project and a model of its own.
type subject struct {
	candidate
	home, project string
	env           []string
	model         model
	endless       bool // it once did not end with its input
}

// setUp makes a subject in a new scratch folder. The caller tears it down.
func setUp(c candidate) (s *subject, err error) {
	scratch, err := os.MkdirTemp("", "agentbench-")
	if err != nil {
		return nil, fmt.Errorf("make a scratch folder: %w", err)
	}
	s = &subject{candidate: c, home: filepath.Join(scratch, "home"), project: filepath.Join(scratch, "project")}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(scratch))
		}
	}()
	for _, dir := range []string{s.home, s.project} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make a scratch folder: %w", err)
		}
	}
	if s.model, err = startModel(c.dialect); err != nil {
		return nil, err
	}
	set := c.settings(s.model.baseURL(), s.home)
	s.env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "TERM=dumb", "LANG=C.UTF-8"}, set.env...)
	for name, content := range set.files {
		if err := writeSetting(filepath.Join(s.home, name), content); err != nil {
			s.model.close()
			return nil, err
		}
	}
	return s, nil
}

func writeSetting(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make a folder for settings: %w", err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	return nil
}

// tearDown stops the model and removes the folders. No process may run any more.
func (s *subject) tearDown() error {
	s.model.close()
	if err := os.RemoveAll(filepath.Dir(s.home)); err != nil {
		return fmt.Errorf("remove the scratch folder: %w", err)
	}
	return nil
}

// process is a running agent with an open session.
type process struct {
	cmd     *exec.Cmd
	input   io.Closer
	stderr  string // the file with what it said there
	conn    *jsonrpc.Conn
	editor  *editor
	served  chan error // gives how the connection ended
	session string

	initialize, ready time.Duration // from exec to the answers of initialize and session/new
}

// start starts the agent and opens a session. The caller ends it.
func (s *subject) start(ctx context.Context) (*process, error) {
	stderr, err := os.CreateTemp(filepath.Dir(s.home), "stderr-")
	if err != nil {
		return nil, fmt.Errorf("make a file for the agent's stderr: %w", err)
	}
	defer func() { _ = stderr.Close() }() // the agent has its own
	cmd := exec.Command(s.program, s.args...)
	cmd.Dir, cmd.Env, cmd.Stderr = s.project, s.env, stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("connect with the agent: %w", err)
	}
	p := &process{cmd: cmd, input: in, stderr: stderr.Name(), editor: newEditor(s.project), served: make(chan error, 1)}
	p.conn = jsonrpc.NewConn(out, in, p.editor, jsonrpc.Options{Dialect: jsonrpc.ACP, Framing: jsonrpc.Newline})
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the agent: %w", err)
	}
	go func() { p.served <- p.conn.Run(context.WithoutCancel(ctx)) }() // ends with the agent; end waits for it
	if err := p.open(ctx, s.project, began); err != nil {
		p.kill()
		return nil, p.explain(err)
	}
	return p, nil
}

// open does the handshake and opens the first session.
func (p *process) open(ctx context.Context, project string, began time.Time) error {
	err := p.call(ctx, "initialize", map[string]any{
		"protocolVersion": 1,
		"clientCapabilities": map[string]any{
			"fs": map[string]any{"readTextFile": true, "writeTextFile": true}, "terminal": false,
		},
		"clientInfo": map[string]any{"name": "agentbench", "version": "1"},
	}, nil)
	if err != nil {
		return err
	}
	p.initialize = time.Since(began)
	p.session, err = p.newSession(ctx, project)
	p.ready = time.Since(began)
	return err
}

func (p *process) newSession(ctx context.Context, project string) (id string, err error) {
	var result struct {
		SessionID string `json:"sessionId"`
	}
	err = p.call(ctx, "session/new", map[string]any{"cwd": project, "mcpServers": []any{}}, &result)
	return result.SessionID, err
}

// prompt sends a prompt; wait gives its end.
func (p *process) prompt(text string) (wait func(context.Context) error, err error) {
	p.editor.forget()
	pending, err := p.conn.Start("session/prompt", map[string]any{
		"sessionId": p.session, "prompt": []any{map[string]any{"type": "text", "text": text}},
	})
	if err != nil {
		return nil, fmt.Errorf("send a prompt: %w", err)
	}
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, answerTime)
		defer cancel()
		if _, err := pending.Wait(ctx); err != nil {
			return p.explain(fmt.Errorf("wait for the end of a turn: %w", err))
		}
		return nil
	}, nil
}

func (p *process) call(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if err := p.conn.Call(ctx, method, params, result); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// explain adds the end of what the agent said on stderr to an error.
func (p *process) explain(err error) error {
	const most = 2000
	said, readErr := os.ReadFile(p.stderr)
	if readErr != nil || len(said) == 0 {
		return err
	}
	return fmt.Errorf("%w; the agent said:\n%s", err, said[max(0, len(said)-most):])
}

// ending is how an agent ended.
type ending struct {
	took time.Duration // from the end of its input
	self bool          // it ended by itself in time
	left int           // processes that it had started and that did not end in time
}

// end closes the agent's input and waits for its end, no longer than patience.
// What does not end in time is killed.
func (p *process) end(patience time.Duration) ending {
	family := tree(p.cmd.Process.Pid)
	exited := make(chan struct{})
	began := time.Now()
	_ = p.input.Close() // fails only if the agent has ended already
	var e ending
	go func() { // ends with the process, which is killed if need be
		_ = p.cmd.Wait() // with which status does not matter here
		e.took = time.Since(began)
		close(exited)
	}()
	select {
	case <-exited:
		e.self = true
	case <-time.After(patience):
		family = tree(p.cmd.Process.Pid)
		_ = p.cmd.Process.Kill()
		<-exited
	}
	<-p.served //nolint:errcheck // how the connection ended is of no interest
	if e.self {
		e.left = awaitGone(family)
	}
	for _, member := range family {
		member.kill()
	}
	return e
}

// awaitGone waits until none of the processes runs, and counts those that do
// when the time is up.
func awaitGone(family []procStat) int {
	for deadline := time.Now().Add(goneTime); ; time.Sleep(time.Millisecond) {
		left := 0
		for _, member := range family {
			if member.alive() {
				left++
			}
		}
		if left == 0 || time.Now().After(deadline) {
			return left
		}
	}
}

// kill ends the agent, and what it started, at once.
func (p *process) kill() {
	family := tree(p.cmd.Process.Pid)
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()         // with which status does not matter here
	<-p.served               //nolint:errcheck // how the connection ended is of no interest
	for _, member := range family {
		member.kill()
	}
}
