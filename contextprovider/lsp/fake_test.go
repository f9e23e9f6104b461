package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/internal/jsonrpc"
)

// fake is a language server for files in which "def x" defines x, and in which every
// line with BUG has a problem. Its temper says how it misbehaves:
//
//	good      it does not
//	late      problems come as two messages, the first without the last problem
//	ahead     problems are said to be about a version that does not exist
//	behind    before those of a version, problems of the one before it come again
//	nameless  problems do not say which version they are about, and those of a text with
//	          SLOW come once the symbols of its file are asked for
//	mute      it never says anything about problems
//	crash     it ends when a file is opened
//	refuse    it answers initialize with an error
//	asks      before it answers initialize it asks for all that servers ask for
//	huge      it sends a message of 20 MiB, and goes on
//	junk      it prints what is no message, then messages that make no sense
//	hang      it does not answer requests
//	garbage   its framing breaks
type fake struct {
	temper string
	conn   *jsonrpc.Conn
	mu     sync.Mutex
	texts  map[string]string
	last   map[string][]map[string]any
}

func playServer(temper string) {
	f := &fake{temper: temper, texts: map[string]string{}, last: map[string][]map[string]any{}}
	if temper == "junk" {
		fmt.Print("Welcome to the server!\n\n")
	}
	f.conn = jsonrpc.NewConn(os.Stdin, os.Stdout, jsonrpc.HandlerFunc(f.handle), jsonrpc.Options{Framing: jsonrpc.ContentLength, Dialect: jsonrpc.LSP})
	fmt.Fprintln(os.Stderr, "a complaint of the server")
	if err := f.conn.Run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func (f *fake) handle(call *jsonrpc.Call) {
	var p struct {
		TextDocument   protocol.VersionedTextDocumentIdentifier `json:"textDocument"`
		Position       protocol.Position                        `json:"position"`
		NewName        string                                   `json:"newName"`
		Query          string                                   `json:"query"`
		ContentChanges []struct {
			Text string `json:"text"`
		} `json:"contentChanges"`
		Context struct {
			IncludeDeclaration bool `json:"includeDeclaration"`
		} `json:"context"`
	}
	_ = json.Unmarshal(call.Params(), &p)
	uri := p.TextDocument.URI
	if f.temper == "hang" && !call.IsNotification() && call.Method() != "initialize" {
		return
	}
	f.mu.Lock()
	text := f.texts[uri]
	f.mu.Unlock()
	switch call.Method() {
	case "initialize":
		f.initialize(call)
	case "textDocument/didOpen":
		var o protocol.DidOpenTextDocumentParams
		_ = json.Unmarshal(call.Params(), &o)
		f.check(uri, o.TextDocument.Text, int(o.TextDocument.Version))
	case "textDocument/didChange":
		f.check(uri, p.ContentChanges[0].Text, int(p.TextDocument.Version))
	case "textDocument/definition":
		word := wordAt(lineOf(text, int(p.Position.Line)+1), int(p.Position.Character))
		for i, line := range strings.Split(text, "\n") {
			if line == "def "+word {
				call.Reply([]any{map[string]any{"targetUri": uri, "targetRange": span(i, 0, 4), "targetSelectionRange": span(i, 4, 4+len(word))}}, nil)
			}
		}
		call.Reply(nil, nil)
	case "textDocument/hover":
		word := wordAt(lineOf(text, int(p.Position.Line)+1), int(p.Position.Character))
		call.Reply(map[string]any{"contents": []any{map[string]string{"language": "fake", "value": "def " + word + "()"}, "It is " + word + "."}}, nil)
	case "textDocument/references":
		word := wordAt(lineOf(text, int(p.Position.Line)+1), int(p.Position.Character))
		all := []any{}
		for _, r := range occurrences(text, word) {
			if p.Context.IncludeDeclaration || !strings.HasPrefix(lineOf(text, int(r.Start.Line)+1), "def ") {
				all = append(all, map[string]any{"uri": uri, "range": r})
			}
		}
		call.Reply(all, nil)
	case "workspace/didChangeWatchedFiles":
		f.watched(call)
	case "textDocument/documentSymbol":
		if f.temper == "nameless" && strings.Contains(text, "SLOW") {
			f.check(uri, strings.ReplaceAll(text, "SLOW", ""), 0)
		}
		all := []any{}
		for i, line := range strings.Split(text, "\n") {
			if name, ok := strings.CutPrefix(line, "def "); ok {
				all = append(all, map[string]any{"name": name, "kind": 12, "range": span(i, 0, len(line)), "selectionRange": span(i, 4, len(line))})
			}
		}
		call.Reply(all, nil)
	case "workspace/symbol":
		all := []any{}
		f.mu.Lock()
		for uri, text := range f.texts {
			for i, line := range strings.Split(text, "\n") {
				if name, ok := strings.CutPrefix(line, "def "); ok && strings.Contains(name, p.Query) {
					all = append(all, map[string]any{"name": name, "kind": 12, "location": map[string]any{"uri": uri, "range": span(i, 0, len(line))}})
				}
			}
		}
		f.mu.Unlock()
		call.Reply(all, nil)
	case "textDocument/rename":
		word := wordAt(lineOf(text, int(p.Position.Line)+1), int(p.Position.Character))
		edits := []protocol.TextEdit{}
		for _, r := range occurrences(text, word) {
			edits = append(edits, protocol.TextEdit{Range: r, NewText: p.NewName})
		}
		call.Reply(map[string]any{"changes": map[string]any{uri: edits}}, nil)
	case "shutdown":
		call.Reply(nil, nil)
	case "exit":
		os.Exit(0)
	default:
		call.Reply(nil, jsonrpc.LSP.MethodNotFound(call.Method()))
	}
}

func (f *fake) initialize(call *jsonrpc.Call) {
	hello := map[string]any{"capabilities": map[string]any{"textDocumentSync": 2}, "serverInfo": map[string]string{"name": "fake"}}
	switch f.temper {
	case "refuse":
		call.Reply(nil, &jsonrpc.Error{Code: 1, Message: "no licence"})
		return
	case "garbage":
		fmt.Print("Content-Length: many\r\n\r\n")
	case "junk":
		fmt.Print("Content-Length: 9\r\n\r\nnot json!Content-Length: 2\r\n\r\n[]")
		for _, params := range []any{nil, 3, map[string]any{"uri": 3}, map[string]any{"uri": "http://x/y", "diagnostics": nil}, map[string]any{"uri": "file:///w/a", "version": "x", "diagnostics": []any{map[string]any{"message": map[string]any{"value": "m"}}, nil}}} {
			_ = f.conn.Notify("textDocument/publishDiagnostics", params)
		}
	case "huge":
		_ = f.conn.Notify("textDocument/publishDiagnostics", map[string]any{"uri": "file:///big", "diagnostics": []any{}, "x": strings.Repeat("x", 20<<20)})
	case "asks":
		call.Go(func(ctx context.Context) (any, error) {
			for method, params := range map[string]any{
				"workspace/configuration":          map[string]any{"items": []any{map[string]any{"section": "fake"}, map[string]any{"section": "x"}}},
				"workspace/workspaceFolders":       nil,
				"client/registerCapability":        map[string]any{"registrations": []any{}},
				"window/workDoneProgress/create":   map[string]any{"token": 1},
				"window/showMessageRequest":        map[string]any{"type": 1, "message": "Which?"},
				"window/showDocument":              map[string]any{"uri": "file:///x"},
				"workspace/applyEdit":              map[string]any{"edit": map[string]any{}},
				"workspace/semanticTokens/refresh": nil,
			} {
				var raw json.RawMessage
				if err := f.conn.Call(ctx, method, params, &raw); err != nil {
					return nil, &jsonrpc.Error{Code: 1, Message: method + ": " + err.Error()}
				}
				want := map[string]string{"workspace/configuration": `[{"x":1},1]`, "workspace/applyEdit": `{"applied":false}`, "window/showDocument": `{"success":false}`}[method]
				if want != "" && string(raw) != want {
					return nil, &jsonrpc.Error{Code: 1, Message: method + " gave " + string(raw)}
				}
			}
			if err := f.conn.Call(ctx, "fake/unknown", nil, nil); err == nil {
				return nil, &jsonrpc.Error{Code: 1, Message: "an unknown request was answered"}
			}
			return hello, nil
		})
		return
	}
	call.Reply(hello, nil)
}

// watched tells of each file that was changed on disk in which way it was said to be.
func (f *fake) watched(call *jsonrpc.Call) {
	var p protocol.DidChangeWatchedFilesParams
	_ = json.Unmarshal(call.Params(), &p)
	for _, c := range p.Changes {
		_ = f.conn.Notify("textDocument/publishDiagnostics", map[string]any{"uri": c.URI, "diagnostics": []any{
			map[string]any{"range": span(0, 0, 1), "message": fmt.Sprintf("a change of kind %d", c.Type)},
		}})
	}
}

// check takes in a text and tells its problems.
func (f *fake) check(uri, text string, version int) {
	f.mu.Lock()
	f.texts[uri] = text
	before := f.last[uri]
	f.mu.Unlock()
	if f.temper == "crash" {
		fmt.Fprintln(os.Stderr, "panic: the fake has crashed")
		os.Exit(2)
	}
	if f.temper == "mute" {
		return
	}
	all := []map[string]any{}
	for i, line := range strings.Split(text, "\n") {
		if at := strings.Index(line, "BUG"); at >= 0 {
			all = append(all, map[string]any{"range": span(i, at, at+3), "severity": 1, "code": 7, "source": "fake", "message": "bug in " + strings.TrimSpace(line)})
		}
	}
	tell := func(version any, all []map[string]any) {
		_ = f.conn.Notify("textDocument/publishDiagnostics", map[string]any{"uri": uri, "version": version, "diagnostics": all})
	}
	f.mu.Lock()
	f.last[uri] = all
	f.mu.Unlock()
	switch f.temper {
	case "late":
		tell(version, all[:max(len(all)-1, 0)])
		tell(version, all)
	case "ahead":
		tell(version+100, all)
	case "behind":
		tell(version-1, before)
		tell(version, all)
	case "nameless":
		if !strings.Contains(text, "SLOW") {
			tell(nil, all)
		}
	default:
		tell(version, all)
	}
}

func span(line, from, to int) protocol.Range {
	return protocol.Range{Start: protocol.Position{Line: uint32(line), Character: uint32(from)}, End: protocol.Position{Line: uint32(line), Character: uint32(to)}}
}

func occurrences(text, word string) []protocol.Range {
	var all []protocol.Range
	for i, line := range strings.Split(text, "\n") {
		for at := 0; ; {
			j := strings.Index(line[at:], word)
			if j < 0 {
				break
			}
			if boundary(line, at+j, at+j+len(word)) {
				start := units(line[:at+j])
				all = append(all, span(i, start, start+units(word)))
			}
			at += j + len(word)
		}
	}
	return all
}
