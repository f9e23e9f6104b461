package acp

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"kimi-acp/contextprovider"
	"kimi-acp/fileop"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
	"kimi-acp/soul/background"
	"kimi-acp/soul/llm"
	store "kimi-acp/soul/session"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// Options is what an Agent needs from the program around it.
type Options struct {
	Version string // of this program, for agentInfo
	// NewSoul makes the soul of a session.
	NewSoul func(SoulSpec) (soul.Soul, error)
	// Settings says what a new session begins with; nil: the zero Settings.
	Settings func() Settings
	// Kernels says what a session can run in, one of them that of the settings; nil:
	// only in that one.
	Kernels func() Kernels
	// Catalog says which models there are; nil: sessions cannot change theirs.
	Catalog Catalog
	// Sessions are kept here; nil: they end with the connection.
	Sessions *store.Store
	// ParkAfter is how long a session that is kept may be idle before it is parked;
	// 0: ten minutes.
	ParkAfter time.Duration
	// Runner runs commands on this machine, and Shell is the program that it runs
	// them with.
	Runner tool.Runner
	Shell  string
	// Guard judges what the tools of a session with these roots mean to do; nil:
	// everything asks.
	Guard func(roots []string) *tool.Guard
	// Moment makes what words the moment around the prompts of a session, or nil
	// where nothing is told. Nil: nothing is told in any session.
	Moment func(MomentSpec) (*contextprovider.Moment, error)
	// Unsaved, if not nil, knows what is unsaved in the files of a session with these
	// roots, for editors that do not give files.
	Unsaved func(roots []string) fileop.Unsaved
	// Code makes what can be asked about the programs of a session's workspace. Nil:
	// nothing can.
	Code func(MomentSpec) Code
	// Agents says what the model of a session is, and which agents it can start; nil: it
	// is as usual, and starts none. An error is why there can be no such session.
	Agents func(AgentsSpec) (Agents, error)
	// Hooks makes the hooks of the user's for a session. Nil: there are none.
	Hooks func(HookSpec) Hooks
	// Watch, if not nil, gives a view that sees the Wire of a session, and what to
	// call when the session is over.
	Watch  func(sessionID string) (v wire.View, done func())
	Events *soul.EventBus
	Logger *slog.Logger
	// LastWait is how long Serve waits for turns once the connection is over; 0: 5 ms, as
	// the end of the program does the rest. Who goes on in the same process waits longer.
	LastWait time.Duration
}

// Settings is what can change while the program runs; it holds for new sessions.
type Settings struct {
	// Missing says what a person has to set before sessions can be made; "" when
	// a model is configured.
	Missing string
	// Mode is the mode that sessions begin in; "" is tool.ModeDefault.
	Mode tool.Mode
	// DMail says that the model may go back to an earlier point of its turn.
	DMail bool
}

// settings is what a new session begins with.
func (a *Agent) settings() Settings {
	if a.opts.Settings == nil {
		return Settings{}
	}
	return a.opts.Settings()
}

// SoulSpec is what a soul is made from.
type SoulSpec struct {
	SessionID string
	Kernel    string       // the id of one of Options.Kernels; "": that of the settings
	Provider  llm.Provider // of the chosen model; nil without a Catalog
	Roots     []string     // absolute; the first is the working directory
	Wire      *wire.Wire
	Executor  *tool.Executor    // serves the workspace tools on Wire
	Disk      fileop.Store      // the roots as they are on disk
	Controls  soul.Controls     // what slash commands may change
	MCP       []soul.MCPServer  // that the editor passed for the session
	Edits     soul.Edits        // the edits of the session
	Session   soul.Session      // what slash commands may do with the session; nil: nothing
	Files     soul.Files        // the user's files, for slash commands
	Moment    soul.Moment       // how things stand around a prompt; nil: it is not told
	Tasks     *background.Tasks // what goes on beside the conversation
	// OwnDir is the folder of ours beside the session, "" while it is not kept or parked.
	OwnDir func() string
	// Permissions are what was granted in the session, and what holds beside it.
	Permissions soul.Permissions
	Hooks       soul.Hooks // those of the user; nil: there are none
	// Trusted tells whether the workspace is trusted to run code of its own.
	Trusted func() bool
	Agents  Agents
	// Mailbox is where the model's calls of SendDMail end up; nil: it has no such tool.
	Mailbox *tool.Mailbox
}

// AgentsSpec is what is known of a session when it is asked which agents it has.
type AgentsSpec struct {
	Roots   []string    // absolute; the first is the working directory
	Trusted func() bool // whether the workspace is trusted
}

// Agents is what the model of a session is, and which agents it can start. It stays as it
// is for as long as the session is open.
type Agents struct {
	// Types are those of the agents that it can start; none: it starts none. What NewSoul
	// makes has to serve them.
	Types []tool.AgentType
	// Has tells whether it has the tool of a name that there is; nil: it has them all.
	Has func(name string) bool
	// System is its system prompt; usual is what it were told else. Nil: that.
	System func(usual string) string
}

// HookSpec is what the hooks of a session are made from.
type HookSpec struct {
	SessionID string
	Roots     []string // absolute; the first is the working directory
	Trusted   func() bool
	Send      func(wire.Event) // to the session's Wire
}

// Hooks are the user's hooks in a session. Its methods may be called at once.
type Hooks interface {
	soul.Hooks
	// Leave calls the hooks on the session's last event and does not wait.
	Leave(event, target string, data map[string]any)
	// Close ends what still runs, within two seconds.
	Close()
}

// MomentSpec is what the moment of a session is made from.
type MomentSpec struct {
	SessionID string
	Roots     []string         // absolute; the first is the working directory
	Files     *fileop.Operator // the files as the user sees them
	Disk      fileop.Store     // the roots as they are on disk
	// Readable tells whether the text of a file may be shown to a model.
	Readable func(path string) bool
	// Trusted tells whether the workspace is trusted to run code of its own.
	Trusted func() bool
	// Code are the providers of Code.
	Code []contextprovider.Provider
}

// Bounds on what one editor can make grow.
const (
	maxSessions = 256 // sessions of one connection
	maxRoots    = 64  // directories of one session, each of which is held open
	maxQueued   = 20  // prompts of one session that wait
	// maxQueuedBytes is how large these may be together. No single prompt is larger.
	maxQueuedBytes = jsonrpc.DefaultMaxMessage
	// maxOutput is how many bytes wait for an editor that reads slowly. What is
	// answered meanwhile goes out behind them, so they must be few.
	maxOutput = 16 << 10
)

// Agent serves one editor.
type Agent struct {
	opts Options
	log  *slog.Logger
	conn *jsonrpc.Conn
	ctx  context.Context //nolint:containedctx // the life of all turns: it ends with the connection
	stop context.CancelFunc

	turns sync.WaitGroup // the goroutines that run turns and wait for permissions

	mu        sync.Mutex
	ready     bool // initialize was answered
	over      bool // the sessions are being closed: no further one is taken in
	loggedOut bool
	client    client
	sessions  map[string]*session
	claims    map[string]*claim // the sessions that are being opened or closed, by id
}

// Serve speaks ACP over r and w until the input ends, the output breaks or ctx
// ends. It then cancels all turns and waits for them for a moment.
func Serve(ctx context.Context, r io.Reader, w io.Writer, o Options, c jsonrpc.Options) error {
	a := &Agent{opts: o, log: o.Logger, sessions: map[string]*session{}, claims: map[string]*claim{}}
	if a.log == nil {
		a.log = slog.Default()
	}
	a.ctx, a.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer a.stop()
	c.Dialect, c.Framing = jsonrpc.ACP, jsonrpc.Newline
	if c.MaxQueued == 0 {
		c.MaxQueued = maxOutput
	}
	a.conn = jsonrpc.NewConn(r, w, a, c)
	err := a.conn.Run(ctx)
	a.close()
	return err
}

// defaultLastWait is how long turns may take to wind down once the connection is over.
// Their commands are ended by others if it is not enough.
const defaultLastWait = 5 * time.Millisecond

// close ends all turns and lets go of the sessions.
func (a *Agent) close() {
	a.stop()
	a.mu.Lock()
	a.over = true
	for _, s := range a.sessions {
		s.tellEnd() // first: this process leaves soon, whatever else takes long
	}
	a.mu.Unlock()
	over := make(chan struct{})
	go func() {
		a.turns.Wait()
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, s := range a.sessions {
			s.close()
		}
		close(over)
	}()
	select {
	case <-over:
	case <-time.After(cmp.Or(a.opts.LastWait, defaultLastWait)):
		a.log.Debug("turns still wind down")
	}
}

// InputEnded cancels all turns: the editor is gone, or about to be.
func (a *Agent) InputEnded() { a.stop() }

// Handle serves one message of the editor. It runs on the connection's reader and
// does not wait, so that a cancel behind a prompt always finds its turn.
func (a *Agent) Handle(call *jsonrpc.Call) {
	if !a.hold(call) {
		a.serve(call)
	}
}

// serve serves one message. Those of one session come in the editor's order.
func (a *Agent) serve(call *jsonrpc.Call) {
	method := call.Method()
	if call.IsNotification() {
		if method == sdk.AgentMethodSessionCancel {
			a.cancel(call.Params())
		}
		if tells(method) {
			// A notification has no answer that could say what is wrong with it.
			if err := a.told(method, call.Params()); err != nil {
				a.log.Debug("what the editor told was not used", "method", method, "error", err)
			}
		}
		return
	}
	a.mu.Lock()
	ready := a.ready
	a.mu.Unlock()
	if !ready && method != sdk.AgentMethodInitialize {
		call.ReplyNow(nil, invalidRequest("The connection is not initialized: send initialize first"))
		return
	}
	switch method {
	case sdk.AgentMethodInitialize:
		call.ReplyNow(a.initialize(call.Params()))
	case sdk.AgentMethodAuthenticate:
		call.ReplyNow(a.authenticate(call.Params()))
	case sdk.AgentMethodLogout:
		call.ReplyNow(a.logout())
	case sdk.AgentMethodSessionNew:
		a.newSession(call)
	case sdk.AgentMethodSessionPrompt:
		a.prompt(call)
	case sdk.AgentMethodSessionSetMode:
		a.setMode(call)
	case sdk.AgentMethodSessionSetConfigOption:
		a.setOption(call)
	case methodEditorState, methodActiveDocument, methodOpenDocuments, methodRecentDocuments:
		err := a.told(method, call.Params())
		call.ReplyNow(struct{}{}, err)
	case "session/set_model": // removed from the protocol; old clients still send it
		a.setModel(call)
	case methodChangesList, methodChangesAccept, methodChangesReject:
		a.changes(call, changesMethods()[method])
	default:
		if serve := a.lifecycle(method); serve != nil {
			serve(call)
			return
		}
		call.ReplyNow(nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "Method not found: " + clip(method)})
	}
}

// session finds the session that parameters name.
func (a *Agent) session(p members) (*session, error) {
	id, err := p.text("sessionId")
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s, ok := a.sessions[id]; ok {
		return s, nil
	}
	return nil, unknownSession(id)
}

// addressed takes the parameters of a request apart and finds the session that
// they name.
func (a *Agent) addressed(call *jsonrpc.Call) (members, *session, error) {
	p, err := parseParams(call.Params())
	if err != nil {
		return nil, nil, err
	}
	s, err := a.session(p)
	return p, s, err
}

// notify sends a notification. It waits while the editor does not read; it fails
// only when the connection is over, and then nobody is left to tell.
func (a *Agent) notify(method string, params any) {
	if err := a.conn.Notify(method, params); err != nil {
		a.log.Debug("a notification was not sent", "method", method, "error", err)
	}
}
