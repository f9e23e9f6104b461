package acp

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/internal/proc"
	"kimi-acp/soul/tool"
)

// commandRunner runs a session's commands where its editor shows them best: in a
// terminal of the editor's; here, with the output streamed into a terminal that
// the editor only shows; or here, with the text in the tool call.
type commandRunner struct{ session *session }

// Run runs a command; see tool.Runner.
func (r commandRunner) Run(ctx context.Context, c proc.Command) (proc.Outcome, error) {
	s := r.session
	switch {
	// What a command line means to cmd.exe depends on how it is quoted, which a
	// terminal of an editor leaves open.
	case s.client.terminal && runtime.GOOS != "windows":
		return s.runInTerminal(ctx, c)
	case s.client.terminalOutput:
		return s.runShown(ctx, c)
	}
	return s.agent.opts.Runner.Run(ctx, c)
}

const (
	terminalBytes = 50_000          // of output that the editor keeps
	terminalGrace = 2 * time.Second // for an editor to answer once nobody waits any more
)

var errTimedOut = errors.New("the command took too long")

// terminal is a terminal of the editor's, from its making to its release.
type terminal struct {
	session *session
	id      string
}

type terminalParams struct {
	SessionID  string `json:"sessionId"`
	TerminalID string `json:"terminalId"`
}

type createTerminalParams struct {
	SessionID       string        `json:"sessionId"`
	Command         string        `json:"command"`
	Args            []string      `json:"args"`
	Env             []envVariable `json:"env"`
	Cwd             string        `json:"cwd"`
	OutputByteLimit int           `json:"outputByteLimit"`
}

type envVariable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type exitStatus struct {
	ExitCode *int    `json:"exitCode"`
	Signal   *string `json:"signal"`
}

// runInTerminal runs a command in a terminal of the editor's. Whatever happens,
// the terminal is released once, and not used afterwards.
func (s *session) runInTerminal(ctx context.Context, c proc.Command) (proc.Outcome, error) {
	began := time.Now()
	t, err := s.openTerminal(ctx, c)
	if err != nil {
		return proc.Outcome{ExitCode: -1}, err
	}
	defer t.release()
	s.view.calls.showTerminal(c.ID, t.id, "")

	status, err := t.wait(ctx, c.Timeout)
	if err != nil {
		t.kill(ctx)
	}
	out := t.outcome(ctx, status)
	out.Duration = time.Since(began)
	if errors.Is(err, errTimedOut) {
		out.TimedOut, err = true, nil
	}
	return out, err
}

// openTerminal makes a terminal that runs the command. A cancel does not end the
// request, since a terminal that nobody knows could not be released. One that is made
// when nobody waits for it any more is released at once.
func (s *session) openTerminal(ctx context.Context, c proc.Command) (*terminal, error) {
	p := createTerminalParams{SessionID: s.id, Command: s.agent.opts.Shell, Args: []string{"-c", c.Shell}, Env: []envVariable{}, Cwd: c.Dir, OutputByteLimit: terminalBytes}
	for _, e := range c.Env {
		name, value, _ := strings.Cut(e, "=")
		p.Env = append(p.Env, envVariable{name, value})
	}
	ctx, stop := tool.Outlast(ctx, terminalGrace)
	defer stop()
	pending, err := s.agent.conn.Start(sdk.ClientMethodTerminalCreate, p)
	if err != nil {
		return nil, fmt.Errorf("the editor made no terminal: %w", err)
	}
	type answer struct {
		terminal *terminal
		err      error
	}
	made := make(chan answer)
	s.agent.turns.Go(func() { // ends with the answer, or with the connection
		t, err := s.madeTerminal(pending)
		select {
		case made <- answer{t, err}:
		case <-ctx.Done():
			if err == nil {
				t.releaseLate()
			}
		}
	})
	select {
	case a := <-made:
		return a.terminal, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("the editor made no terminal: %w", ctx.Err())
	}
}

// madeTerminal waits for the editor to say which terminal it has made.
func (s *session) madeTerminal(pending *jsonrpc.Pending) (*terminal, error) {
	raw, err := pending.Wait(s.agent.ctx)
	if err != nil {
		return nil, fmt.Errorf("the editor made no terminal: %w", err)
	}
	result, _ := object(raw)
	id := result.optionalText("terminalId")
	if id == "" {
		return nil, errors.New("the editor made no terminal: its answer names none")
	}
	return &terminal{session: s, id: id}, nil
}

func (t *terminal) params() terminalParams { return terminalParams{t.session.id, t.id} }

// wait waits for the command to end: its status, or errTimedOut, ctx's error, or
// that of an editor that cannot say.
func (t *terminal) wait(ctx context.Context, limit time.Duration) (*exitStatus, error) {
	if limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limit, errTimedOut)
		defer stop()
	}
	var status exitStatus
	err := t.session.agent.conn.Call(ctx, sdk.ClientMethodTerminalWaitForExit, t.params(), &status)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return &status, nil
}

// kill ends the command; the terminal can still be read.
func (t *terminal) kill(ctx context.Context) {
	ctx, stop := tool.Outlast(ctx, terminalGrace)
	defer stop()
	if err := t.session.agent.conn.Call(ctx, sdk.ClientMethodTerminalKill, t.params(), nil); err != nil {
		t.session.agent.log.Debug("a terminal was not killed", "session", t.session.id, "error", err)
	}
}

// outcome reads what the command printed, and how it ended where that is not
// known yet.
func (t *terminal) outcome(ctx context.Context, status *exitStatus) proc.Outcome {
	ctx, stop := tool.Outlast(ctx, terminalGrace)
	defer stop()
	var shown struct {
		Output     string      `json:"output"`
		Truncated  bool        `json:"truncated"`
		ExitStatus *exitStatus `json:"exitStatus"`
	}
	out := proc.Outcome{ExitCode: -1}
	if err := t.session.agent.conn.Call(ctx, sdk.ClientMethodTerminalOutput, t.params(), &shown); err != nil {
		t.session.agent.log.Debug("a terminal was not read", "session", t.session.id, "error", err)
	}
	out.Output, out.Truncated = proc.PlainText(shown.Output), shown.Truncated
	if !out.Truncated { // else nobody knows
		out.Bytes = int64(len(shown.Output))
	}
	if status == nil {
		status = shown.ExitStatus
	}
	if status != nil && status.ExitCode != nil {
		out.ExitCode = *status.ExitCode
	}
	if status != nil && status.Signal != nil {
		out.Signal = *status.Signal
	}
	return out
}

// release lets go of the terminal. The answer is of no interest, and does not come
// once the editor has hung up.
func (t *terminal) release() {
	pending, err := t.session.agent.conn.Start(sdk.ClientMethodTerminalRelease, t.params())
	if err == nil {
		pending.Forget()
	}
}

// releaseLate is release for a terminal that came too late. To an editor that has closed
// the session nothing is said.
func (t *terminal) releaseLate() {
	t.session.speaking.RLock()
	defer t.session.speaking.RUnlock()
	if !t.session.silent {
		t.release()
	}
}

// runShown runs a command here and streams what it prints into a terminal that the
// editor shows, in the form that Zed and others have agreed on.
func (s *session) runShown(ctx context.Context, c proc.Command) (proc.Outcome, error) {
	id := "terminal-" + s.view.calls.idOf(c.ID) // models use their ids again
	s.view.calls.showTerminal(c.ID, id, c.Dir)
	var text utf8Pieces
	c.Raw = func(piece []byte) {
		if data := text.add(piece); data != "" {
			s.view.calls.terminalMeta(c.ID, "terminal_output", map[string]any{"terminal_id": id, "data": data})
		}
	}
	out, err := s.agent.opts.Runner.Run(ctx, c)
	exit := map[string]any{"terminal_id": id, "exit_code": nil, "signal": nil}
	if out.Signal != "" {
		exit["signal"] = out.Signal
	} else if out.ExitCode >= 0 { // else nobody knows
		exit["exit_code"] = out.ExitCode
	}
	s.view.calls.terminalMeta(c.ID, "terminal_exit", exit)
	return out, err
}

// showTerminal makes a terminal the content of a call. With a cwd the terminal is
// not the editor's: it only shows what terminalMeta brings.
func (c *calls) showTerminal(id, terminalID, cwd string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.open[id]
	if s == nil {
		return
	}
	s.terminal = terminalID
	content := []toolContent{{Type: "terminal", TerminalID: terminalID}}
	u := toolCallUpdate{SessionUpdate: "tool_call_update", ToolCallID: s.id, Content: &content}
	if cwd != "" {
		u.Meta = map[string]any{"terminal_info": map[string]any{"terminal_id": terminalID, "cwd": cwd}}
	}
	c.update(u)
}

// terminalMeta sends what happened in a terminal that the editor only shows.
func (c *calls) terminalMeta(id, key string, value map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.open[id]; s != nil {
		c.update(toolCallUpdate{SessionUpdate: "tool_call_update", ToolCallID: s.id, Meta: map[string]any{key: value}})
	}
}
