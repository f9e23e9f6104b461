package soul

import (
	"context"
	"slices"
	"strings"
	"testing"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// dial is Controls and Switches that a test turns.
type dial struct {
	Switches
	mode string
	away bool
}

func (d *dial) Mode() string            { return d.mode }
func (d *dial) SetMode(id string) error { d.mode = id; return nil }
func (d *dial) Model() string           { return "" }
func (d *dial) Models() []string        { return nil }
func (d *dial) SetModel(string) error   { return nil }
func (d *dial) On(s Switch) bool        { return s == SwitchAFK && d.away }

func okay(context.Context, string) (string, error) { return "ok", nil }

func TestReminders(t *testing.T) {
	d := &dial{mode: "default"}
	s := sit(Config{Controls: d}, okay)
	for i, c := range []struct {
		mode string
		away bool
		want string
	}{
		{"default", false, "hi|"},
		{"plan", false, "hi|<system-reminder>" + planOn + planMore + "</system-reminder>|"},
		{"plan", false, "hi|"},
		{"yolo", false, "hi|<system-reminder>" + planOff + "\n" + yoloOn + yoloMore + "</system-reminder>|"},
		{"yolo", false, "hi|"},
		{"accept-edits", false, "hi|<system-reminder>" + yoloOff + "</system-reminder>|"},
		{"yolo", true, "hi|<system-reminder>" + afkOn + afkMore + "</system-reminder>|"},
		{"default", false, "hi|<system-reminder>" + yoloOff + "\n" + afkOff + "</system-reminder>|"},
		{"default", false, "hi|"},
	} {
		d.mode, d.away = c.mode, c.away
		before := slices.Clone(s.history.All())
		s.prompt(t, t.Context(), "hi")
		if got := s.heard[i]; got != c.want {
			t.Errorf("%d: %s asked\n     %q\nwant %q", i, c.mode, got, c.want)
		}
		for j, m := range s.history.All()[:len(before)] {
			if m.Content[0].Text != before[j].Content[0].Text || len(m.Content) != len(before[j].Content) {
				t.Fatalf("%d: message %d has changed, and with it the cached prefix", i, j)
			}
		}
	}
}

// kimi-cli tells its model nothing of yolo.
func TestKimiIsQuietAboutYolo(t *testing.T) {
	d := &dial{mode: "yolo"}
	s := sit(Config{Controls: d, Profile: Profile{quietYolo: true}}, okay)
	for i, mode := range []string{"yolo", "default"} {
		d.mode = mode
		s.prompt(t, t.Context(), "hi")
		if got := s.heard[i]; got != "hi|" {
			t.Errorf("%s asked %q", mode, got)
		}
	}
}

// TestPlanIsRemindedOf counts who is told what in plan mode, also after the conversation
// was opened anew.
func TestPlanIsRemindedOf(t *testing.T) {
	s := sit(Config{Controls: &dial{mode: "plan"}}, okay)
	var told []string
	for i := range 32 {
		s.prompt(t, t.Context(), "hi")
		if i == 12 {
			s.reminders.forget()
		}
		switch said := s.heard[i]; {
		case strings.Contains(said, planMore):
			told = append(told, "all")
		case strings.Contains(said, planOn):
			told = append(told, "short")
		default:
			told = append(told, ".")
		}
	}
	want := "all . . . . short . . . . short . . . . short . . . . short . . . . all . . . . short ."
	if got := strings.Join(told, " "); got != want {
		t.Errorf("told\n     %s\nwant %s", got, want)
	}
}

func TestLongTurnsAreRemindedOfTheirPurpose(t *testing.T) {
	var scripts []string
	for i := range 60 {
		scripts = append(scripts, call("c"+strings.Repeat("i", i), "Read", `{"n":"`+strings.Repeat("i", i)+`"}`))
	}
	s := play(tools{"Read": func(_ context.Context, args string) wire.ToolReturnValue { return ok(args) }}, Config{}, append(scripts, "text: done")...)
	if _, err := s.Run(t.Context(), ask("find the bug")); err != nil {
		t.Fatal(err)
	}
	var reminders []string
	for _, m := range s.history.All() {
		if m.Role == llm.RoleUser && m.Content[0].Text != "find the bug" {
			reminders = append(reminders, m.Content[0].Text)
		}
	}
	want := "<system-reminder>You have made 25 steps in this turn. It is for what the user said: “find the bug”. Check"
	if len(reminders) != 2 || !strings.HasPrefix(reminders[0], want) || !strings.Contains(reminders[1], "50 steps") {
		t.Errorf("reminded %q", reminders)
	}
	if n, _ := turnsOf(points(s.history.All()), 9); len(n) != 1 {
		t.Errorf("the conversation has %d turns, want 1", len(n))
	}
}

// What was told stands in the conversation alone, so what goes with its end is told again.
func TestRemindersAfterTheConversationGoesBack(t *testing.T) {
	for name, forget := range map[string]func(*seat){
		"clear":  func(s *seat) { s.prompt(t, t.Context(), "/clear") },
		"undo":   func(s *seat) { s.prompt(t, t.Context(), "/undo") },
		"rewind": func(s *seat) { s.Rewind(t.Context(), Back{Turns: 1}) },
	} {
		for _, d := range []*dial{{mode: "yolo"}, {mode: "default", away: true}} {
			s := sit(Config{Controls: d}, okay)
			s.prompt(t, t.Context(), "hi")
			forget(s)
			s.prompt(t, t.Context(), "hi")
			if s.heard[0] == "hi|" || s.heard[1] != s.heard[0] {
				t.Errorf("after %s it was told\n     %q\nwant %q", name, s.heard[1], s.heard[0])
			}
		}
	}
}
