package companion

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"kimi-acp/editors/state"
	"kimi-acp/internal/jsonrpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// stage is a workspace, a folder of states, and an agent that looks at it.
type stage struct {
	t       testing.TB
	project string
	options Options
	agent   *state.Reader
	changed chan struct{}
}

func newStage(t testing.TB) *stage {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	s := &stage{t: t, project: filepath.Join(base, "project"), changed: make(chan struct{}, 1)}
	check(t, os.Mkdir(s.project, 0o755))
	s.options = Options{
		Version: "0", Folder: state.Folder(filepath.Join(base, "share")), Logger: slog.New(slog.DiscardHandler),
		Sensitive: func(_ []string, path string) bool { return strings.HasPrefix(filepath.Base(path), ".env") },
	}
	s.agent = state.NewReader(s.options.Folder, []string{s.project})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- s.agent.Watch(ctx, func() {
			select {
			case s.changed <- struct{}{}:
			default:
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		check(t, <-ended)
	})
	return s
}

func (s *stage) path(name string) string { return filepath.Join(s.project, filepath.FromSlash(name)) }

func (s *stage) uri(name string) string { return "file://" + filepath.ToSlash(s.path(name)) }

// await waits until the agent sees what is wanted.
func (s *stage) await(what string, good func(state.State) bool) state.State {
	s.t.Helper()
	for {
		all, err := s.agent.States()
		check(s.t, err)
		for _, one := range all {
			if good(one) {
				return one
			}
		}
		select {
		case <-s.changed:
		case <-s.t.Context().Done():
			s.t.Fatalf("%s was not seen: %+v", what, all)
		}
	}
}

// gone waits until the agent sees no editor.
func (s *stage) gone() {
	s.t.Helper()
	all, err := s.agent.States()
	check(s.t, err)
	entries, err := os.ReadDir(s.options.Folder)
	check(s.t, err)
	if len(all) != 0 || len(entries) != 0 {
		s.t.Errorf("left behind: %v, %v", all, entries)
	}
}

// client is an editor that speaks to a companion.
type client struct {
	*stage
	conn  *jsonrpc.Conn
	told  chan *jsonrpc.Call // notifications of the companion
	input *io.PipeWriter
	ended chan error // of the companion
	read  chan error // of the connection
}

// serve starts a companion, and an editor that has initialized it.
func (s *stage) serve() *client {
	s.t.Helper()
	toServer, input := io.Pipe()
	fromServer, output := io.Pipe()
	c := s.attach(fromServer, input)
	go func() {
		err := Serve(s.t.Context(), toServer, output, s.options)
		_ = output.Close()
		_ = toServer.Close()
		c.ended <- err
	}()
	return c
}

func (s *stage) attach(from io.Reader, input *io.PipeWriter) *client {
	c := &client{stage: s, input: input, told: make(chan *jsonrpc.Call, 100), ended: make(chan error, 1), read: make(chan error, 1)}
	c.conn = jsonrpc.NewConn(from, input, jsonrpc.HandlerFunc(func(call *jsonrpc.Call) {
		call.Reply(nil, nil)
		c.told <- call
	}), jsonrpc.Options{Framing: jsonrpc.ContentLength, Dialect: jsonrpc.LSP})
	go func() { c.read <- c.conn.Run(s.t.Context()) }()
	return c
}

// greet initializes the companion.
func (c *client) greet(encodings ...string) json.RawMessage {
	c.t.Helper()
	return c.call("initialize", map[string]any{
		"clientInfo":       map[string]any{"name": "an editor", "version": "1"},
		"workspaceFolders": []any{map[string]any{"uri": c.uri(""), "name": "project"}},
		"capabilities": map[string]any{
			"general":      map[string]any{"positionEncodings": encodings},
			"textDocument": map[string]any{"codeAction": map[string]any{"codeActionLiteralSupport": map[string]any{}}},
		},
	})
}

// call sends a request and gives its result, or its error as text.
func (c *client) call(method string, params any) json.RawMessage {
	c.t.Helper()
	p, err := c.conn.Start(method, params)
	check(c.t, err)
	result, err := p.Wait(c.t.Context())
	if err != nil {
		return json.RawMessage(err.Error())
	}
	return result
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	check(c.t, c.conn.Notify(method, params))
}

func (c *client) open(name, text string) {
	c.t.Helper()
	c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": c.uri(name), "languageId": "go", "version": 1, "text": text}})
}

func (c *client) change(name string, version int, changes ...any) {
	c.t.Helper()
	c.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": c.uri(name), "version": version}, "contentChanges": changes})
}

// leave ends the input and waits for the companion.
func (c *client) leave() {
	c.t.Helper()
	check(c.t, c.input.Close())
	check(c.t, <-c.ended)
	check(c.t, <-c.read)
	c.gone()
}

func at(line, char int) map[string]any { return map[string]any{"line": line, "character": char} }

func span(l1, c1, l2, c2 int) map[string]any {
	return map[string]any{"start": at(l1, c1), "end": at(l2, c2)}
}

func doc(uri string) map[string]any { return map[string]any{"uri": uri} }
