package companion

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kimi-acp/editors/state"
)

// Whatever the two write, in whatever pieces, reaches the other as it is.
func TestWrapForwardsBytes(t *testing.T) {
	s := newStage(t)
	long := strings.Repeat("y", 300_000)
	for name, c := range map[string]struct{ asked, answered string }{
		"messages":       {lsp(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`) + lsp(`{ "jsonrpc":"2.0" , "method":"exit" }`), lsp(`{"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}}`)},
		"other headers":  {"content-length:2\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n{}", "\r\n\r\nnoise\r\nContent-Length:  4\r\n\r\nnull"},
		"no protocol":    {"hello\x00\xff", "Content-Length: -7\r\n\r\n" + long},
		"big":            {lsp(`{"x":"` + long + `"}`), lsp(`{"y":"` + long + `"}`)},
		"nothing":        {"", ""},
		"half a message": {"Content-Length: 100\r\n\r\n{", lsp(`{}`)[:5]},
	} {
		t.Run(name, func(t *testing.T) {
			serverIn, toServer := io.Pipe()
			fromServer, serverOut := io.Pipe()
			var got, out bytes.Buffer
			var server sync.WaitGroup
			server.Go(func() {
				_, _ = io.Copy(&got, serverIn)
				for i := 0; i < len(c.answered); i += 1000 {
					_, _ = io.WriteString(serverOut, c.answered[i:min(i+1000, len(c.answered))])
				}
				_ = serverOut.Close()
			})
			in := io.NopCloser(&oneByOne{strings.NewReader(c.asked)})
			check(t, Wrap(t.Context(), in, &out, Wrapped{In: toServer, Out: fromServer}, s.options))
			server.Wait()
			if got.String() != c.asked || out.String() != c.answered {
				t.Errorf("asked %d bytes of %d, answered %d of %d", got.Len(), len(c.asked), out.Len(), len(c.answered))
			}
			s.gone()
		})
	}
}

// oneByOne gives small pieces.
type oneByOne struct{ r io.Reader }

func (o *oneByOne) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 777)]) }

func lsp(message string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(message), message)
}

// A server that ends first ends the editor's side as well.
func TestWrapServerEndsFirst(t *testing.T) {
	s := newStage(t)
	in, input := io.Pipe()
	serverIn, toServer := io.Pipe()
	go func() { _, _ = io.Copy(io.Discard, serverIn) }()
	var out bytes.Buffer
	check(t, Wrap(t.Context(), in, &out, Wrapped{In: toServer, Out: strings.NewReader(lsp(`{}`))}, s.options))
	if _, err := input.Write([]byte("x")); err == nil {
		t.Error("the editor's input is still read")
	}
	s.gone()
}

// Editors kill a server that has answered to shutdown, so the state goes with the question.
func TestWrapShutdownLeavesNothing(t *testing.T) {
	s := newStage(t)
	in, input := io.Pipe()
	serverIn, toServer := io.Pipe()
	fromServer, serverOut := io.Pipe()
	go func() {
		_, _ = io.Copy(io.Discard, serverIn)
		_ = serverOut.Close()
	}()
	ended := make(chan error, 1)
	go func() {
		ended <- Wrap(t.Context(), in, io.Discard, Wrapped{In: toServer, Out: fromServer}, s.options)
	}()
	say := func(message string) {
		_, err := io.WriteString(input, lsp(message))
		check(t, err)
	}
	say(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"rootUri":%q,"capabilities":{}}}`, s.uri("")))
	say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":%q,"languageId":"go","version":1,"text":"x"}}}`, s.uri("a.go")))
	s.await("the file", func(st state.State) bool { return st.Active != nil })
	say(`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`)
	for all, err := s.agent.States(); len(all) > 0; all, err = s.agent.States() {
		check(t, err)
		<-s.changed
	}
	check(t, input.Close())
	check(t, <-ended)
	s.gone()
}

// wrapGopls starts an editor with a wrapped gopls, or with gopls alone.
func (s *stage) wrapGopls(gopls string, wrapped bool) *client {
	s.t.Helper()
	server := exec.Command(gopls)
	server.Dir = s.project
	to, err := server.StdinPipe()
	check(s.t, err)
	from, err := server.StdoutPipe()
	check(s.t, err)
	check(s.t, server.Start())
	toServer, input := io.Pipe()
	fromServer, output := io.Pipe()
	c := s.attach(fromServer, input)
	go func() {
		var err error
		if wrapped {
			err = Wrap(s.t.Context(), toServer, output, Wrapped{In: to, Out: from}, s.options)
		} else {
			var both sync.WaitGroup
			both.Go(func() {
				_, _ = io.Copy(to, toServer)
				_ = to.Close()
			})
			_, err = io.Copy(output, from)
			_ = toServer.Close()
			both.Wait()
		}
		_ = output.Close()
		_ = server.Wait()
		c.ended <- err
	}()
	return c
}

// findGopls gives the real server. It is installed by
// go install golang.org/x/tools/gopls@v0.23.0.
func findGopls(t testing.TB) string {
	t.Helper()
	places := []string{"gopls"}
	if out, err := exec.Command("go", "env", "GOPATH").Output(); err == nil {
		places = append(places, filepath.Join(strings.TrimSpace(string(out)), "bin", "gopls"))
	}
	for _, place := range places {
		if path, err := exec.LookPath(place); err == nil {
			return path
		}
	}
	fmt.Fprintf(os.Stderr, "\n!! NOT TESTED: %s: gopls is not installed (go install golang.org/x/tools/gopls@v0.23.0)\n\n", t.Name())
	t.Skip("gopls is not installed")
	return ""
}

func (s *stage) writeModule() {
	s.t.Helper()
	check(s.t, os.WriteFile(s.path("go.mod"), []byte("module example.org/x\n\ngo 1.26\n"), 0o644))
	check(s.t, os.WriteFile(s.path("a.go"), []byte("package x\n\nfunc f() int { return 1 }\n"), 0o644))
}

// The real server behind the companion: what it answers, and what the agent sees.
func TestWrapGopls(t *testing.T) {
	gopls := findGopls(t)
	s := newStage(t)
	s.writeModule()
	e := s.wrapGopls(gopls, true)
	if got := string(e.greet("utf-16")); !strings.Contains(got, `"name":"gopls"`) || !strings.Contains(got, `"completionProvider"`) {
		t.Fatalf("it is not gopls that answers: %s", got)
	}
	e.notify("initialized", map[string]any{})
	e.open("a.go", "package x\n\nfunc f() int { return 1 }\n")
	e.change("a.go", 2, map[string]any{"range": span(2, 22, 2, 23), "text": "oops"})
	st := s.await("what gopls finds", func(st state.State) bool {
		return len(st.Diagnostics) == 1 && len(st.Diagnostics[0].Items) > 0
	})
	found := st.Diagnostics[0].Items[0]
	want := state.Range{Start: state.Position{Line: 3, Column: 23, Byte: 22}, End: state.Position{Line: 3, Column: 27, Byte: 26}}
	if found.Message != "undefined: oops" || found.Severity != state.Error || found.Code != "UndeclaredName" || found.Range != want {
		t.Errorf("found: %+v", found)
	}
	if d := st.Documents[0]; d.Text == nil || !strings.Contains(*d.Text, "return oops") {
		t.Errorf("document: %+v", d)
	}
	if got := string(e.call("textDocument/hover", map[string]any{"textDocument": doc(e.uri("a.go")), "position": at(2, 5)})); !strings.Contains(got, "func f() int") {
		t.Errorf("hover: %s", got)
	}
	if got := string(e.call("textDocument/documentHighlight", map[string]any{"textDocument": doc(e.uri("a.go")), "position": at(2, 5)})); !strings.Contains(got, `"character":5`) {
		t.Errorf("highlights: %s", got)
	}
	s.await("the cursor", func(st state.State) bool { return st.Active.Cursor != nil && st.Active.Cursor.Column == 6 })
	e.change("a.go", 3, map[string]any{"range": span(2, 22, 2, 26), "text": "1"})
	s.await("the mended file", func(st state.State) bool { return len(st.Diagnostics[0].Items) == 0 })
	e.call("shutdown", nil)
	e.notify("exit", nil)
	check(t, <-e.ended)
	check(t, e.input.Close())
	<-e.read
	s.gone()
}

// BenchmarkWrap is a request to gopls with the companion in front of it, and without.
func BenchmarkWrap(b *testing.B) {
	gopls := findGopls(b)
	for _, wrapped := range []bool{false, true} {
		b.Run(map[bool]string{false: "gopls", true: "wrapped"}[wrapped], func(b *testing.B) {
			s := newStage(b)
			s.writeModule()
			e := s.wrapGopls(gopls, wrapped)
			e.greet()
			e.notify("initialized", map[string]any{})
			e.open("a.go", "package x\n\nfunc f() int { return 1 }\n")
			params := map[string]any{"textDocument": doc(e.uri("a.go")), "position": at(2, 5)}
			e.call("textDocument/documentHighlight", params)
			for b.Loop() {
				e.call("textDocument/documentHighlight", params)
			}
			e.call("shutdown", nil)
			e.notify("exit", nil)
			<-e.ended
			check(b, e.input.Close())
			<-e.read
		})
	}
}

// BenchmarkForward is what the companion adds to a message, with a server that
// answers at once.
func BenchmarkForward(b *testing.B) {
	message := []byte(lsp(`{"jsonrpc":"2.0","id":1,"method":"textDocument/documentHighlight","params":{"textDocument":{"uri":"file:///x"},"position":{"line":1,"character":1}}}`))
	for _, wrapped := range []bool{false, true} {
		b.Run(map[bool]string{false: "direct", true: "wrapped"}[wrapped], func(b *testing.B) {
			s := newStage(b)
			in, input := io.Pipe()
			echoed, output := io.Pipe()
			ended := make(chan error, 1)
			if wrapped {
				serverIn, toServer := io.Pipe()
				go func() {
					ended <- Wrap(context.Background(), in, output, Wrapped{In: toServer, Out: serverIn}, s.options)
				}()
			} else {
				go func() {
					_, err := io.Copy(output, in)
					ended <- err
				}()
			}
			back := make([]byte, len(message))
			for b.Loop() {
				if _, err := input.Write(message); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(echoed, back); err != nil {
					b.Fatal(err)
				}
			}
			check(b, input.Close())
			check(b, <-ended)
		})
	}
}
