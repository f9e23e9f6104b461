package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/internal/fileuri"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/internal/proc"
)

// Bounds on a server: how long it may take, and how much it may say.
const (
	longestStart   = 60 * time.Second // until it has answered initialize
	longestRequest = 15 * time.Second
	longestGoodbye = time.Second
	maxAnswer      = 16 << 20 // bytes of one message of its
	maxUnsent      = 16 << 20 // bytes that wait for it to read them
	maxUnanswered  = 3        // requests in a row without an answer: then it hangs
)

// client is one running server. It may be used by several goroutines at once.
type client struct {
	server  Server
	dir     string
	log     *slog.Logger
	service *proc.Service
	conn    *jsonrpc.Conn
	over    chan struct{} // closed when the connection is

	longest    time.Duration // that it may take for an answer
	documents  *documents
	findings   *findings
	warm       atomic.Bool // it has told something about a file
	unanswered atomic.Int32
}

// open starts a server and introduces us. ctx is the life of the server; it bounds the
// start too.
func open(ctx context.Context, s Server, dir string, o Options) (*client, error) {
	service, err := o.Runner.Start(proc.Program{Args: s.Command, Dir: dir, Environ: append(slices.Clone(o.Environ), s.Environ...)})
	if err != nil {
		return nil, err
	}
	c := &client{server: s, dir: dir, log: o.Logger.With("server", s.Name), service: service, over: make(chan struct{}), longest: longestRequest, findings: newFindings(o.pace.settle)}
	c.conn = jsonrpc.NewConn(service.Out, service.In, jsonrpc.HandlerFunc(c.handle), jsonrpc.Options{
		Framing: jsonrpc.ContentLength, Dialect: jsonrpc.LSP, Logger: c.log,
		MaxMessage: maxAnswer, MaxQueued: maxUnsent,
	})
	c.documents = newDocuments(c.conn.Notify, c.findings)
	go func() { // ends with the connection, which end waits for
		defer close(c.over)
		if err := c.conn.Run(ctx); err != nil && ctx.Err() == nil {
			c.log.Warn("a language server cannot be understood", "error", err)
		}
	}()
	if err := c.greet(ctx); err != nil {
		c.end(0)
		if why := firstLine(service.Complaint()); why != "" {
			err = fmt.Errorf("%w: %s", err, why)
		}
		return nil, fmt.Errorf("start %s: %w", s.Name, err)
	}
	return c, nil
}

func (c *client) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, longestStart)
	defer cancel()
	yes, no := true, false
	pid := protocol.Integer(os.Getpid()) //nolint:gosec // process ids are small
	uri := fileuri.Of(c.dir)
	params := protocol.InitializeParams{
		ProcessID: &pid, RootURI: &uri, RootPath: &c.dir, WorkspaceFolders: c.folders(),
		Capabilities: protocol.ClientCapabilities{TextDocument: &protocol.TextDocumentClientCapabilities{
			Synchronization:    &protocol.TextDocumentSyncClientCapabilities{DidSave: &yes},
			Hover:              &protocol.HoverClientCapabilities{ContentFormat: []protocol.MarkupKind{protocol.MarkupKindMarkdown}},
			Definition:         &protocol.DefinitionClientCapabilities{LinkSupport: &yes},
			DocumentSymbol:     &protocol.DocumentSymbolClientCapabilities{HierarchicalDocumentSymbolSupport: &yes},
			PublishDiagnostics: &protocol.PublishDiagnosticsClientCapabilities{VersionSupport: &yes},
			Rename:             &protocol.RenameClientCapabilities{PrepareSupport: &no},
		}},
	}
	if c.server.Settings != nil {
		params.InitializationOptions = c.server.Settings
	}
	w := &params.Capabilities
	w.Workspace = newOf(w.Workspace)
	w.Workspace.WorkspaceFolders, w.Workspace.Configuration, w.Workspace.ApplyEdit = &yes, &yes, &no
	w.Workspace.WorkspaceEdit = &protocol.WorkspaceEditClientCapabilities{DocumentChanges: &yes}
	w.Workspace.DidChangeWatchedFiles = &protocol.DidChangeWatchedFilesClientCapabilities{}
	params.ClientInfo = newOf(params.ClientInfo)
	params.ClientInfo.Name = "kimi-acp"
	if err := c.conn.Call(ctx, protocol.MethodInitialize, params, nil); err != nil {
		return c.explain("initialize", err)
	}
	return c.conn.Notify(protocol.MethodInitialized, protocol.InitializedParams{})
}

// newOf makes what a pointer to a type without a name points to.
func newOf[T any](*T) *T { return new(T) }

func (c *client) folders() []protocol.WorkspaceFolder {
	return []protocol.WorkspaceFolder{{URI: fileuri.Of(c.dir), Name: filepath.Base(c.dir)}}
}

// call asks the server. A server that lets several requests pass is ended by its owner.
func (c *client) call(ctx context.Context, method string, params, result any) error {
	bounded, cancel := context.WithTimeout(ctx, c.longest)
	defer cancel()
	err := c.conn.Call(bounded, method, params, result)
	var refused *jsonrpc.Error
	switch {
	case err == nil || errors.As(err, &refused):
		c.unanswered.Store(0)
	case bounded.Err() != nil && ctx.Err() == nil:
		if c.unanswered.Add(1) >= maxUnanswered {
			c.log.Warn("a language server hangs and is ended")
			c.service.End(0)
		}
	}
	return c.explain(method, err)
}

// ask is call with the raw result.
func (c *client) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	var raw json.RawMessage
	err := c.call(ctx, method, params, &raw)
	return raw, err
}

// explain words an error for a model.
func (c *client) explain(method string, err error) error {
	var refused *jsonrpc.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.Code == jsonrpc.CodeMethodNotFound:
		return fmt.Errorf("%s does not know how to do this", c.server.Name)
	case errors.As(err, &refused):
		return fmt.Errorf("%s says: %s", c.server.Name, clip(firstLine(refused.Message), maxMessage))
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s did not answer in time", c.server.Name)
	case errors.Is(err, jsonrpc.ErrClosed):
		return fmt.Errorf("%s has ended", c.server.Name)
	}
	return fmt.Errorf("%s: %s: %w", c.server.Name, method, err)
}

// end ends the server: with grace by asking it to, without at once. It waits for it.
func (c *client) end(grace time.Duration) {
	if grace > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		if c.conn.Call(ctx, protocol.MethodShutdown, nil, nil) == nil {
			_ = c.conn.Notify(protocol.MethodExit, nil) // or it ends because its input does
		}
		cancel()
	}
	c.service.End(grace)
	<-c.over
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
