package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"kimi-acp/soul/kernel"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// brief says what a history holds.
func brief(messages []llm.Message) string {
	var all []string
	for _, m := range messages {
		line := string(m.Role)
		for _, p := range m.Content {
			line += " " + p.Text + p.Think
		}
		for _, c := range m.ToolCalls {
			line += fmt.Sprintf(" %s(%s)", c.Name, *c.Arguments)
		}
		all = append(all, line)
	}
	return strings.Join(all, "|")
}

// speak writes a turn as the built-in soul does, with a call of a tool.
func speak(t *testing.T, s *session.Session, words string) {
	t.Helper()
	must(t, s.Reread())
	n := s.Restored().Checkpoints
	arguments := `{"command":"ls"}`
	answer := llm.Message{Role: llm.RoleAssistant, Content: []llm.Part{llm.Text("I look.")}, ToolCalls: []llm.ToolCall{{ID: "call-" + words, Name: "Shell", Arguments: &arguments}}}
	must(t, s.AppendTurn(n, llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text(words)}}))
	must(t, s.AppendStep(answer, 7, llm.Message{Role: llm.RoleTool, ToolCallID: "call-" + words, Content: []llm.Part{llm.Text("a.go")}}))
}

const spoken = `|assistant I look. Shell({"command":"ls"})|tool a.go`

// What was said with another kernel is in the session of this one before it starts, and
// what was said with this one in the session of the host. Only what is missing there is
// carried over.
func TestConversationIsCarriedOver(t *testing.T) {
	store := session.NewStore(t.TempDir())
	cfg, _ := fakeKernel(t, "1.10")
	kept, err := store.Create(cfg.Launch.WorkDir, "")
	must(t, err)
	defer func() { must(t, kept.Close()) }()
	must(t, kept.AppendSystem("You help."))
	cfg.Sessions, cfg.Launch.SessionID = store, kernel.SessionID(kept.ID())
	cfg.Program.Args = append(cfg.Program.Args, "--session", "{session}")
	own := func() string {
		t.Helper()
		r, err := store.Read("", cfg.Launch.SessionID)
		must(t, err)
		defer r.Close()
		h, err := r.History()
		must(t, err)
		if h.System != "" {
			t.Errorf("the kernel was given the system prompt %q", h.System)
		}
		return brief(h.Messages)
	}
	start := func(cfg kernel.Config) *kernel.Kernel {
		t.Helper()
		must(t, kept.Reread())
		k := open(t, cfg)
		k.Keep(kept)
		must(t, k.Start(t.Context()))
		return k
	}

	speak(t, kept, "one")
	k := start(cfg)
	if got := own(); got != "user one"+spoken {
		t.Errorf("the kernel was given %q", got)
	}
	if _, err := k.Run(t.Context(), prompt("say tool")); err != nil {
		t.Fatal(err)
	}
	k.Park()
	must(t, kept.Reread())
	if got, want := brief(kept.Restored().Messages), "user one"+spoken+`|user say tool|assistant Hello. Echo({"text":"x"})|tool echoed`; got != want {
		t.Errorf("the host has %q, want %q", got, want)
	}
	host := brief(kept.Restored().Messages)

	// The fake writes nothing by itself. What it has is not touched as long as nobody
	// else has spoken.
	before := own()
	start(cfg).Park()
	if got := own(); got != before {
		t.Errorf("carried over again: %q", got)
	}
	speak(t, kept, "two")
	start(cfg).Park()
	if got := own(); got != host+"|user two"+spoken {
		t.Errorf("the kernel was given %q", got)
	}
	// Another kernel may not read what this one wrote.
	must(t, kept.Reread())
	cfg.Program.Args = append(cfg.Program.Args, "--other")
	must(t, store.Delete(cfg.Launch.SessionID))
	start(cfg).Park()
	if got := own(); got != host+"|user two"+spoken {
		t.Errorf("the other kernel was given %q", got)
	}
}

// A kernel that has no session of its own is told nothing, and the user is told so.
func TestConversationThatCannotBeCarriedOver(t *testing.T) {
	store := session.NewStore(t.TempDir())
	cfg, w := fakeKernel(t, "1.10")
	cfg.Sessions = store
	kept, err := store.Create(cfg.Launch.WorkDir, "")
	must(t, err)
	defer func() { must(t, kept.Close()) }()
	speak(t, kept, "one")
	must(t, kept.Reread())
	k := open(t, cfg)
	k.Keep(kept)
	for range 2 {
		if _, err := k.Run(t.Context(), prompt("say")); err != nil {
			t.Fatal(err)
		}
	}
	if said := w.take(); strings.Count(said, "does not know what was said before") != 1 {
		t.Errorf("said %s", said)
	}
}
