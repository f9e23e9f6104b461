package acp_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
)

// gated is a catalog in which one look at the models takes its time.
type gated struct {
	shelf
	mu       sync.Mutex
	held     bool // the next look is held
	in, over chan struct{}
}

func (g *gated) Models() []acp.ModelChoice {
	g.mu.Lock()
	held := g.held
	g.held = false
	g.mu.Unlock()
	if held {
		close(g.in)
		<-g.over
	}
	return g.shelf
}

// What an editor is told last of the options is how they are, also when two changes
// come close together.
func TestOptionsAreToldInTheOrderOfTheirChanges(t *testing.T) {
	g := &gated{shelf: twoModels, in: make(chan struct{}), over: make(chan struct{})}
	s, c, _ := open(t, stage{options: acp.Options{Catalog: g}})
	g.mu.Lock()
	g.held = true
	g.mu.Unlock()
	c.Request("session/set_mode", map[string]any{"sessionId": s.ID, "modeId": "plan"}).Result(nil)
	<-g.in
	c.Request("session/set_mode", map[string]any{"sessionId": s.ID, "modeId": "yolo"}).Result(nil)
	fence(c)
	close(g.over)
	told := 0
	last := s.Until("two lists of options", func(u acptest.Update) bool {
		if u.Kind == "config_option_update" {
			told++
		}
		return told == 2
	})
	if !strings.Contains(string(last.Raw), `"currentValue":"yolo"`) {
		t.Errorf("the mode is yolo, the editor was told last %s", last.Raw)
	}
}

// switching is a soul whose model can be changed.
type switching struct{ behaving }

func (switching) UseModel(llm.Provider) {}

// single is a catalog that notes when it is asked for two providers at once.
type single struct {
	shelf
	inside  atomic.Int32
	overlap atomic.Bool
}

func (s *single) Provider(model, level string) (llm.Provider, error) {
	if s.inside.Add(1) > 1 {
		s.overlap.Store(true)
	}
	defer s.inside.Add(-1)
	for range 10 {
		runtime.Gosched()
	}
	return s.shelf.Provider(model, level)
}

// Editor and user may change the model at the same time. Each change is made as a
// whole, else one could take the other back.
func TestModelIsChosenByTwoAtOnce(t *testing.T) {
	newSoul := func(spec acp.SoulSpec, _ llm.Provider) (soul.Soul, error) {
		return switching{behaving{run: func(context.Context, soul.Input) (soul.Outcome, error) {
			for n := range 200 {
				if err := spec.Controls.SetModel([]string{"fast", "deep"}[n%2]); err != nil {
					return soul.Outcome{}, err
				}
			}
			return soul.Outcome{}, nil
		}}}, nil
	}
	catalog := &single{shelf: twoModels}
	s, c, _ := open(t, stage{newSoul: newSoul, options: acp.Options{Catalog: catalog}})
	turn := s.Prompt(acptest.Text("go"))
	for n := range 20 {
		c.Request("session/set_config_option", map[string]any{"sessionId": s.ID, "configId": "model", "value": []string{"fast", "deep"}[n%2]}).Result(nil)
	}
	turn.Wait()
	if catalog.overlap.Load() {
		t.Error("two changes of the model were made at once")
	}
}

// changing is a catalog whose models change.
type changing struct {
	mu  sync.Mutex
	now shelf
}

func (c *changing) Models() []acp.ModelChoice {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *changing) Provider(model, level string) (llm.Provider, error) {
	return shelf(c.Models()).Provider(model, level)
}

// A model that has left the settings stays in use until another is chosen. Editors
// take only a current value that is among those offered.
func TestModelInUseHasLeftTheSettings(t *testing.T) {
	catalog := &changing{now: twoModels}
	s, c, _ := open(t, stage{options: acp.Options{Catalog: catalog}})
	catalog.mu.Lock()
	catalog.now = twoModels[1:2]
	catalog.mu.Unlock()
	set := func(id, value string) string {
		var r openedSession
		c.Request("session/set_config_option", map[string]any{"sessionId": s.ID, "configId": id, "value": value}).Result(&r)
		return brief(r.ConfigOptions)
	}
	if got, want := set("mode", "default"), modeOption+" model=fast(deep,fast)"; got != want {
		t.Errorf("the options are %s, want %s", got, want)
	}
	c.Misuse("session/set_config_option", map[string]any{"sessionId": s.ID, "configId": "model", "value": "fast"}).Fails(-32602)
	if got, want := set("model", "deep"), modeOption+" model=deep(deep) thought_level=on(on,off)"; got != want {
		t.Errorf("the options are %s, want %s", got, want)
	}
}
