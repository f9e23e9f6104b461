package tool

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kimi-acp/contextprovider"
	"kimi-acp/soul/wire"
)

// scriptedChecker finds a problem in every line that holds BUG, and one in two other files
// in every line that holds GONE.
type scriptedChecker struct {
	calls  []string
	limits []time.Duration
	gates  func() // looks how things stand while it is asked
}

func (s *scriptedChecker) NewProblems(ctx context.Context, path string, before *string, after string) []contextprovider.Diagnostic {
	was := "nothing"
	if before != nil {
		was = fmt.Sprintf("%q", *before)
	}
	s.calls = append(s.calls, fmt.Sprintf("%s from %s to %q", path, was, after))
	if d, ok := ctx.Deadline(); ok {
		s.limits = append(s.limits, time.Until(d))
	}
	if s.gates != nil {
		s.gates()
	}
	var all []contextprovider.Diagnostic
	for i, line := range strings.Split(after, "\n") {
		if strings.Contains(line, "BUG") {
			all = append(all, contextprovider.Diagnostic{Lines: contextprovider.LineRange{First: i + 1, Last: i + 1}, Column: 1, Severity: contextprovider.SeverityError, Message: "it is\nbroken"})
		}
		if strings.Contains(line, "GONE") {
			for _, other := range []string{"/w/user.go", "/w/.env"} {
				all = append(all, contextprovider.Diagnostic{Path: other, Lines: contextprovider.LineRange{First: 7, Last: 7}, Column: 3, Severity: contextprovider.SeverityError, Message: "it is gone"})
			}
		}
	}
	return all
}

func TestNewProblems(t *testing.T) {
	const told = " The output shows problems that came with the edit; mend them, unless a later edit does."
	for _, tt := range []struct{ name, tool, args, text, message, calls string }{
		{"a new file", "WriteFile", `{"path":"n.go","content":"BUG\n"}`, "New problems in n.go:\n1:1: error: it is broken\n", "Made the file /w/n.go with 4 bytes." + told, `/w/n.go from nothing to "BUG\n"`},
		{"an edit", "StrReplaceFile", `{"path":"a.go","edit":[{"old":"two","new":"BUG"}]}`, "New problems in a.go:\n2:1: error: it is broken\n", "Edited /w/a.go: 1 replacement made." + told, `/w/a.go from "one\ntwo\n" to "one\nBUG\n"`},
		{"what uses it", "StrReplaceFile", `{"path":"a.go","edit":[{"old":"two","new":"GONE"}]}`, "Reported in other files since the edit:\nuser.go:7:3: error: it is gone\n", "Edited /w/a.go: 1 replacement made." + told, `/w/a.go from "one\ntwo\n" to "one\nGONE\n"`},
		{"both", "StrReplaceFile", `{"path":"a.go","edit":[{"old":"two","new":"BUG, GONE"}]}`, "New problems in a.go:\n2:1: error: it is broken\nReported in other files since the edit:\nuser.go:7:3: error: it is gone\n", "Edited /w/a.go: 1 replacement made." + told, `/w/a.go from "one\ntwo\n" to "one\nBUG, GONE\n"`},
		{"nothing broken", "StrReplaceFile", `{"path":"a.go","edit":[{"old":"two","new":"three"}]}`, "", "Edited /w/a.go: 1 replacement made.", `/w/a.go from "one\ntwo\n" to "one\nthree\n"`},
		{"a notebook", "WriteFile", `{"path":"n.ipynb","content":"{\"cells\":[],\"nbformat\":4,\"nbformat_minor\":5,\"metadata\":{}}"}`, "", "", ""},
		{"a file of secrets", "WriteFile", `{"path":".env","content":"BUG=1\n"}`, "", "Made the file /w/.env with 6 bytes.", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				checker := &scriptedChecker{}
				w := newWorld(t, func(o *Options) { o.Checker = checker })
				w.files.texts["/w/a.go"], w.files.texts["/w/b.go"] = "one\ntwo\n", "b\n"
				// Whoever waits for the check holds up nobody.
				checker.gates = func() {
					if err := w.executor.changes.enter(t.Context()); err != nil {
						t.Error(err)
					}
					w.executor.changes.leave()
				}
				if err := w.executor.SetMode(ModeYolo); err != nil {
					t.Fatal(err)
				}
				done := w.start(t.Context(), "c", tt.tool, tt.args)
				for synctest.Wait(); len(w.pending()) > 0; synctest.Wait() {
					w.answer("c", wire.ApprovalApprove, "")
				}
				got := <-done
				if tt.message != "" && (got.Message != tt.message || got.Output.Text != tt.text) {
					t.Errorf("%q\n%q", got.Message, got.Output.Text)
				}
				if calls := strings.Join(checker.calls, "; "); calls != tt.calls {
					t.Errorf("asked for %s, want %s", calls, tt.calls)
				}
			})
		})
	}
}

// TestNewProblemsOfPatch: each file of a patch is looked at, all in a time of their own.
func TestNewProblemsOfPatch(t *testing.T) {
	checker := &scriptedChecker{}
	p := newPlace(t, map[string]string{"a.go": "one\ntwo\n", "b.go": "b\n"}, yes)
	p.executor.checker = checker
	v := p.ok("ApplyPatch", jsonText(t, map[string]string{"patch": "*** Begin Patch\n*** Update File: a.go\n-two\n+BUG\n*** Delete File: b.go\n*** Add File: c.go\n+BUG\n*** End Patch\n"}))
	if want := "New problems in a.go:\n2:1: error: it is broken\nNew problems in c.go:\n1:1: error: it is broken\n"; v.Output.Text != want {
		t.Errorf("%q", v.Output.Text)
	}
	if len(checker.limits) != 2 || checker.limits[1] > checker.limits[0] || checker.limits[0] > patchCheck {
		t.Errorf("limits %v", checker.limits)
	}
}
