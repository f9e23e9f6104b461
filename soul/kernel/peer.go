package kernel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kimi-acp/internal/jsonrpc"
	"kimi-acp/internal/proc"
)

// peer is a kernel's program that runs, and the connection to it.
type peer struct {
	child *proc.Child
	conn  *jsonrpc.Conn
	words *complaints
	hello greeting
	model string        // what it was started with
	over  chan struct{} // closed when nothing more comes from it
}

// start starts the program with a model and shakes hands. Whoever has the peer ends it.
func (k *Kernel) start(ctx context.Context, model string) (*peer, error) {
	var files papers
	if k.cfg.Program.Kind != Custom || k.cfg.Program.mentions(agentPlace) {
		var err error
		if files, err = writePapers(k.cfg.Launch.Servers); err != nil {
			return nil, err
		}
		defer files.remove() // who has shaken hands has read them
	}
	words := &complaints{log: k.cfg.Logger}
	launch := k.cfg.Launch
	launch.Model = model
	child, err := proc.StartChild(proc.ChildSpec{
		Args: k.cfg.Program.arguments(launch, files), Dir: k.cfg.Launch.WorkDir, Environ: k.cfg.Launch.Environ, Stderr: words,
	}, k.cfg.Supervisor)
	if err != nil {
		return nil, err
	}
	p := &peer{child: child, words: words, model: model, over: make(chan struct{})}
	p.conn = jsonrpc.NewConn(newJSONLines(child), child, &forwarder{kernel: k}, jsonrpc.Options{
		Dialect: jsonrpc.Wire, Framing: jsonrpc.Newline, Logger: k.cfg.Logger,
	})
	go func() {
		defer close(p.over)
		// How it ended is told by the program's end; a broken pipe is part of that.
		if err := p.conn.Run(context.WithoutCancel(ctx)); err != nil {
			k.cfg.Logger.Debug("the connection to the kernel ended", "error", err)
		}
	}()
	handshake, cancel := context.WithTimeout(ctx, k.cfg.HandshakeTime)
	defer cancel()
	if p.hello, err = shakeHands(handshake, p.conn, k.cfg.ClientVersion, k.cfg.Tools, k.cfg.Logger); err != nil {
		child.Kill()
		p.end(k.cfg.Patience)
		if errors.Is(err, jsonrpc.ErrClosed) {
			err = p.ending()
		}
		return nil, err
	}
	k.cfg.Logger.Info("a kernel runs", "program", k.cfg.Program.Args[0], "server", p.hello.server, "wire", fmt.Sprintf("%d.%d", p.hello.version.major, p.hello.version.minor))
	return p, nil
}

// alive tells whether anything can still come from it.
func (p *peer) alive() bool {
	select {
	case <-p.over:
		return false
	case <-p.child.Exited():
		return false
	default:
		return true
	}
}

// ending says how the program ended, in its own last words if there are some.
func (p *peer) ending() error {
	text := p.child.Ending()
	if text == "" {
		text = "it stopped talking"
	}
	if words := p.words.words(); words != "" {
		text += "; it last wrote: " + words
	}
	return errors.New(text)
}

// end ends the program's input and waits until program and connection are gone; after
// patience it is killed. False: the program could not be ended.
func (p *peer) end(patience time.Duration) bool {
	ended := p.child.End(patience)
	<-p.over
	return ended
}
