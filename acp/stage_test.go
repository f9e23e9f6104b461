package acp_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/internal/proc"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/scripted"
	store "kimi-acp/soul/session"
)

// kernelEnv makes the test binary a kernel behind the Wire; broken is one that does not start.
const kernelEnv = "KIMI_ACP_TEST_KERNEL"

func TestMain(m *testing.M) {
	switch os.Getenv(kernelEnv) {
	case "":
	case "broken":
		os.Exit(3)
	default:
		kernelMain(os.Stdin, os.Stdout)
		return
	}
	goleak.VerifyTestMain(m)
}

// stage is what an agent of a test is made from. The zero value is an agent whose
// model has no script.
type stage struct {
	scripts []string // answers of the model, in order, over all sessions
	newSoul func(acp.SoulSpec, llm.Provider) (soul.Soul, error)
	options acp.Options
	rpc     jsonrpc.Options
	log     io.Writer // gets the agent's log down to the details, nil: the test's log gets the rest
	unkept  bool      // sessions end with the connection
	packets *packets  // joins what the editor writes, nil: each message is a write
}

// both is an editor that reads and writes files.
var both = acptest.Capabilities{ReadTextFile: true, WriteTextFile: true}

// serve runs an agent in this process and gives the editor in front of it.
func (s stage) serve(t *testing.T) *acptest.Client {
	t.Helper()
	log := slog.New(slog.NewTextHandler(testWriter{t}, nil))
	if s.log != nil {
		log = slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	provider := scripted.New(s.scripts, llm.Model{Name: "scripted", ContextSize: 100_000, ImageInput: true})
	o, rpc := s.options, s.rpc
	runner := proc.NewRunner(proc.Options{Environ: proc.Scrub(os.Environ())})
	o.Version, o.Logger, o.Runner, rpc.Logger = "1.2.3", log, runner, log
	o.LastWait = 10 * time.Second // the next agent on the same sessions needs their locks
	if o.Sessions == nil && !s.unkept {
		o.Sessions = store.NewStore(t.TempDir())
	}
	newSoul := s.newSoul
	if newSoul == nil {
		newSoul = builtin
	}
	o.NewSoul = func(spec acp.SoulSpec) (soul.Soul, error) { return newSoul(spec, provider) }
	agentIn, editorOut := io.Pipe()
	editorIn, agentOut := io.Pipe()
	var toAgent io.WriteCloser = editorOut
	if s.packets != nil {
		s.packets.WriteCloser = editorOut
		toAgent = s.packets
	}
	done := make(chan error, 1)
	go func() {
		err := acp.Serve(context.Background(), agentIn, agentOut, o, rpc)
		agentOut.Close()
		agentIn.Close()
		done <- err
	}()
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		runner.Close()
	})
	return acptest.Connect(t, toAgent, editorIn)
}

// session opens a session of an editor that reads and writes files.
func (s stage) session(t *testing.T) *acptest.Session {
	t.Helper()
	c := s.serve(t)
	c.Initialize(both)
	return c.NewSession(t.TempDir())
}

func builtin(spec acp.SoulSpec, p llm.Provider) (soul.Soul, error) {
	return soul.New(soul.Config{
		SessionID: spec.SessionID, Provider: p, Wire: spec.Wire, Tools: spec.Executor.Specs(),
		Controls: spec.Controls, Edits: spec.Edits, Tasks: spec.Tasks, Session: spec.Session, Files: spec.Files, Moment: spec.Moment, Permissions: spec.Permissions, Mailbox: spec.Mailbox,
		System: "test", Logger: slog.New(slog.DiscardHandler),
	}), nil
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Logf("log: %s", p)
	return len(p), nil
}
