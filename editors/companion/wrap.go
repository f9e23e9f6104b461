package companion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/tliron/glsp"
	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/editors/state"
	"kimi-acp/internal/jsonrpc"
)

// Wrapped is another language server.
type Wrapped struct {
	In  io.WriteCloser // what it reads
	Out io.Reader      // what it writes
}

// Wrap stands between an editor and another server: what either writes reaches the
// other byte for byte, before it is looked at. A stream that is no LSP is forwarded
// all the same, and nothing is learned from it.
//
// The end of the editor's input ends the server's; Wrap returns once the server's
// output has ended (nil), which is for the caller to see to. It closes in, so that a
// Read that waits must end then, and removes what was published.
func Wrap(ctx context.Context, in io.ReadCloser, out io.Writer, server Wrapped, o Options) error {
	l := &listener{options: o, desk: newDesk(o.Sensitive)}
	l.handler = l.desk.senses()
	l.handler.SetInitialized(true)
	_, l.unseen = l.desk.start(ctx, o)
	defer l.unseen()

	asked, answered := l.listen(ctx, l.fromEditor, nil), l.listen(ctx, l.fromServer, l.seeAnswer)
	var asking sync.WaitGroup
	asking.Go(func() {
		err := forward(server.In, in, asked)
		if err = errors.Join(err, server.In.Close()); err != nil {
			o.Logger.Debug("the editor's side ended", "error", err)
		}
	})
	err := forward(out, server.Out, answered)
	_ = in.Close() // a Read that waits is the only thing that it is for
	asking.Wait()
	asked.close()
	answered.close()
	if err != nil {
		return fmt.Errorf("forward what the language server says: %w", err)
	}
	return nil
}

// forward copies from one end to the other until the input ends (nil), each piece as
// it comes and before ears hears of it.
func forward(to io.Writer, from io.Reader, ears *ears) error {
	piece := make([]byte, 64<<10)
	for {
		n, err := from.Read(piece)
		if n > 0 {
			if _, err := to.Write(piece[:n]); err != nil {
				return err
			}
			ears.hear(piece[:n])
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// ears listen to one direction. What they hear they take for the input of a
// connection whose answers nobody reads.
type ears struct {
	pipe    *io.PipeWriter
	running sync.WaitGroup
	deaf    atomic.Bool
}

// listen has handle called for what is said, and tap for every message.
func (l *listener) listen(ctx context.Context, handle func(*jsonrpc.Call), tap func([]byte)) *ears {
	r, w := io.Pipe()
	e := &ears{pipe: w}
	e.running.Go(func() {
		conn := jsonrpc.NewConn(r, io.Discard, jsonrpc.HandlerFunc(handle), jsonrpc.Options{
			Framing: jsonrpc.ContentLength, Dialect: jsonrpc.LSP, Logger: slog.New(slog.DiscardHandler), Linger: -1,
			Tap: func(d jsonrpc.Direction, message []byte) {
				if d == jsonrpc.In && tap != nil {
					tap(message)
				}
			},
		})
		if err := conn.Run(ctx); err != nil && ctx.Err() == nil {
			l.options.Logger.Warn("what follows is forwarded and not understood", "error", err)
		}
		e.deaf.Store(true)
		_ = r.Close() // a pipe's does not fail
	})
	return e
}

// hear takes in a piece. It waits while the last one is looked at.
func (e *ears) hear(piece []byte) {
	if e.deaf.Load() {
		return
	}
	_, _ = e.pipe.Write(piece) // it fails once nobody listens
}

func (e *ears) close() {
	_ = e.pipe.Close() // a pipe's does not fail
	e.running.Wait()
}

// listener learns from what an editor and another server say to each other.
type listener struct {
	options Options
	desk    *desk
	handler *protocol.Handler
	unseen  func() // removes what was published, for good

	agreed bool // the answer to initialize was seen; for seeAnswer alone
}

// fromEditor takes in what the editor says.
func (l *listener) fromEditor(call *jsonrpc.Call) {
	defer call.Reply(nil, nil)
	switch call.Method() {
	case protocol.MethodInitialize:
		var g greeting
		if json.Unmarshal(call.Params(), &g) == nil {
			l.desk.use(state.Editor{Name: g.ClientInfo.Name, Version: g.ClientInfo.Version}, g.roots(l.options.Dir), "")
		}
	case protocol.MethodShutdown:
		l.unseen() // editors kill a server that has answered
	case methodEditorState:
		_ = l.desk.told(call.Params()) // the server has no such method either
	default:
		// What is wrong with a message is for the server to say.
		_, _, _, _ = l.handler.Handle(&glsp.Context{
			Method: call.Method(), Params: call.Params(),
			Notify: func(string, any) {},
		})
	}
}

// fromServer takes in what the server finds.
func (l *listener) fromServer(call *jsonrpc.Call) {
	defer call.Reply(nil, nil)
	if call.Method() != protocol.ServerTextDocumentPublishDiagnostics {
		return
	}
	var p struct {
		URI         string    `json:"uri"`
		Diagnostics []finding `json:"diagnostics"`
	}
	if json.Unmarshal(call.Params(), &p) == nil {
		l.desk.published(p.URI, p.Diagnostics)
	}
}

// seeAnswer looks for the answer to initialize, which says in what units the two
// count. It is the first answer of all, and the only one with capabilities.
func (l *listener) seeAnswer(message []byte) {
	if l.agreed {
		return
	}
	var answer struct {
		Method string `json:"method"`
		Result struct {
			Capabilities *struct {
				PositionEncoding string `json:"positionEncoding"`
			} `json:"capabilities"`
		} `json:"result"`
	}
	if json.Unmarshal(message, &answer) != nil || answer.Method != "" || answer.Result.Capabilities == nil {
		return
	}
	l.agreed = true
	if units, ok := named(answer.Result.Capabilities.PositionEncoding); ok {
		l.desk.agree(units)
	}
}
