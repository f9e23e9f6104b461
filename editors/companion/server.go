package companion

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/tliron/glsp"
	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/editors/state"
	"kimi-acp/internal/jsonrpc"
)

// Options say what a companion works with.
type Options struct {
	Version string // of the program
	Folder  string // of the states, see state.Folder
	// Dir is the workspace of an editor that names none; "": such an editor has none,
	// and nothing is told.
	Dir string
	// Sensitive tells whether nothing but the name of a file in the workspace may be
	// told. It is called under a lock, and must not wait.
	Sensitive func(roots []string, path string) bool
	Logger    *slog.Logger
}

// Codes of errors that LSP adds to those of JSON-RPC.
const (
	codeNotInitialized = -32002
	codeRequestFailed  = -32803
)

// phase is where a connection stands.
type phase uint8

const (
	fresh   phase = iota // initialize is due
	serving              // everything is answered
	ending               // exit is due
)

// server is the companion as a server of its own. Its methods run on the goroutine of
// the connection, one at a time.
type server struct {
	options  Options
	desk     *desk
	handler  *protocol.Handler
	writer   *state.Writer // nil: states cannot be kept
	unseen   func()        // removes what was published, for good
	exit     context.CancelFunc
	phase    phase
	literals bool // the editor takes code actions and not only commands
}

// Serve serves an editor until its input ends, it asks to exit, or ctx ends; then
// what it published is removed. An error means that reading or writing failed.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	ctx, exit := context.WithCancel(ctx)
	defer exit()
	s := &server{options: o, desk: newDesk(o.Sensitive), exit: exit}
	s.handler = s.desk.senses()
	sense := s.handler.TextDocumentCodeAction
	s.handler.TextDocumentCodeAction = func(c *glsp.Context, p *protocol.CodeActionParams) (any, error) {
		if _, err := sense(c, p); err != nil {
			return nil, err
		}
		return s.actions(c, p)
	}
	s.handler.WorkspaceExecuteCommand = s.execute
	s.writer, s.unseen = s.desk.start(ctx, o)
	defer s.unseen()
	var conn *jsonrpc.Conn // its handler runs in Run only
	conn = jsonrpc.NewConn(in, out, jsonrpc.HandlerFunc(func(call *jsonrpc.Call) { s.handle(conn, call) }), jsonrpc.Options{
		Framing: jsonrpc.ContentLength, Dialect: jsonrpc.LSP, Logger: o.Logger, Linger: time.Second,
	})
	err := conn.Run(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return nil
	}
	return err
}

// start publishes what comes onto the desk until stop is called, which waits for that
// to end and removes what was written; further calls do nothing. Without a folder
// nothing is published, and the writer is nil: the editor should not suffer for it.
func (d *desk) start(ctx context.Context, o Options) (w *state.Writer, stop func()) {
	w, err := state.NewWriter(o.Folder)
	if err != nil {
		o.Logger.Warn("the agent will not see the editor", "error", err)
		return nil, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var publishing sync.WaitGroup
	publishing.Go(func() { d.publish(ctx, w, o.Logger) })
	return w, sync.OnceFunc(func() {
		cancel()
		publishing.Wait()
		if err := w.Close(); err != nil {
			o.Logger.Warn("the editor state is left behind", "error", err)
		}
	})
}

// handle answers one message.
func (s *server) handle(conn *jsonrpc.Conn, call *jsonrpc.Call) {
	method := call.Method()
	switch {
	case method == protocol.MethodExit:
		s.exit()
	case method == protocol.MethodInitialize:
		call.Reply(s.initialize(call))
	case s.phase == fresh:
		call.Reply(nil, &jsonrpc.Error{Code: codeNotInitialized, Message: "Server not initialized"})
	case s.phase == ending:
		call.Reply(nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "The server is shutting down"})
	case method == protocol.MethodShutdown:
		s.phase = ending
		s.unseen() // editors kill a server that has answered
		call.Reply(nil, nil)
	case method == methodEditorState:
		if err := s.desk.told(call.Params()); err != nil {
			s.options.Logger.Warn("an editor state was refused", "method", method)
			call.Reply(nil, jsonrpc.LSP.InvalidParams(method))
			return
		}
		call.Reply(nil, nil)
	default:
		s.sense(conn, call)
	}
}

// sense leaves a message to glsp's dispatch and words what came of it.
func (s *server) sense(conn *jsonrpc.Conn, call *jsonrpc.Call) {
	method := call.Method()
	result, known, sound, err := s.handler.Handle(&glsp.Context{
		Method: method, Params: call.Params(),
		Notify: func(method string, params any) {
			if err := conn.Notify(method, params); err != nil {
				s.options.Logger.Debug("a message to the editor was lost", "method", method)
			}
		},
	})
	switch {
	case !known:
		call.Reply(nil, jsonrpc.LSP.MethodNotFound(method))
	case !sound:
		s.options.Logger.Warn("a message with unusable params", "method", method)
		call.Reply(nil, jsonrpc.LSP.InvalidParams(method))
	default:
		call.Reply(result, err)
	}
}

// initialize learns who the editor is and says what the server does.
func (s *server) initialize(call *jsonrpc.Call) (any, error) {
	if s.phase != fresh {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "The server is initialized already"}
	}
	var g greeting
	if err := json.Unmarshal(call.Params(), &g); err != nil {
		return nil, jsonrpc.LSP.InvalidParams(call.Method())
	}
	units := choose(g.Capabilities.General.PositionEncodings)
	s.literals = len(g.Capabilities.TextDocument.CodeAction.LiteralSupport) > 0
	s.desk.use(state.Editor{Name: g.ClientInfo.Name, Version: g.ClientInfo.Version}, g.roots(s.options.Dir), units)
	s.handler.SetInitialized(true)
	s.phase = serving
	version := s.options.Version
	return welcome{
		Capabilities: capabilitiesOf(s.handler, units),
		ServerInfo:   protocol.InitializeResultServerInfo{Name: "kimi-acp lsp", Version: &version},
	}, nil
}

// refused is the error for what cannot be done, in words for the user.
func refused(why string) error {
	return &jsonrpc.Error{Code: codeRequestFailed, Message: why}
}
