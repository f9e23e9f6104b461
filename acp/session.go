package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	"kimi-acp/contextprovider"
	"kimi-acp/fileop"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/internal/uuid"
	"kimi-acp/soul"
	"kimi-acp/soul/background"
	store "kimi-acp/soul/session"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// session is one conversation: a soul, its Wire, and the prompts that wait.
type session struct {
	id       string
	roots    []string
	agent    *Agent
	client   client
	state    *soul.Machine[soul.SessionState]
	wire     *wire.Wire
	executor *tool.Executor
	journal  *tool.Journal
	tasks    *background.Tasks // what goes on beside the conversation
	view     *view
	mailbox  *tool.Mailbox           // of the model's SendDMail; nil: it has no such tool
	moment   *contextprovider.Moment // nil: nothing is told of the moment
	spec     SoulSpec                // what its souls are made from, but for the model and the kernel
	kernels  Kernels                 // what it can run in
	hooks    Hooks                   // the user's; nil: there are none
	ending   sync.Once               // the hooks know that the session is over
	code     Code                    // what can be asked about the texts of programs
	fallback string                  // what could not be as it was when the session was opened again; "": nothing
	told     chan struct{}           // closed when the editor knows the session and its commands
	working  sync.Mutex              // held while a turn runs, and while the session is parked or brought back
	closers  []func()                // in the order in which to call them

	shelving sync.Mutex // held while the session is parked or brought back, and while its options are saved
	saved    []byte     // the options that are on disk; under shelving

	choosing sync.Mutex // held while an option is changed: editor and user may do so at once
	telling  sync.Mutex // held while the editor is told of modes and options, so that what comes last is how they are

	speaking sync.RWMutex // held for reading while something is sent
	silent   bool         // under speaking: nothing is sent any more

	waiting waiting // the prompts that are kept until they run

	mu          sync.Mutex
	queue       []*turn                       // queue[0] runs, the rest waits in order
	draining    bool                          // the queue is being run, or its last answer given
	idle        chan struct{}                 // closed when the queue is no longer run; nil: it never was
	closing     bool                          // no prompt is taken any more
	kept        *store.Session                // where the session is kept; nil: nowhere, or it is parked
	used        time.Time                     // when it became idle last
	parking     *time.Timer                   // parks the session when it runs out; nil: it is not idle, or not kept
	asksIn      *turn                         // in which agents in the background may ask; nil: none runs
	asks        map[string]context.CancelFunc // permission requests that wait, by the Wire's id
	soul        soul.Soul                     // see mind
	kernelModel string                        // that was chosen of a kernel's own; "": none was
	kernel      string                        // the id of that in which soul runs; "": none can be chosen
	choice      choice                        // model and thinking level in use
	commands    []soul.Command                // that the editor was told of
	titled      bool
	announced   bool // the commands were sent again with the first prompt

	// Under working.
	planDue       bool              // the plan has changed and is not shown yet
	journaled     bool              // the journal is open in the session's folder
	asked         []json.RawMessage // the blocks of the prompt that runs
	unread        bool              // what was shown before the session was resumed is not known yet
	stopRecording func()            // detaches kept from the wire
}

type newSessionResult struct {
	SessionID string `json:"sessionId"`
	sessionState
}

type sessionState struct {
	Modes         *modeState     `json:"modes"`
	ConfigOptions []configOption `json:"configOptions,omitempty"`
}

// newSession makes a session. The answer goes out before any update of the
// session, since editors do not know the session until they have read it.
func (a *Agent) newSession(call *jsonrpc.Call) {
	p, err := parseParams(call.Params())
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	roots, err := sessionRoots(p)
	if err != nil {
		call.ReplyNow(nil, err)
		return
	}
	if err := a.admits(); err != nil {
		call.ReplyNow(nil, err)
		return
	}
	call.GoLocal(func(context.Context) (any, error) {
		s, err := a.open(opening{id: uuid.New(), roots: roots, mcp: a.mcpServers(p)})
		if err != nil {
			return nil, err
		}
		defer close(s.told) // whatever happens: prompts wait for it
		call.Reply(newSessionResult{SessionID: s.id, sessionState: s.stateOf()}, nil)
		s.announceCommands()
		s.tellFallback()
		s.tellBegin("startup")
		s.warm()
		return nil, nil
	})
}

// admits is an error when no session may be made or opened now.
func (a *Agent) admits() error {
	a.mu.Lock()
	out := a.loggedOut
	a.mu.Unlock()
	if out {
		return authRequired("you are logged out; authenticate again")
	}
	if missing := a.settings().Missing; missing != "" {
		return authRequired(missing)
	}
	return nil
}

// stateOf is what the answers that open a session have in common.
func (s *session) stateOf() sessionState {
	state := sessionState{Modes: s.modes()}
	if !s.client.profile.HideConfigOptions {
		state.ConfigOptions = s.configOptions()
	}
	return state
}

// opening is what a session is opened from.
type opening struct {
	id    string
	roots []string
	mcp   []soul.MCPServer
	kept  *store.Session // where it is kept, nil: a place is made; open closes it when it fails
	fork  bool           // kept was made for it, so that it goes with it when it cannot be opened
}

// open builds a session and what hangs on it.
func (a *Agent) open(o opening) (s *session, err error) {
	making := func() (*store.Session, error) { return o.kept, nil }
	defer func() {
		if kept, _ := making(); err != nil && kept != nil {
			a.abandon(kept, o.fork || o.kept == nil)
		}
	}()
	a.mu.Lock()
	n := len(a.sessions)
	a.mu.Unlock()
	if n >= maxSessions {
		return nil, invalidRequest("Too many sessions on this connection; close some, or start the agent again")
	}
	disk, err := openRoots(o.roots)
	if err != nil {
		return nil, err
	}
	making = a.find(o)
	if s, err = a.build(o, disk); err != nil {
		return nil, err
	}
	kept, err := making()
	if err != nil { // only of a new session; it is worth more than its keeping
		a.log.Warn("a session is not kept", "session", s.id, "error", err)
		s.fellBack("This session cannot be kept on disk, and is lost when it is closed: " + clip(err.Error()))
	}
	if kept != nil {
		s.fellBack(s.restore(kept))
		s.keep(kept)
	}
	if kept != nil && o.kept == nil { // what was there before is parked at once
		s.mu.Lock()
		s.parkLater()
		s.mu.Unlock()
	}
	a.mu.Lock()
	over := a.over
	if !over {
		a.sessions[s.id] = s
	}
	a.mu.Unlock()
	if over { // nobody else would close it
		s.close()
		return nil, invalidRequest("The connection is over")
	}
	a.parkOldest()
	a.log.Info("session opened", "session", s.id, "roots", len(o.roots))
	return s, nil
}

// abandon lets go of the place of a session that could not be opened. One that was made
// for it goes.
func (a *Agent) abandon(kept *store.Session, made bool) {
	_ = kept.Close() // nothing was written to it
	if !made {
		return
	}
	if err := a.opts.Sessions.Delete(kept.ID()); err != nil {
		a.log.Warn("a session that could not be opened is left behind", "session", kept.ID(), "error", err)
	}
}

// find gives the place where a session is kept. A new one is made while the rest of
// the session is.
func (a *Agent) find(o opening) func() (*store.Session, error) {
	if a.opts.Sessions == nil || o.kept != nil {
		return func() (*store.Session, error) { return o.kept, nil }
	}
	var kept *store.Session
	var err error
	made := make(chan struct{})
	go func() {
		defer close(made)
		kept, err = a.opts.Sessions.Create(o.roots[0], o.id)
	}()
	return func() (*store.Session, error) {
		<-made
		return kept, err
	}
}

// build makes all of a session but the place where it is kept. It closes disk when it
// fails.
func (a *Agent) build(o opening, disk *fileop.Disk) (*session, error) {
	a.mu.Lock()
	c := a.client
	a.mu.Unlock()
	roots := o.roots
	s := &session{id: o.id, roots: roots, agent: a, client: c, wire: wire.New(), told: make(chan struct{}), asks: map[string]context.CancelFunc{}}
	s.state = soul.NewMachine("session "+s.id, soul.SessionTable, soul.SessionIdle, func(from, to soul.SessionState) {
		a.opts.Events.Publish(soul.BusEvent{Time: time.Now(), SessionID: s.id, Payload: soul.SessionMoved{From: from, To: to}})
	})
	s.view = newView(s)
	s.closers = append(s.closers, func() { _ = disk.Close() /* nothing was written through it that could be lost */ })
	files := fileop.Options{Disk: disk, Roots: roots, EditorReads: c.readFile, EditorWrites: c.writeFile}
	if c.readFile || c.writeFile {
		files.Editor = &editorStore{session: s}
	}
	if !c.readFile && a.opts.Unsaved != nil {
		files.Unsaved = a.opts.Unsaved(roots)
	}
	var err error
	if s.journal, err = tool.NewMemoryJournal(files); err != nil {
		s.close()
		return nil, err
	}
	operator := s.journal.Operator()
	var guard *tool.Guard
	if a.opts.Guard != nil {
		guard = a.opts.Guard(roots)
	}
	if err := s.openMoment(guard, disk); err != nil {
		s.close()
		return nil, err
	}
	var agents Agents
	if a.opts.Agents != nil {
		if agents, err = a.opts.Agents(AgentsSpec{Roots: roots, Trusted: s.rules(guard).Trusted}); err != nil {
			s.close()
			// The words are for the user, who has written the file that is wrong.
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: err.Error()}
		}
	}
	s.spec.Agents = agents
	s.openTasks()
	s.openHooks(s.rules(guard))
	s.executor = tool.NewExecutor(tool.Options{
		Guard:      guard,
		Tasks:      s.tasks,
		Detached:   a.opts.Runner,
		Tools:      s.tools(),
		Operator:   operator,
		Journal:    s.journal,
		Checker:    s.code.Checker,
		Runner:     commandRunner{s},
		Asker:      s.wire,
		Questioner: s.wire,
		Progress:   func(p wire.ToolProgress) { s.wire.Send(p) },
		Cwd:        roots[0],
		Roots:      roots,
		Logger:     a.log,
	})
	s.wire.HandleTools(s.executor)
	s.wire.Attach(wire.Raw, s.view)
	if a.opts.Watch != nil {
		v, done := a.opts.Watch(s.id)
		s.wire.Attach(wire.Merged, v)
		s.closers = append(s.closers, done)
	}
	if err := s.executor.SetMode(cmp.Or(a.settings().Mode, tool.ModeDefault)); err != nil {
		s.close()
		return nil, err
	}
	s.spec = SoulSpec{Agents: agents, SessionID: s.id, MCP: o.mcp, Roots: roots, Wire: s.wire, Executor: s.executor, Disk: disk, Controls: controls{s}, Edits: s.journal, Tasks: s.tasks, OwnDir: s.ownDir, Permissions: s.executor.Permissions(), Files: askedFiles{operator, s.rules(guard)}, Trusted: s.rules(guard).Trusted, Mailbox: s.mailbox, Hooks: s.hooksOfSoul()}
	if s.moment != nil {
		s.spec.Moment = s.moment
	}
	if a.opts.Sessions != nil {
		s.spec.Session = desk{s}
	}
	if err := s.openSoul(o.kept); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close lets go of what the session holds. No turn runs any more.
func (s *session) close() {
	s.wire.Close()
	s.endTasks()
	s.endHooks()
	s.letGo(s.mind())
	s.mu.Lock()
	kept := s.kept
	s.kept = nil
	if s.parking != nil {
		s.parking.Stop()
	}
	s.mu.Unlock()
	s.closeJournal()
	if kept != nil {
		if err := kept.Close(); err != nil {
			s.agent.log.Warn("the end of a session may not have been kept", "session", s.id, "error", err)
		}
	}
	for _, f := range s.closers {
		f()
	}
	s.move(soul.SessionClosed)
}

// silence has nothing more sent of the session: what is answered next is behind it all.
func (s *session) silence() {
	s.speaking.Lock()
	defer s.speaking.Unlock()
	s.silent = true
}

// update sends a session/update.
func (s *session) update(u any) { s.send(sessionNotification{SessionID: s.id, Update: u}) }

// send sends the parameters of a session/update, unless the editor has closed the session.
func (s *session) send(params any) {
	s.speaking.RLock()
	defer s.speaking.RUnlock()
	if s.silent {
		return
	}
	s.agent.notify("session/update", params)
}
