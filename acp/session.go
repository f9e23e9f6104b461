package acp

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"kimi-acp/contextprovider"
	"kimi-acp/fileop"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
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
	soul     soul.Soul
	view     *view
	moment   *contextprovider.Moment // nil: nothing is told of the moment
	told     chan struct{}           // closed when the editor knows the session and its commands
	closers  []func()                // in the order in which to call them

	choosing sync.Mutex // held while an option is changed: editor and user may do so at once
	telling  sync.Mutex // held while the editor is told of modes and options, so that what comes last is how they are

	mu        sync.Mutex
	queue     []*turn                       // queue[0] runs, the rest waits in order
	draining  bool                          // the queue is being run, or its last answer given
	asks      map[string]context.CancelFunc // permission requests that wait, by the Wire's id
	choice    choice                        // model and thinking level in use
	titled    bool
	announced bool // the commands were sent again with the first prompt
}

type newSessionResult struct {
	SessionID     string         `json:"sessionId"`
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
	if missing := a.settings().Missing; missing != "" {
		call.ReplyNow(nil, authRequired(missing))
		return
	}
	call.GoLocal(func(context.Context) (any, error) {
		s, err := a.open(roots)
		if err != nil {
			return nil, err
		}
		if n := mcpServers(p); n > 0 {
			a.log.Warn("MCP servers are not supported yet; the session does without them", "servers", n)
		}
		defer close(s.told) // whatever happens: prompts wait for it
		result := newSessionResult{SessionID: s.id, Modes: s.modes()}
		if !s.client.profile.HideConfigOptions {
			result.ConfigOptions = s.configOptions()
		}
		call.Reply(result, nil)
		s.announceCommands()
		s.warm()
		return nil, nil
	})
}

// sessionRoots reads and checks cwd and additionalDirectories. The same directory
// counts once.
func sessionRoots(p members) ([]string, error) {
	cwd, err := p.text("cwd")
	if err != nil {
		return nil, err
	}
	if err := checkRoot("cwd", cwd); err != nil {
		return nil, err
	}
	roots := []string{filepath.Clean(cwd)}
	more, _ := p.list("additionalDirectories")
	for i, raw := range more {
		var dir *string
		if json.Unmarshal(raw, &dir) != nil || dir == nil {
			continue // the schema: bad items are dropped
		}
		if err := checkRoot(fmt.Sprintf("additionalDirectories[%d]", i), *dir); err != nil {
			return nil, err
		}
		if root := filepath.Clean(*dir); !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
		if len(roots) > maxRoots {
			return nil, invalid("additionalDirectories: a session has at most %d directories", maxRoots)
		}
	}
	return roots, nil
}

func checkRoot(name, dir string) error {
	switch {
	case dir == "":
		return invalid("%s is empty; it must be an absolute path", name)
	case strings.ContainsRune(dir, 0):
		return invalid("%s contains a NUL byte", name)
	case !filepath.IsAbs(dir):
		return invalid("%s must be an absolute path, not %q", name, clip(dir))
	}
	return nil
}

// mcpServers counts the MCP servers that a client passes.
func mcpServers(p members) int {
	servers, _ := p.list("mcpServers")
	return len(servers)
}

// open builds a session and what hangs on it.
func (a *Agent) open(roots []string) (*session, error) {
	a.mu.Lock()
	c, n := a.client, len(a.sessions)
	a.mu.Unlock()
	if n >= maxSessions {
		return nil, invalidRequest("Too many sessions on this connection; start the agent again")
	}
	s := &session{id: newSessionID(), roots: roots, agent: a, client: c, wire: wire.New(), told: make(chan struct{}), asks: map[string]context.CancelFunc{}}
	s.state = soul.NewMachine("session "+s.id, soul.SessionTable, soul.SessionIdle, func(from, to soul.SessionState) {
		a.opts.Events.Publish(soul.BusEvent{Time: time.Now(), SessionID: s.id, Payload: soul.SessionMoved{From: from, To: to}})
	})
	s.view = newView(s)
	disk, err := fileop.OpenDisk(roots...)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Invalid params: " + clip(err.Error())}
	}
	s.closers = append(s.closers, func() { _ = disk.Close() /* nothing was written through it that could be lost */ })
	files := fileop.Options{Disk: disk, Roots: roots, EditorReads: c.readFile, EditorWrites: c.writeFile}
	if c.readFile || c.writeFile {
		files.Editor = &editorStore{session: s}
	}
	if s.journal, err = tool.NewMemoryJournal(files); err != nil {
		s.close()
		return nil, err
	}
	var guard *tool.Guard
	if a.opts.Guard != nil {
		guard = a.opts.Guard(roots)
	}
	if err := s.openMoment(guard, disk); err != nil {
		s.close()
		return nil, err
	}
	s.executor = tool.NewExecutor(tool.Options{
		Guard:      guard,
		Tools:      s.tools(),
		Operator:   s.journal.Operator(),
		Journal:    s.journal,
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
	s.choice = a.fitting("", "")
	provider, err := a.provider(s.choice)
	if err != nil {
		s.close()
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "The model cannot be used: " + err.Error()}
	}
	if err := s.executor.SetMode(cmp.Or(a.settings().Mode, tool.ModeDefault)); err != nil {
		s.close()
		return nil, err
	}
	spec := SoulSpec{Provider: provider, SessionID: s.id, Roots: roots, Wire: s.wire, Executor: s.executor, Disk: disk, Controls: controls{s}, Edits: s.journal, Permissions: s.executor.Permissions()}
	if s.moment != nil {
		spec.Moment = s.moment
	}
	s.soul, err = a.opts.NewSoul(spec)
	if err != nil {
		s.close()
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "The session could not be made: " + err.Error()}
	}
	s.executor.SetImages(provider != nil && provider.Model().ImageInput)
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
	a.log.Info("session opened", "session", s.id, "roots", len(roots))
	return s, nil
}

// close lets go of what the session holds. No turn runs any more.
func (s *session) close() {
	s.wire.Close()
	for _, f := range s.closers {
		f()
	}
	s.move(soul.SessionClosed)
}

// newSessionID makes a random UUID (version 4), as kimi-cli names its sessions.
func newSessionID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// announceCommands sends the complete list of slash commands.
func (s *session) announceCommands() {
	list := commandsUpdate{SessionUpdate: "available_commands_update", AvailableCommands: []availableCommand{}}
	for _, c := range s.soul.Commands() {
		cmd := availableCommand{Name: c.Name, Description: c.Description}
		if c.Hint != "" {
			cmd.Input = &commandInput{Hint: c.Hint}
		}
		list.AvailableCommands = append(list.AvailableCommands, cmd)
	}
	s.update(list)
}

// update sends a session/update.
func (s *session) update(u any) {
	s.agent.notify("session/update", sessionNotification{SessionID: s.id, Update: u})
}
