//go:build soak

package soaktest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"kimi-acp/internal/modeltest"
)

// faultEvery is after how many calls the model fails, in one way or another.
const faultEvery = 10

// Turns come in kinds, by their number.
const (
	turnAnswers = iota
	turnEdits
	turnReads
	turnRuns
	turnPlans
	turnErrs
	turnIsCancelled
	turnIsQueued
	turnKinds
)

func kindOf(turn int) int { return turn % turnKinds }

// model is what the model has to say, and how it fails.
type model struct {
	mu     sync.Mutex
	random *rand.Rand        // guarded by mu
	at     map[int]int       // guarded by mu: turn → the step that it has come to
	fatal  map[int]string    // guarded by mu: turn → what ends it with an error
	broken []modeltest.Reply // guarded by mu: what is left of a fault
	calls  int               // guarded by mu
	faults map[string]int    // guarded by mu: group → how often
	sums   int               // guarded by mu: summaries that were asked for
}

func newModel(seed uint64) *model {
	return &model{random: rand.New(rand.NewPCG(seed, 1)), at: map[int]int{}, fatal: map[int]string{}, faults: map[string]int{}}
}

var promptNumber = regexp.MustCompile(`turn-(\d+);`)

// answer is what is said to a request: what is due, or a fault.
func (m *model) answer(r *modeltest.Request) modeltest.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	summary := len(r.Chat.Tools) == 0
	turn := 0
	for _, message := range r.Chat.Messages {
		// A prompt behind one that was not answered is sent together with it.
		if found := promptNumber.FindAllStringSubmatch(message.Text(), -1); message.Role == "user" && found != nil {
			turn, _ = strconv.Atoi(found[len(found)-1][1])
		}
	}
	step := m.at[turn]
	last := step >= len(calls(turn))
	if len(m.broken) == 0 && m.calls%faultEvery == 0 && kindOf(turn) != turnIsCancelled {
		m.fail(turn, last && !summary, summary)
	}
	if len(m.broken) > 0 {
		reply := m.broken[0]
		m.broken = m.broken[1:]
		return reply
	}
	usage := &modeltest.Usage{Prompt: len(r.Body) / 4, Completion: 100}
	switch {
	case summary:
		m.sums++
		return modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("Goal: to go on. State: all is well.")}, Usage: usage}
	case last:
		text := rest(final(turn), r.Chat.Messages)
		parts := []modeltest.Part{modeltest.TextPieces(text, 20)}
		if kindOf(turn) == turnIsCancelled {
			parts = append(parts, modeltest.Stall())
		}
		return modeltest.Reply{Parts: parts, Usage: usage}
	}
	m.at[turn]++
	parts := []modeltest.Part{modeltest.Think("What is there to do?"), modeltest.Text(said(turn, step))}
	for i, c := range calls(turn)[step] {
		parts = append(parts, modeltest.Call(i, fmt.Sprintf("call_%d_%d_%d", turn, step, i), c.tool, c.arguments))
	}
	return modeltest.Reply{Parts: parts, Usage: usage}
}

// fail chooses a fault for the next replies. In the middle of a turn only those can be
// had that say nothing, as the model has a call to make.
func (m *model) fail(turn int, answering, summary bool) {
	all := slices.DeleteFunc(modeltest.Faults(final(turn), "SetTodoList", `{"todos":[{"title":"sit","status":"done"}]}`), func(f modeltest.Fault) bool {
		return f.Stalls || !answering && !slices.Contains([]string{"status", "empty answer", "conversation too long"}, f.Group)
	})
	f := all[m.random.IntN(len(all))]
	m.broken = slices.Clone(f.Replies)
	m.faults[f.Group]++
	ends := f.Lasting && strings.HasPrefix(f.Name, "4") && f.Name != "429 for ever" || strings.Contains(f.Name, "an hour") || strings.Contains(f.Name, "credit")
	if ends && !summary {
		m.fatal[turn] = f.Name
	}
}

// rest is what is missing of an answer that the conversation ends with a part of.
func rest(answer string, messages []modeltest.Message) string {
	if n := len(messages); n > 2 && messages[n-2].Role == "assistant" {
		if after, ok := strings.CutPrefix(answer, messages[n-2].Text()); ok && len(after) < len(answer) {
			return after
		}
	}
	return answer
}

// said is the text beside the calls of a step.
func said(turn, step int) string { return fmt.Sprintf("Step %d of turn %d. ", step, turn) }

// final is the text at the end of a turn: of over a hundred bytes, not all of them ASCII.
func final(turn int) string {
	return fmt.Sprintf("over-%d; ", turn) + strings.Repeat("The cat — an old one — sat on the mat. ", 12) + fmt.Sprintf("Ende von %d.", turn)
}

// text is all that a turn says, when nothing ends it before its time.
func text(turn int) string {
	var all strings.Builder
	for step := range calls(turn) {
		all.WriteString(said(turn, step))
	}
	return all.String() + final(turn)
}

// call is a call of a tool.
type call struct{ tool, arguments string }

func newCall(tool string, arguments any) call {
	raw, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // strings and numbers can be encoded
	}
	return call{tool, string(raw)}
}

// content is what a turn leaves in its file.
func content(turn int) string {
	return fmt.Sprintf("turn %d\n", turn) + strings.Repeat("a line of some length, as lines are\n", 40)
}

// calls are those of a turn, a slice for each step.
func calls(turn int) [][]call {
	type object = map[string]any
	switch kindOf(turn) {
	case turnEdits:
		return [][]call{
			{newCall("WriteFile", object{"path": "a.txt", "content": strings.Replace(content(turn), "turn", "TURN", 1)})},
			{newCall("StrReplaceFile", object{"path": "a.txt", "edit": object{"old": "TURN", "new": "turn"}})},
		}
	case turnReads:
		return [][]call{{newCall("ReadFile", object{"path": "big.txt"}), newCall("Glob", object{"pattern": "*.txt"}), newCall("Grep", object{"pattern": "line 1"})}}
	case turnRuns:
		return [][]call{{newCall("Shell", object{"command": "seq 1 200"})}, {newCall("Shell", object{"command": "exit 3"})}}
	case turnPlans:
		return [][]call{{newCall("SetTodoList", object{"todos": []object{{"title": fmt.Sprint("turn ", turn), "status": "in_progress"}}})}}
	case turnErrs:
		return [][]call{{{"Telepathy", "{}"}, {"ReadFile", `{"path": `}, newCall("ReadFile", object{"path": "missing.txt"})}}
	}
	return nil
}
