package acp_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/soul/tool"
)

func mail(id string, checkpoint int, files bool) string {
	return toolCall(id, tool.SendDMailName, map[string]any{"message": "b.txt is a dead end", "checkpoint_id": checkpoint, "restore_files": files})
}

// The model goes back in its turn: talk and plan, and the files when that is wanted and
// the user has nothing against it. What the user changed since stays, and /undo takes
// back the rest.
func TestTheModelGoesBack(t *testing.T) {
	for name, c := range map[string]struct {
		files    bool
		answer   string // to the question whether the edits go back
		mode     string
		asked    int // how often that was asked
		a, b     string
		told     string // to the model
		goesBack bool
	}{
		"talk alone":   {false, "allow_once", "default", 0, "ONE\nTWO\n3\n4\n", "new\n", "Files and everything else are as you left them", true},
		"files too":    {true, "allow_once", "default", 1, "ONE\ntwo\n3\n4\n", "", "- `b.txt`: as it was before", true},
		"turned down":  {true, "reject_once", "default", 1, "ONE\nTWO\n3\n4\n", "new\n", "The user rejected this call", false},
		"asks nothing": {true, "reject_once", "yolo", 0, "ONE\ntwo\n3\n4\n", "", "- `a.txt`: as it was before", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := kept(t, editFile("e1", "a.txt", "one", "ONE")+todos("t1", map[string]any{"title": "first", "status": "pending"}),
				editFile("e2", "a.txt", "two", "TWO")+writeFile("w", "b.txt", "new\n")+todos("t2", map[string]any{"title": "second", "status": "pending"}),
				mail("m", 2, c.files), "text: done", "text: I see")
			s.options.Settings = func() acp.Settings { return acp.Settings{DMail: true} }
			var heard listener
			s.newSoul = heard.soul
			client := s.again(t)
			asked := 0
			se := client.NewSession(t.TempDir())
			client.OnPermission = func(ctx context.Context, p acptest.Permission) acptest.Answer {
				if p.CallID != "m" {
					return acptest.Choose("allow_once")(ctx, p)
				}
				asked++
				return acptest.Choose(c.answer)(ctx, p)
			}
			put(t, se.Cwd, "a.txt", "one\ntwo\n3\n4\n")
			client.Request("session/set_mode", map[string]any{"sessionId": se.ID, "modeId": c.mode}).Result(nil)
			turn := se.Prompt(acptest.Text("go"))
			if got := turn.Wait(); got != "end_turn" {
				t.Fatalf("the turn ended with %s", got)
			}
			file := func(name string) string {
				raw, _ := os.ReadFile(filepath.Join(se.Cwd, name))
				return string(raw)
			}
			if asked != c.asked || file("a.txt") != c.a || file("b.txt") != c.b {
				t.Errorf("asked %d times; a.txt holds %q, b.txt %q", asked, file("a.txt"), file("b.txt"))
			}
			got := heard.last()
			if !strings.Contains(got, c.told) || strings.Contains(got, "came back with a message") != c.goesBack || strings.Contains(got, "+e2") == c.goesBack {
				t.Errorf("the model was asked %q", got)
			}
			live := picture(t, se.Updates())
			if plan := live[strings.LastIndex(live, `"entries"`):]; strings.Contains(plan, "first") != c.goesBack {
				t.Errorf("the plan is %.200s", plan)
			}
			client.Close()
			client = s.again(t, "text: I see")
			se = client.LoadSession(se.ID, se.Cwd)
			se.Prompt(acptest.Text("/undo")).Wait()
			if file("a.txt") != "one\ntwo\n3\n4\n" || file("b.txt") != "" {
				t.Errorf("after /undo a.txt holds %q, b.txt %q", file("a.txt"), file("b.txt"))
			}
		})
	}
}
