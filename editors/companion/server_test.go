package companion

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/editors/state"
)

func TestGreeting(t *testing.T) {
	for _, c := range []struct {
		offered []string
		want    string
	}{{nil, "utf-16"}, {[]string{"utf-7", "utf-8", "utf-16"}, "utf-8"}, {[]string{"utf-16", "utf-8"}, "utf-16"}} {
		s := newStage(t)
		e := s.serve()
		got := string(e.greet(c.offered...))
		want := `{"capabilities":{"textDocumentSync":{"openClose":true,"change":2,"save":true},"documentHighlightProvider":true,` +
			`"codeActionProvider":{"codeActionKinds":["quickfix","kimi.ask"]},"executeCommandProvider":{"commands":["kimi.ask","kimi.fix"]},` +
			`"workspace":{"workspaceFolders":{"supported":true,"changeNotifications":true}},"positionEncoding":"` + c.want + `"},` +
			`"serverInfo":{"name":"kimi-acp lsp","version":"0"}}`
		if got != want {
			t.Errorf("offered %v:\ngot  %s\nwant %s", c.offered, got, want)
		}
		e.leave()
	}
}

// What a user does in an editor that asks for highlights and actions.
func TestSensors(t *testing.T) {
	s := newStage(t)
	e := s.serve()
	e.greet()
	e.notify("initialized", map[string]any{})
	e.open("a.go", "package a\n\nvar 𝄞 = 1\n")
	st := s.await("the opened file", func(st state.State) bool { return st.Active != nil })
	if st.Editor.Name != "an editor" || st.Active.Path != s.path("a.go") || st.Active.Cursor != nil || st.Documents[0].Dirty || st.Documents[0].Text != nil {
		t.Errorf("after opening: %+v %+v", st, st.Active)
	}

	e.change("a.go", 2, map[string]any{"range": span(2, 9, 2, 10), "text": "oops"})
	if got := string(e.call("textDocument/documentHighlight", map[string]any{"textDocument": doc(e.uri("a.go")), "position": at(2, 6)})); got != "[]" {
		t.Errorf("highlights: %s", got)
	}
	st = s.await("the cursor", func(st state.State) bool {
		return st.Active != nil && st.Active.Cursor != nil && *st.Active.Cursor == (state.Position{Line: 3, Column: 6, Byte: 8})
	})
	d := st.Documents[0]
	if d.Version != 2 || !d.Dirty || d.Text == nil || *d.Text != "package a\n\nvar 𝄞 = oops\n" {
		t.Errorf("the document: %+v", d)
	}

	findings := []any{map[string]any{"range": span(2, 9, 2, 13), "severity": 1, "source": "gopls", "code": "Undeclared", "message": "undefined: oops"}}
	got := string(e.call("textDocument/codeAction", map[string]any{
		"textDocument": doc(e.uri("a.go")), "range": span(2, 4, 2, 13), "context": map[string]any{"diagnostics": findings, "triggerKind": 2},
	}))
	if got != "[]" {
		t.Errorf("actions that nobody asked for: %s", got)
	}
	st = s.await("the selection", func(st state.State) bool { return st.Active != nil && st.Active.Selection != nil })
	want := state.Range{Start: state.Position{Line: 3, Column: 5, Byte: 4}, End: state.Position{Line: 3, Column: 13, Byte: 15}}
	if diff := cmp.Diff(&state.Selection{Range: want, Text: "𝄞 = oops"}, st.Active.Selection); diff != "" {
		t.Error(diff)
	}
	if len(st.Diagnostics) != 1 {
		t.Fatalf("diagnostics: %+v", st.Diagnostics)
	}
	want.Start = state.Position{Line: 3, Column: 9, Byte: 11}
	if diff := cmp.Diff([]state.Diagnostic{{Range: want, Severity: state.Error, Source: "gopls", Code: "Undeclared", Message: "undefined: oops"}}, st.Diagnostics[0].Items); diff != "" {
		t.Error(diff)
	}

	// An end of the selection is where the cursor is; elsewhere nothing is selected.
	e.call("textDocument/documentHighlight", map[string]any{"textDocument": doc(e.uri("a.go")), "position": at(2, 4)})
	s.await("the cursor at the selection", func(st state.State) bool { return st.Active.Cursor.Column == 5 && st.Active.Selection != nil })
	e.call("textDocument/documentHighlight", map[string]any{"textDocument": doc(e.uri("a.go")), "position": at(0, 0)})
	s.await("the end of the selection", func(st state.State) bool { return st.Active.Cursor.Line == 1 && st.Active.Selection == nil })

	e.notify("textDocument/didSave", map[string]any{"textDocument": doc(e.uri("a.go"))})
	s.await("the save", func(st state.State) bool { return !st.Documents[0].Dirty && st.Documents[0].Text == nil })
	e.change("a.go", 3, map[string]any{"range": span(0, 0, 0, 0), "text": "x"})
	s.await("an edit", func(st state.State) bool { return st.Documents[0].Dirty })
	e.change("a.go", 4, map[string]any{"range": span(0, 0, 0, 1), "text": ""})
	s.await("an edit that was taken back", func(st state.State) bool { return st.Documents[0].Version == 4 && !st.Documents[0].Dirty })
	e.change("a.go", 5, map[string]any{"text": "all\n"})
	s.await("a whole text", func(st state.State) bool { return st.Documents[0].Text != nil && *st.Documents[0].Text == "all\n" })
	e.notify("textDocument/didClose", map[string]any{"textDocument": doc(e.uri("a.go"))})
	s.await("the close", func(st state.State) bool { return len(st.Documents) == 0 && st.Active == nil })

	e.notify("exit", nil)
	check(t, <-e.ended)
	check(t, e.input.Close())
	<-e.read
	s.gone()
}

// Editors kill a server that has answered to shutdown, so nothing may be left then.
func TestShutdownLeavesNothing(t *testing.T) {
	s := newStage(t)
	e := s.serve()
	e.greet()
	e.open("a.go", "x\n")
	s.await("the opened file", func(st state.State) bool { return st.Active != nil })
	if got := string(e.call("shutdown", nil)); got != "null" {
		t.Errorf("shutdown: %s", got)
	}
	s.gone()
	e.notify("exit", nil)
	check(t, <-e.ended)
	check(t, e.input.Close())
	<-e.read
}

// An editor that tells of no cursor: what is typed into is in focus.
func TestTypingMovesTheCursor(t *testing.T) {
	s := newStage(t)
	e := s.serve()
	e.greet("utf-8")
	e.open("a.go", "one\n")
	e.open("b.go", "two\n")
	e.change("a.go", 2, map[string]any{"range": span(0, 3, 0, 3), "text": "\né"})
	st := s.await("what was typed", func(st state.State) bool { return st.Active != nil && st.Active.Cursor != nil })
	if st.Active.Path != s.path("a.go") || *st.Active.Cursor != (state.Position{Line: 2, Column: 2, Byte: 2}) {
		t.Errorf("active: %+v, cursor %+v", st.Active, st.Active.Cursor)
	}
	e.leave()
}

// An add-on says what is in focus, what is modified and what is wrong, in its units.
func TestAddOn(t *testing.T) {
	s := newStage(t)
	e := s.serve()
	e.greet()
	e.open("a.go", "é = oops\nb\n")
	e.notify(methodEditorState, map[string]any{
		"encoding":    "utf-8",
		"active":      map[string]any{"uri": e.uri("a.go"), "cursor": at(0, 9), "selection": span(0, 5, 0, 9), "visible": span(0, 0, 1, 1)},
		"documents":   []any{map[string]any{"uri": e.uri("a.go"), "modified": true}},
		"diagnostics": []any{map[string]any{"uri": e.uri("a.go"), "items": []any{map[string]any{"range": span(0, 5, 0, 9), "message": "undefined", "code": 7}}}},
	})
	st := s.await("the selection", func(st state.State) bool { return st.Active != nil && st.Active.Selection != nil })
	a := st.Active
	if a.Selection.Text != "oops" || *a.Cursor != (state.Position{Line: 1, Column: 9, Byte: 9}) || a.Visible.End.Line != 2 || !st.Documents[0].Dirty || st.Diagnostics[0].Items[0].Code != "7" {
		t.Errorf("%+v", st)
	}
	// From then on opening or highlighting is no focus any more.
	e.open("b.go", "b")
	e.call("textDocument/documentHighlight", map[string]any{"textDocument": doc(e.uri("b.go")), "position": at(0, 0)})
	e.notify(methodEditorState, map[string]any{"diagnostics": []any{map[string]any{"uri": e.uri("a.go"), "items": []any{}}}})
	st = s.await("the mended file", func(st state.State) bool { return len(st.Diagnostics) == 1 && len(st.Diagnostics[0].Items) == 0 })
	if st.Active == nil || st.Active.Path != s.path("a.go") {
		t.Errorf("active: %+v", st.Active)
	}
	e.notify(methodEditorState, map[string]any{"active": nil})
	s.await("no focus", func(st state.State) bool { return st.Active == nil && len(st.Documents) == 2 })
	e.leave()
}

func TestPrompts(t *testing.T) {
	s := newStage(t)
	e := s.serve()
	e.greet()
	e.open("a.go", "x := oops\n")
	ask := func(context map[string]any) []byte {
		return e.call("textDocument/codeAction", map[string]any{"textDocument": doc(e.uri("a.go")), "range": span(0, 5, 0, 9), "context": context})
	}
	for _, c := range []struct{ context, want string }{
		{`{"diagnostics":[]}`, "kimi.ask"},
		{`{"diagnostics":[{"range":{"start":{"line":0,"character":5},"end":{"line":0,"character":9}},"message":"undefined"}],"triggerKind":1}`, "kimi.fix kimi.ask"},
		{`{"diagnostics":[],"only":["source.organizeImports"]}`, ""},
		{`{"diagnostics":[],"only":["kimi"]}`, "kimi.ask"},
	} {
		var context map[string]any
		check(t, json.Unmarshal([]byte(c.context), &context))
		var actions []struct {
			Command struct {
				Command   string
				Arguments []any
			}
		}
		check(t, json.Unmarshal(ask(context), &actions))
		var commands []string
		for _, a := range actions {
			commands = append(commands, a.Command.Command)
		}
		if got := strings.Join(commands, " "); got != c.want {
			t.Errorf("%s: actions %s, want %s", c.context, got, c.want)
		}
		if len(actions) == 2 {
			for _, a := range actions {
				if got := string(e.call("workspace/executeCommand", map[string]any{"command": a.Command.Command, "arguments": a.Command.Arguments})); got != "null" {
					t.Errorf("%s: %s", a.Command.Command, got)
				}
				if m := <-e.told; m.Method() != "window/showMessage" || !strings.Contains(string(m.Params()), "Kimi gets line 1 of a.go with your next prompt.") {
					t.Errorf("told: %s %s", m.Method(), m.Params())
				}
			}
		}
	}
	prompts, err := s.agent.Take()
	check(t, err)
	if len(prompts) != 2 || prompts[0].Kind != state.Fix || prompts[0].Text != "oops" || prompts[0].Diagnostics[0].Message != "undefined" || prompts[1].Kind != state.Ask {
		t.Errorf("prompts: %+v", prompts)
	}
	for _, params := range []string{`{"command":"kimi.ask"}`, `{"command":"kimi.ask","arguments":[{"uri":"file:///etc/passwd"}]}`, `{"command":"kimi.none","arguments":[{}]}`, `{"command":"kimi.ask","arguments":[1]}`} {
		if got := string(e.call("workspace/executeCommand", json.RawMessage(params))); !strings.Contains(got, "(code -32803)") {
			t.Errorf("%s: %s", params, got)
		}
	}
	e.leave()
}

// Of a sensitive file nothing is told but its name, and of others nothing at all.
func TestWhatIsNotTold(t *testing.T) {
	s := newStage(t)
	e := s.serve()
	e.greet()
	e.open(".env", "")
	e.change(".env", 2, map[string]any{"text": "KEY=canary\n"})
	e.open("../outside.go", "")
	e.change("../outside.go", 2, map[string]any{"text": "canary"})
	got := string(e.call("textDocument/codeAction", map[string]any{
		"textDocument": doc(e.uri(".env")), "range": span(0, 4, 0, 10),
		"context": map[string]any{"diagnostics": []any{map[string]any{"range": span(0, 0, 0, 1), "message": "canary"}}},
	}))
	if got != "[]" {
		t.Errorf("actions: %s", got)
	}
	st := s.await("the name", func(st state.State) bool { return st.Active != nil && st.Active.Selection != nil })
	data, err := json.Marshal(st)
	check(t, err)
	if !st.Active.Withheld || len(st.Documents) != 1 || !st.Documents[0].Dirty || strings.Contains(string(data), "canary") || strings.Contains(string(data), "outside") {
		t.Errorf("told: %s", data)
	}
	e.leave()
}

// What an editor gets wrong is answered, and the next message works.
func TestBadInput(t *testing.T) {
	s := newStage(t)
	e := s.serve()
	for _, c := range []struct{ method, params, want string }{
		{"textDocument/documentHighlight", `{}`, "Server not initialized (code -32002)"},
		{"initialize", `[]`, "Invalid params: initialize (code -32602)"},
		{"initialize", `{"capabilities":{"window":7},"rootPath":"` + s.project + `"}`, ""},
		{"initialize", `{}`, "The server is initialized already (code -32600)"},
		{"textDocument/completion", `{}`, "Method not found: textDocument/completion (code -32601)"},
		{"textDocument/hover", `{}`, "Method not found: textDocument/hover (code -32601)"},
		{"textDocument/documentHighlight", `{"textDocument":7}`, "Invalid params: textDocument/documentHighlight (code -32602)"},
		{"textDocument/documentHighlight", `{"textDocument":{"uri":"%"},"position":{"line":4294967295,"character":4294967295}}`, "[]"},
		{"textDocument/codeAction", `null`, "Invalid params: textDocument/codeAction (code -32602)"},
	} {
		if got := string(e.call(c.method, json.RawMessage(c.params))); got != c.want && c.want != "" {
			t.Errorf("%s %s: %s, want %s", c.method, c.params, got, c.want)
		}
	}
	for _, params := range []string{`null`, `7`, `{"textDocument":{"uri":"file:///x"},"contentChanges":[{"range":{}}]}`, `{"contentChanges":[7]}`, `{"active":7}`} {
		for _, method := range []string{"textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "workspace/didChangeWorkspaceFolders", methodEditorState, "$/unknown", "x"} {
			e.notify(method, json.RawMessage(params))
		}
	}
	_, err := io.WriteString(e.input, "junk\r\nContent-Length: 3\r\n\r\n{]}")
	check(t, err)
	e.open("a.go", "")
	s.await("a file after all that", func(st state.State) bool { return len(st.Documents) == 1 })
	if got := string(e.call("shutdown", nil)); got != "null" {
		t.Errorf("shutdown: %s", got)
	}
	if got := string(e.call("textDocument/documentHighlight", map[string]any{})); !strings.HasSuffix(got, "(code -32600)") {
		t.Errorf("after shutdown: %s", got)
	}
	e.leave()
}

func TestFoldersChange(t *testing.T) {
	s := newStage(t)
	s.options.Dir = s.path("sub")
	e := s.serve()
	e.call("initialize", map[string]any{"capabilities": map[string]any{}})
	s.await("the folder that the editor was started in", func(st state.State) bool { return st.Roots[0] == s.path("sub") })
	e.open("a.go", "")
	folder := []any{map[string]any{"uri": s.uri(""), "name": "project"}}
	e.notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{"added": folder, "removed": []any{map[string]any{"uri": s.uri("sub"), "name": ""}}}})
	st := s.await("the folder that was added", func(st state.State) bool { return len(st.Roots) == 1 && st.Roots[0] == s.project })
	if len(st.Documents) != 1 {
		t.Errorf("documents: %+v", st.Documents)
	}
	e.leave()
}

// A document that is too big is known to be unsaved, and its text is not held.
func TestBigDocument(t *testing.T) {
	s := newStage(t)
	e := s.serve()
	e.greet()
	e.open("a.go", strings.Repeat("x", maxDocument+1))
	e.change("a.go", 2, map[string]any{"range": span(0, 0, 0, 1), "text": ""})
	st := s.await("the edit", func(st state.State) bool { return len(st.Documents) == 1 && st.Documents[0].Version == 2 })
	if !st.Documents[0].Dirty || st.Documents[0].Text != nil || st.LeftOut.Texts != 1 {
		t.Errorf("%+v, left out %+v", st.Documents[0], st.LeftOut)
	}
	e.change("a.go", 3, map[string]any{"text": "small"})
	s.await("a text again", func(st state.State) bool { return st.Documents[0].Text != nil })
	e.leave()
}

// BenchmarkSensor is how long an editor waits for a companion that has nothing to
// say, with an unsaved document of 100 kB.
func BenchmarkSensor(b *testing.B) {
	s := newStage(b)
	e := s.serve()
	e.greet()
	e.open("a.go", strings.Repeat("0123456789012345678\n", 5000))
	e.change("a.go", 2, map[string]any{"range": span(0, 0, 0, 0), "text": "x"})
	for _, method := range []string{"documentHighlight", "codeAction"} {
		b.Run(method, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				l := i % 4900
				params := map[string]any{"textDocument": doc(e.uri("a.go")), "position": at(l, 3), "range": span(l, 3, l+9, 4), "context": map[string]any{"diagnostics": []any{}}}
				if got := string(e.call("textDocument/"+method, params)); !strings.HasPrefix(got, "[") {
					b.Fatal(got)
				}
			}
		})
	}
	b.Run("didChange", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			e.change("a.go", i, map[string]any{"range": span(2500, 0, 2500, 1), "text": fmt.Sprint(i % 10)})
			e.call("textDocument/documentHighlight", map[string]any{"textDocument": doc(e.uri("a.go")), "position": at(2500, 1)})
		}
	})
	e.leave()
}
