package wireserver

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"kimi-acp/fileop"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
	"kimi-acp/soul/background"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/subagent"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// maxLine bounds a line of the client, as kimi-cli does.
const maxLine = 100 << 20 // bytes

// endGrace is how long a turn may take to wind down when the client is gone.
const endGrace = 5 * time.Second

// server serves one session to one client.
type server struct {
	opts       Options
	log        *slog.Logger
	conn       *jsonrpc.Conn
	wire       *wire.Wire
	soul       *soul.Builtin
	executor   *tool.Executor
	background *background.Tasks // what goes on beside the conversation
	desk       *desk
	switches   *switches
	hooks      *hooks
	tasks      sync.WaitGroup // what waits for the client's answers

	mu       sync.Mutex
	running  activity
	cancel   context.CancelFunc // of what runs
	ended    chan struct{}      // closed when what runs is over
	open     map[string]*jsonrpc.Pending
	external map[string]llm.ToolSpec
	order    []string // names of the external tools, as they came
	asks     *bool    // the client can show questions; nil: it did not say
	closing  bool
}

// activity is what occupies a session.
type activity uint8

const (
	idle activity = iota
	prompting
	replaying
)

// Serve serves the session of o until the input ends or ctx does. When it returns, no
// turn runs and nothing writes to the session any more.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) (err error) {
	disk, err := fileop.OpenDisk(o.Roots...)
	if err != nil {
		return fmt.Errorf("open the folders of the session: %w", err)
	}
	defer func() { _ = disk.Close() }() // nothing was written through it that could be lost
	s, err := newServer(o, disk)
	if err != nil {
		return err
	}
	defer s.background.Close()
	defer s.wire.Close()
	s.conn = jsonrpc.NewConn(in, out, s, jsonrpc.Options{Dialect: jsonrpc.Wire, MaxMessage: maxLine, Logger: o.Logger})
	defer s.wire.Attach(wire.Raw, wire.ViewFunc(s.forward))()
	defer s.wire.Attach(wire.Merged, wire.ViewFunc(s.record))()
	err = s.conn.Run(ctx)
	s.end()
	return err
}

func newServer(o Options, disk *fileop.Disk) (*server, error) {
	s := &server{opts: o, log: o.Logger, wire: wire.New(), open: map[string]*jsonrpc.Pending{}, external: map[string]llm.ToolSpec{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.desk = newDesk(s)
	s.background = background.New(background.Options{Logger: s.log})
	if err := s.background.Keep(filepath.Join(o.Kept.OwnDir(), "tasks")); err != nil {
		s.log.Warn("not all that went on in the background of the session is known", "error", err)
	}
	files := fileop.New(fileop.Options{Disk: disk, Roots: o.Roots})
	s.executor = tool.NewExecutor(tool.Options{
		Tasks:      s.background,
		Operator:   files,
		Runner:     o.Runner,
		Asker:      s.desk,
		Questioner: s.desk,
		Guard:      o.Guard,
		Cwd:        o.Roots[0],
		Tools:      o.Tools,
		Images:     o.Provider != nil && o.Provider.Model().ImageInput,
		Logger:     s.log,
	})
	s.wire.HandleTools(s.desk)
	s.hooks = newHooks(s)
	s.switches = newSwitches(s)
	s.soul = soul.New(soul.Config{
		SessionID: o.Kept.ID(),
		Provider:  o.Provider,
		Wire:      s.wire,
		System:    o.System,
		Tasks:     s.background,
		MaxSteps:  o.MaxSteps,
		Ralph:     o.Ralph,
		Retry:     o.Retry,
		Compact:   o.Compact,
		Controls:  s.switches,
		Files:     files,
		Profile:   soul.KimiProfile(s.switches, o.Skills),
		Hooks:     s.hooks,
		Mailbox:   o.Mailbox,
		Logger:    s.log,
	})
	s.executor.UseAgents(subagent.New(subagent.Options{
		Wire:     s.wire,
		Executor: s.executor,
		Types:    o.Agents,
		Model:    s.soul.Model,
		System:   func() string { return o.System },
		WorkDir:  o.Roots[0],
		Dir:      func() string { return filepath.Join(o.Kept.OwnDir(), "agents") },
		Tasks:    s.background,
		Hooks:    s.hooks,
		Retry:    o.Retry,
		Compact:  o.Compact,
		Logger:   s.log,

		SkipReviews: o.SkipReviews,
	}))
	s.restorePlan()
	s.soul.Keep(o.Kept)
	s.soul.UseTools(s.tools())
	return s, nil
}

// Handle takes what the client asks; see jsonrpc.Handler.
func (s *server) Handle(call *jsonrpc.Call) {
	if call.IsNotification() {
		return // kimi-cli does nothing without an id
	}
	switch call.Method() {
	case "initialize":
		s.initialize(call)
	case "prompt":
		s.prompt(call)
	case "replay":
		s.replay(call)
	case "steer":
		s.steer(call)
	case "set_plan_mode":
		s.setPlanMode(call)
	case "cancel":
		s.cancelTurn(call)
	default:
		call.Reply(nil, jsonrpc.Wire.MethodNotFound(call.Method()))
	}
}

// InputEnded ends what runs: nobody can answer any more.
func (s *server) InputEnded() {
	s.mu.Lock()
	s.closing = true
	cancel := s.cancel
	s.mu.Unlock()
	s.desk.closed()
	if cancel != nil {
		cancel()
	}
}

// end waits until nothing runs any more, within the grace.
func (s *server) end() {
	s.InputEnded()
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	if ended != nil {
		select {
		case <-ended:
		case <-time.After(endGrace):
			s.log.Error("a turn did not wind down at the end of input")
		}
	}
	s.wire.Close()
	s.hooks.Close()
	s.tasks.Wait()
}

// begin makes an activity the one that occupies the session. It is false when another
// one does. The context is for the activity, and done is to be called when it is over.
func (s *server) begin(a activity) (ctx context.Context, done func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != idle || s.closing {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	s.running, s.cancel, s.ended = a, cancel, ended
	return ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running, s.cancel = idle, nil
		cancel()
		close(ended)
	}, true
}

// busy tells whether something occupies the session.
func (s *server) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running != idle
}
