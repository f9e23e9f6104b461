package acp_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kimi-acp/internal/acptest"
)

// everyQuestion are calls that each ask: two edits, a patch of two files and a command.
var everyQuestion = writeFile("new", "new.txt", "x\n") + editFile("edit", "a.txt", "one", "1") +
	patch("patch", "*** Delete File: b.txt\n*** Add File: c.txt\n+x\n") + shell("shell", "touch made")

// questioned plays an editor of which everyQuestion asks, and leaves the questions to
// answer, once all four are open.
func questioned(t *testing.T, answer func(context.Context, acptest.Permission) acptest.Answer) (*acptest.Client, *acptest.Session, *acptest.Turn) {
	t.Helper()
	c := stage{scripts: []string{everyQuestion, "text: so be it"}}.serve(t)
	var open sync.WaitGroup
	open.Add(4)
	var mu sync.Mutex
	seen := map[string]bool{}
	c.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
		mu.Lock()
		first := !seen[p.CallID]
		seen[p.CallID] = true
		mu.Unlock()
		if first {
			open.Done()
			open.Wait()
		}
		return answer(ctx, p)
	}
	c.Initialize(both)
	dir := t.TempDir()
	put(t, dir, "a.txt", "one\n")
	put(t, dir, "b.txt", "two\n")
	s := c.NewSession(dir)
	turn := s.Prompt(acptest.Text("go"))
	open.Wait()
	return c, s, turn
}

// untouched holds that nothing of everyQuestion was done.
func untouched(t *testing.T, c *acptest.Client, s *acptest.Session) {
	t.Helper()
	got := []string{}
	for name, text := range filesIn(t, s.Cwd) {
		got = append(got, name+"="+text)
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"a.txt=one\n", "b.txt=two\n"}) || len(c.Writes()) > 0 {
		t.Errorf("the files are %q, written %+v", got, c.Writes())
	}
}

func never(context.Context, acptest.Permission) acptest.Answer { return acptest.Answer{Silent: true} }

// TestEditorGoneWhileItIsAsked: an editor that dies with questions open has said no.
func TestEditorGoneWhileItIsAsked(t *testing.T) {
	c, s, _ := questioned(t, never)
	c.Hangup()
	<-c.Ended()
	untouched(t, c, s)
}

// TestEditorHangsWhileItIsAsked: an editor that neither reads nor answers has not said
// yes, for however long; and the user can still stop the turn.
func TestEditorHangsWhileItIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, turn := questioned(t, never)
		c.Pause()
		time.Sleep(30 * 24 * time.Hour)
		untouched(t, c, s)
		c.Resume()
		s.Cancel()
		if got := turn.Wait(); got != "cancelled" {
			t.Errorf("ended with %s", got)
		}
		untouched(t, c, s)
	})
}

// TestNonsenseToEveryQuestion: what is no answer is a no, whatever was asked.
func TestNonsenseToEveryQuestion(t *testing.T) {
	for _, answer := range []string{"allow", "", "ALLOW_ONCE", "allow_once\x00"} {
		c, s, turn := questioned(t, func(context.Context, acptest.Permission) acptest.Answer {
			return acptest.Answer{OptionID: answer}
		})
		want := "end_turn"
		if answer == "" { // the outcome cancelled
			want = "cancelled"
		}
		if got := turn.Wait(); got != want {
			t.Errorf("%q: ended with %s", answer, got)
		}
		untouched(t, c, s)
	}
}

// TestAnswersInTheReverseOrder: of two open questions the later one is answered first.
// Each answer counts for its own call.
func TestAnswersInTheReverseOrder(t *testing.T) {
	for _, yes := range []string{"first", "second"} {
		c := stage{scripts: []string{writeFile("first", "first.txt", "x") + writeFile("second", "second.txt", "x"), "text: done"}}.serve(t)
		asked := make(chan string, 2)
		second := make(chan struct{})
		c.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
			asked <- p.CallID
			if p.CallID == "first" {
				<-second
			}
			if p.CallID == yes {
				return acptest.Choose("allow_once")(ctx, p)
			}
			return acptest.Choose("reject_once")(ctx, p)
		}
		c.Initialize(both)
		s := c.NewSession(t.TempDir())
		turn := s.Prompt(acptest.Text("go"))
		<-asked
		<-asked
		turn.Until("the end of the second call", func(u acptest.Update) bool {
			return u.CallID == "second" && (strings.Contains(string(u.Raw), `"completed"`) || strings.Contains(string(u.Raw), `"failed"`))
		})
		close(second)
		turn.Wait()
		if got := filesIn(t, s.Cwd); len(got) != 1 || got[yes+".txt"] != "x" {
			t.Errorf("%s was approved, and the files are %q", yes, got)
		}
	}
}
