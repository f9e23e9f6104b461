package acp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/scripted"
)

// director is a model that is told, turn by turn, what to say, and keeps what it was
// asked last.
type director struct {
	mu      sync.Mutex
	scripts []string
	asked   []llm.Message
}

func (d *director) Model() llm.Model { return llm.Model{Name: "directed", ContextSize: 100_000} }

func (d *director) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = slices.Clone(req.Messages)
	script := d.scripts[0]
	d.scripts = d.scripts[1:]
	return scripted.New([]string{script}, d.Model()).Stream(ctx, req)
}

// talk is what user and model said in the last request, without notes of the program.
func (d *director) talk() (said []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.asked {
		for _, p := range m.Content {
			if m.Role != llm.RoleTool && p.Text != "" && !strings.HasPrefix(p.Text, "<system>") && !strings.HasPrefix(p.Text, "<system-reminder>") {
				said = append(said, p.Text)
			}
		}
	}
	return said
}

// past is how things stood before a turn.
type past struct {
	talk  []string
	plan  string
	files map[string]string
	wrote map[string]bool // the files that the turn has changed
}

// history is a session in which anything may happen in any order, and what has to be
// true of it.
type history struct {
	t     *testing.T
	rt    *rapid.T
	stage stage
	model *director
	c     *acptest.Client
	se    *acptest.Session
	n     int    // of what has happened: names are made from it
	now   past   // but for the files, which are looked at
	turns []past // that can be taken back

	forked bool // what was done before is known to another session
}

var propertyFiles = []string{"a.txt", "b.txt", "sub/c.txt"}

func (h *history) files() map[string]string {
	all := map[string]string{}
	for _, name := range propertyFiles {
		if raw, err := os.ReadFile(filepath.Join(h.se.Cwd, name)); err == nil {
			all[name] = string(raw)
		}
	}
	return all
}

func (h *history) say(text string) *acptest.Turn {
	turn := h.se.Prompt(acptest.Text(text))
	if got := turn.Wait(); got != "end_turn" {
		h.rt.Fatalf("%s ended with %s", text, got)
	}
	return turn
}

// prompt runs a turn with some edits, commands and plans.
func (h *history) prompt(rt *rapid.T) {
	h.n++
	before := past{slices.Clone(h.now.talk), h.now.plan, h.files(), map[string]bool{}}
	ask, answer := fmt.Sprintf("ask %d", h.n), fmt.Sprintf("answer %d", h.n)
	var scripts []string
	for i := range rapid.IntRange(0, 3).Draw(rt, "actions") {
		id := fmt.Sprintf("c%d_%d", h.n, i)
		name := rapid.SampledFrom(propertyFiles).Draw(rt, "file")
		text := fmt.Sprintf("head %s\n1\n2\n3\n4\n5\ntail\n", id)
		switch rapid.SampledFrom([]string{"write", "edit", "command", "remove", "plan"}).Draw(rt, "action") {
		case "write":
			scripts = append(scripts, writeFile(id, name, text))
		case "edit": // fails when it is not there, and that is fine
			scripts = append(scripts, editFile(id, name, "tail\n", "tail\n"+id+"\n"))
		case "command":
			scripts = append(scripts, shell(id, "mkdir -p sub; printf '"+id+"\\ntail\\n' > "+name))
		case "remove":
			scripts = append(scripts, shell(id, "rm -f "+name))
		case "plan":
			h.now.plan = id
			scripts = append(scripts, todos(id, map[string]any{"title": id, "status": "pending"}))
		}
	}
	h.model.scripts = append(scripts, "text: "+answer)
	h.say(ask)
	want := append(slices.Clone(h.now.talk), ask)
	if got := h.model.talk(); !slices.Equal(got, want) {
		rt.Fatalf("the model was told %q, want %q", got, want)
	}
	plan := before.plan
	for _, u := range h.se.Updates() {
		if u.Kind == "plan" {
			plan = planTitle(u)
		}
	}
	if plan != h.now.plan {
		rt.Fatalf("the plan is %q, want %q", plan, h.now.plan)
	}
	h.now.talk = append(want, answer)
	after := h.files()
	for _, name := range propertyFiles {
		before.wrote[name] = !same(before.files, after, name)
	}
	h.turns = append(h.turns, before)
}

// planTitle is the title of the only entry of a plan, "" when it has none.
func planTitle(u acptest.Update) string {
	var plan struct {
		Entries []struct{ Content string }
	}
	if json.Unmarshal(u.Raw, &plan) != nil || len(plan.Entries) == 0 {
		return ""
	}
	return plan.Entries[0].Content
}

// userEdit changes a file behind the agent's back.
func (h *history) userEdit(rt *rapid.T) {
	h.n++
	name := rapid.SampledFrom(propertyFiles).Draw(rt, "file")
	path := filepath.Join(h.se.Cwd, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		rt.Fatal(err)
	}
	switch rapid.SampledFrom([]string{"write", "append", "remove"}).Draw(rt, "how") {
	case "write":
		put(h.t, h.se.Cwd, name, fmt.Sprintf("mine %d\ntail\n", h.n))
	case "append":
		put(h.t, h.se.Cwd, name, h.files()[name]+fmt.Sprintf("mine %d\n", h.n))
	case "remove":
		_ = os.Remove(path) // it may not be there
	}
}

// undo takes back some turns: the talk and the plan are as they were, and so is each
// file that the turns have changed, or it is named. No other file changes.
func (h *history) undo(rt *rapid.T) {
	if len(h.turns) == 0 {
		return
	}
	n := rapid.IntRange(1, len(h.turns)).Draw(rt, "turns")
	before := h.files()
	card := h.say(fmt.Sprintf("/undo %d", n)).Text()
	at := len(h.turns) - n
	target := h.turns[at]
	after := h.files()
	for _, name := range propertyFiles {
		wrote := slices.ContainsFunc(h.turns[at:], func(p past) bool { return p.wrote[name] })
		if !wrote && !same(before, after, name) {
			rt.Fatalf("/undo %d changed %s, which is the user's own: %q", n, name, after[name])
		}
		if wrote && !same(target.files, after, name) && !strings.Contains(card, name) && !(h.forked && strings.Contains(card, "they ran in another session")) {
			rt.Fatalf("/undo %d left %s as %q, before the turns it was %q, just now %q, and the card says only\n%s", n, name, after[name], target.files[name], before[name], card)
		}
	}
	h.now, h.turns = past{talk: target.talk, plan: target.plan}, h.turns[:at]
}

// same tells whether a file is the same in two sets of files.
func same(a, b map[string]string, name string) bool {
	textA, inA := a[name]
	textB, inB := b[name]
	return textA == textB && inA == inB
}

// restart goes on in another process.
func (h *history) restart(*rapid.T) {
	h.c.Close()
	h.c = h.stage.again(h.t)
	h.se = h.c.ResumeSession(h.se.ID, h.se.Cwd)
}

// fork goes on in a copy of the session.
func (h *history) fork(*rapid.T) {
	var made struct{ SessionID string }
	h.c.Request("session/fork", openIn(h.se.ID, h.se.Cwd)).Result(&made)
	h.c.Request("session/close", map[string]any{"sessionId": made.SessionID}).Result(nil)
	h.c.Request("session/close", map[string]any{"sessionId": h.se.ID}).Result(nil)
	h.se = h.c.ResumeSession(made.SessionID, h.se.Cwd)
	h.forked = true
}

// Whatever happened in a session, taking turns back brings talk, plan and files to
// where they stood before them, or the card names the file for which that is not so.
func TestUndoBringsBackOrNames(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays a hundred sessions")
	}
	rapid.Check(t, func(rt *rapid.T) {
		model := &director{}
		s := kept(t)
		s.newSoul = func(spec acp.SoulSpec, _ llm.Provider) (soul.Soul, error) { return builtin(spec, model) }
		h := &history{t: t, rt: rt, stage: s, model: model}
		h.c = s.again(t)
		defer func() { h.c.Close() }()
		h.se = h.c.NewSession(t.TempDir())
		h.c.Request("session/set_mode", map[string]any{"sessionId": h.se.ID, "modeId": "yolo"}).Result(nil)
		actions := map[string]func(*rapid.T){"prompt": h.prompt, "undo": h.undo, "userEdit": h.userEdit, "restart": h.restart, "fork": h.fork}
		names := slices.Sorted(maps.Keys(actions))
		names = append(names, "prompt", "prompt", "prompt", "undo")
		for range rapid.IntRange(3, 10).Draw(rt, "steps") {
			actions[rapid.SampledFrom(names).Draw(rt, "what")](rt)
		}
		h.undo(rt)
		h.prompt(rt)
	})
}
