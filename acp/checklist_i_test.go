package acp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"kimi-acp/internal/acptest"
)

// Section I of the checklist: permissions. That a request is about a call that was
// announced (115), and has options with ids and kinds of their own of which one
// rejects (110), is held against every request by the editor's side.

func Test110Options(t *testing.T) {
	c := stage{scripts: []string{writeFile("w", "a.txt", "x") + shell("s", "true"), "text: done"}}.serve(t)
	var mu sync.Mutex
	options := map[string]string{}
	c.OnPermission = func(_ context.Context, p acptest.Permission) acptest.Answer {
		mu.Lock()
		defer mu.Unlock()
		for _, o := range p.Options {
			options[p.CallID] += o.Kind + ": " + o.Name + "\n"
		}
		return acptest.Answer{OptionID: p.Options[0].OptionID}
	}
	c.Initialize(both)
	c.NewSession(t.TempDir()).Prompt(acptest.Text("go")).Wait()
	// One option of each kind, since editors merge those of one kind, and the
	// scope of a lasting answer in its name. (Peers, number 63.)
	for id, scope := range map[string]string{"w": "edits in this workspace", "s": "this exact command"} {
		want := "allow_once: Allow once\nallow_always: Allow " + scope + " for this session\nreject_once: Reject\nreject_always: Reject " + scope + " for this session\n"
		if options[id] != want {
			t.Errorf("%s offers\n%swant\n%s", id, options[id], want)
		}
	}
}

func Test111Answers(t *testing.T) {
	for _, w := range []struct{ kind, status, stop, say string }{
		{"allow_once", "completed", "end_turn", ""},
		{"allow_always", "completed", "end_turn", ""},
		{"reject_once", "failed", "end_turn", "rejected"},
		{"reject_always", "failed", "end_turn", "rejected"},
		{"none of them", "failed", "cancelled", ""}, // then the outcome is cancelled
	} {
		t.Run(w.kind, func(t *testing.T) {
			c := stage{scripts: []string{writeFile("w", "a.txt", "x"), "text: so be it"}}.serve(t)
			c.OnPermission = acptest.Choose(w.kind)
			c.Initialize(both)
			s := c.NewSession(t.TempDir())
			turn := s.Prompt(acptest.Text("go"))
			if got := turn.Wait(); got != w.stop {
				t.Errorf("ended with %s, want %s", got, w.stop)
			}
			call := turn.Calls()[0]
			if call.Status != w.status || !strings.Contains(call.Text(), w.say) {
				t.Errorf("the call is %s: %s", call.Status, call.Text())
			}
			_, err := os.Stat(filepath.Join(s.Cwd, "a.txt"))
			if written := err == nil; written != (w.status == "completed") {
				t.Errorf("written: %v", written)
			}
			if said := turn.Text(); (said == "so be it") != (w.stop == "end_turn") {
				t.Errorf("said %q", said)
			}
		})
	}
}

// rawAnswer answers the latest request of a method with members that the protocol
// may not know.
func rawAnswer(t *testing.T, c *acptest.Client, method, members string) {
	t.Helper()
	var id json.RawMessage
	for _, m := range fromAgent(t, c) {
		if m.Method == method {
			id = m.ID
		}
	}
	c.Raw([]byte(`{"jsonrpc":"2.0","id":` + string(id) + `,` + members + "}\n"))
}

// Whatever is not the choice of an option that was offered is no approval. (P27)
func Test112NonsenseIsNoApproval(t *testing.T) {
	for _, answer := range []string{
		`"result":null`, `"result":{}`, `"result":7`, `"result":true`, `"result":"allow_once"`, `"result":["allow_once"]`,
		`"result":{"outcome":null}`, `"result":{"outcome":"selected"}`, `"result":{"outcome":"allow_once"}`, `"result":{"optionId":"allow_once"}`,
		`"result":{"outcome":{}}`, `"result":{"outcome":{"optionId":"allow_once"}}`,
		`"result":{"outcome":{"outcome":"selected"}}`,
		`"result":{"outcome":{"outcome":"selected","optionId":null}}`,
		`"result":{"outcome":{"outcome":"selected","optionId":1}}`,
		`"result":{"outcome":{"outcome":"selected","optionId":""}}`,
		`"result":{"outcome":{"outcome":"selected","optionId":"allow_twice"}}`,
		`"result":{"outcome":{"outcome":"selected","optionId":"ALLOW_ONCE"}}`,
		`"result":{"outcome":{"outcome":"selected","optionId":["allow_once"]}}`,
		`"result":{"outcome":{"outcome":"granted","optionId":"allow_once"}}`,
		`"result":{"outcome":{"Outcome":"selected","OptionId":"allow_once"}}`,
		`"error":{"code":-32601,"message":"Method not found"}`,
		`"error":{"code":-32603,"message":"the dialog crashed"}`,
		`"error":{"code":-32800,"message":"cancelled"}`,
	} {
		t.Run(answer, func(t *testing.T) {
			c := stage{scripts: []string{writeFile("w", "a.txt", "x"), "text: so be it"}}.serve(t)
			c.OnPermission = func(context.Context, acptest.Permission) acptest.Answer {
				rawAnswer(t, c, "session/request_permission", answer)
				return acptest.Answer{Silent: true}
			}
			c.Initialize(both)
			s := c.NewSession(t.TempDir())
			turn := s.Prompt(acptest.Text("go"))
			if got := turn.Wait(); got != "end_turn" || turn.Text() != "so be it" {
				t.Errorf("ended with %s, said %q", got, turn.Text())
			}
			if got := turn.Calls()[0].Status; got != "failed" {
				t.Errorf("the call is %s", got)
			}
			if _, err := os.Stat(filepath.Join(s.Cwd, "a.txt")); err == nil || len(c.Writes()) > 0 {
				t.Error("the file was written")
			}
		})
	}
}

func Test113LastingAnswersHoldInTheirScope(t *testing.T) {
	for _, w := range []struct {
		kind string
		want string // which calls were asked for, and which calls were done
	}{
		{"allow_always", "asked [e1 s1 s3], done [e1 e2 s1 s2 s3]"},
		{"reject_always", "asked [e1 s1 s3], done []"},
		{"allow_once", "asked [e1 e2 s1 s2 s3], done [e1 e2 s1 s2 s3]"},
	} {
		t.Run(w.kind, func(t *testing.T) {
			c := stage{scripts: []string{
				writeFile("e1", "a.txt", "x"), writeFile("e2", "b.txt", "x"), shell("s1", "true"), "text: done",
				shell("s2", "true"), shell("s3", "true #"), "text: done",
				writeFile("e1", "a.txt", "x"), "text: done",
			}}.serve(t)
			var mu sync.Mutex
			var ids []string
			c.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
				mu.Lock()
				ids = append(ids, p.CallID)
				mu.Unlock()
				return acptest.Choose(w.kind)(ctx, p)
			}
			c.Initialize(both)
			s := c.NewSession(t.TempDir())
			one, two := s.Prompt(acptest.Text("one")), s.Prompt(acptest.Text("two"))
			one.Wait()
			two.Wait()
			done := []string{}
			for _, call := range slices.Concat(one.Calls(), two.Calls()) {
				if call.Status == "completed" {
					done = append(done, call.ID)
				}
			}
			if got := fmt.Sprintf("asked %v, done %v", ids, done); got != w.want {
				t.Errorf("%s, want %s", got, w.want)
			}
			// In another session all begins anew.
			c.NewSession(t.TempDir()).Prompt(acptest.Text("three")).Wait()
			if n := len(ids); ids[n-1] != "e1" {
				t.Errorf("the other session asked for %v", ids)
			}
		})
	}
}

// Calls of one message ask side by side, each for itself, and nothing is done
// before its answer. (Peers, number 61: each file has a request of its own.)
func Test114NothingBeforeItsApproval(t *testing.T) {
	c := stage{scripts: []string{writeFile("a", "a.txt", "x") + writeFile("b", "b.txt", "x") + shell("s", "echo x > s.txt"), "text: done"}}.serve(t)
	var asking sync.WaitGroup
	asking.Add(3)
	dir := t.TempDir()
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	c.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
		asking.Done()
		asking.Wait()
		if exists(p.CallID + ".txt") {
			t.Errorf("%s was done before it was approved", p.CallID)
		}
		if p.CallID == "b" {
			return acptest.Choose("reject_once")(ctx, p)
		}
		return acptest.Choose("allow_once")(ctx, p)
	}
	c.Initialize(both)
	turn := c.NewSession(dir).Prompt(acptest.Text("go"))
	if got := turn.Wait(); got != "end_turn" {
		t.Errorf("ended with %s", got)
	}
	if !exists("a.txt") || exists("b.txt") || !exists("s.txt") {
		t.Errorf("done: a %v, b %v, s %v; want all but b", exists("a.txt"), exists("b.txt"), exists("s.txt"))
	}
}

// The editor shows in the request what is asked for, also where it does not show
// the call.
func Test115RequestsShowWhatTheyAreFor(t *testing.T) {
	c := stage{scripts: []string{writeFile("w", "a.txt", "x\n"), shell("s", "echo 'hi'"), "text: done"}}.serve(t)
	c.Initialize(both)
	c.NewSession(t.TempDir()).Prompt(acptest.Text("go")).Wait()
	requests := asked(t, c, "session/request_permission")
	if len(requests) != 2 {
		t.Fatalf("%d requests", len(requests))
	}
	for i, want := range []string{`"type":"diff"`, "echo 'hi'"} {
		if !strings.Contains(requests[i], want) {
			t.Errorf("%s does not show %s", requests[i], want)
		}
	}
}
