//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
	"kimi-acp/internal/modeltest"
)

// survivor is a session on which one program after the other works, each of which may
// be killed, or lose its disk, in the middle of a turn. Turns are numbered and edit
// two files. The model refuses every history that is not valid, which fails the test.
type survivor struct {
	model      *modeltest.Server
	share, dir string
	id         string
	shown      map[string]bool // what was read from a program and has to be shown again: calls that completed, answers
	kept       map[string]bool // calls of steps that were over, answers: what the model has to be told again
	written    int             // the last turn whose first edit was reported
	checked    int             // requests to the model that were looked at
}

func newSurvivor(t *testing.T) *survivor {
	t.Helper()
	v := &survivor{model: modeltest.New(t), share: t.TempDir(), dir: t.TempDir(), shown: map[string]bool{}, kept: map[string]bool{}}
	v.model.Answer(surviving)
	c := start(t, v.env())
	c.Initialize(acptest.Capabilities{})
	v.id = c.NewSession(v.dir).ID
	c.Request("session/set_mode", map[string]any{"sessionId": v.id, "modeId": "yolo"}).Result(nil)
	c.Close()
	return v
}

func (v *survivor) env() []string {
	return []string{"KIMI_BASE_URL=" + v.model.URL(), "KIMI_API_KEY=of-no-use", "KIMI_MODEL_NAME=served", "KIMI_MODEL_MAX_CONTEXT_SIZE=10000000", "KIMI_SHARE_DIR=" + v.share}
}

// firstText and laterText are what a turn makes of a file: long enough that half of it
// would be noticed.
func firstText(n int) string { return fmt.Sprintf("turn %d\n", n) + strings.Repeat("a line\n", 3000) }
func laterText(n int) string { return strings.Replace(firstText(n), "turn", "TURN", 1) }

// callID is the id of call k of a turn.
func callID(turn, k int) string { return fmt.Sprintf("call_%d_%d", turn, k) }

func answerOf(turn int) string { return fmt.Sprintf("over-%d;", turn) }

var promptNumber = regexp.MustCompile(`turn-(\d+);`)

// surviving is what the model says to a request: three steps with calls, and an end.
func surviving(r *modeltest.Request) modeltest.Reply {
	turn, step := 0, 0
	for _, m := range r.Chat.Messages {
		// A prompt behind one that was not answered is sent together with it.
		if found := promptNumber.FindAllStringSubmatch(m.Text(), -1); m.Role == "user" && found != nil {
			turn, _ = strconv.Atoi(found[len(found)-1][1])
			step = 0
		}
		if m.Role == "assistant" {
			step++
		}
	}
	call := func(index, k int, tool string, arguments map[string]any) modeltest.Part {
		raw, err := json.Marshal(arguments)
		if err != nil {
			panic(err) // strings and numbers can be encoded
		}
		return modeltest.Call(index, callID(turn, k), tool, string(raw))
	}
	reply := modeltest.Reply{Usage: &modeltest.Usage{Prompt: 900, Completion: 100}}
	switch step {
	case 0:
		reply.Parts = []modeltest.Part{modeltest.Text("I begin. "), call(0, 0, "WriteFile", map[string]any{"path": "a.txt", "content": firstText(turn)})}
	case 1:
		edit := map[string]any{"old": fmt.Sprintf("turn %d\n", turn), "new": fmt.Sprintf("TURN %d\n", turn)}
		reply.Parts = []modeltest.Part{call(0, 1, "StrReplaceFile", map[string]any{"path": "a.txt", "edit": edit})}
	case 2:
		reply.Parts = []modeltest.Part{
			call(0, 2, "WriteFile", map[string]any{"path": "b.txt", "content": firstText(turn)}),
			call(1, 3, "ReadFile", map[string]any{"path": "a.txt", "n_lines": 2}),
		}
	default:
		reply.Parts = []modeltest.Part{modeltest.Text(answerOf(turn))}
	}
	return reply
}

// load opens the session in a program and checks that it shows what was shown.
func (v *survivor) load(t *testing.T, c *acptest.Client) *acptest.Session {
	t.Helper()
	c.Initialize(acptest.Capabilities{})
	se := c.LoadSession(v.id, v.dir)
	again := map[string]bool{}
	var talk strings.Builder
	for _, u := range se.Updates() {
		if u.Kind == "agent_message_chunk" {
			talk.WriteString(u.Text)
		}
	}
	for _, call := range acptest.Fold(se.Updates()) {
		again[call.ID] = call.Status == "completed"
	}
	for what := range v.shown {
		if !again[what] && !strings.Contains(talk.String(), what) {
			t.Errorf("%s was shown, and is not after the session was opened again", what)
		}
	}
	return se
}

// note takes down what was read of a turn, and whether it was answered.
func (v *survivor) note(n int, updates []acptest.Update, answered bool) {
	calls := acptest.Fold(updates)
	for i, call := range calls {
		if call.Status != "completed" {
			continue
		}
		v.shown[call.ID] = true
		if call.ID == callID(n, 0) {
			v.written = n
		}
		// A step is over once something of the next one is shown.
		if i+1 < len(calls) && call.ID != callID(n, 2) || answered {
			v.kept[call.ID] = true
		}
	}
	if answered {
		v.shown[answerOf(n)], v.kept[answerOf(n)] = true, true
	}
}

// checkTold checks that the requests to the model since the last check held what was
// kept before them.
func (v *survivor) checkTold(t *testing.T) {
	t.Helper()
	requests := v.model.Requests()
	for _, r := range requests[v.checked:] {
		told := map[string]bool{}
		var talk strings.Builder
		for _, m := range r.Chat.Messages {
			told[m.ToolCallID] = true
			if m.Role == "assistant" {
				talk.WriteString(m.Text())
			}
		}
		for what := range v.kept {
			if !told[what] && !strings.Contains(talk.String(), what) {
				t.Errorf("%s was over, and the model is not told of it", what)
			}
		}
	}
	v.checked = len(requests)
}

// checkFiles checks that each file is as some edit left it, whole, and that no edit
// that was reported is missing. Turn n was the last one.
func (v *survivor) checkFiles(t *testing.T, n int) {
	t.Helper()
	entries, err := os.ReadDir(v.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(v.dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		turn := wholeTurn(string(data), n)
		switch {
		case e.Name() != "a.txt" && e.Name() != "b.txt":
			t.Logf("left over: %s, %d bytes", e.Name(), len(data))
		case turn == 0:
			t.Errorf("%s is as no edit left it: %d bytes, %.40q", e.Name(), len(data), data)
		case e.Name() == "a.txt" && turn < v.written:
			t.Errorf("a.txt is of turn %d, and that of turn %d was reported", turn, v.written)
		}
	}
}

// wholeTurn gives the turn, from 1 to n, that left a file like this; 0: none.
func wholeTurn(text string, n int) int {
	head, _, _ := strings.Cut(text, "\n")
	_, number, _ := strings.Cut(head, " ")
	turn, err := strconv.Atoi(number)
	if err != nil || turn < 1 || turn > n || !slices.Contains([]string{firstText(turn), laterText(turn)}, text) {
		return 0
	}
	return turn
}
