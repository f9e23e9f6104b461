package kernel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"kimi-acp/contextprovider"
	"kimi-acp/soul/kernel"
	"kimi-acp/soul/session"
)

// moment tells a word until it is known that the kernel has it.
type moment struct{ earlier []int }

func (m *moment) Part(_ context.Context, _ string, _ []contextprovider.Mention, earlier []string) string {
	m.earlier = append(m.earlier, len(earlier))
	return " say"
}

func (*moment) Notice() string { return "A notice." }

func (*moment) Describe(context.Context, []string) string { return "" }

// What was said in a kernel's turns is in the host's session, so that it is listed and
// another kernel can go on with it.
func TestWhatIsSaidIsKept(t *testing.T) {
	store, dir := session.NewStore(t.TempDir()), t.TempDir()
	kept, err := store.Create(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	cfg, _ := fakeKernel(t, "1.10")
	cfg.System = func() string { return "You help." }
	k := open(t, cfg)
	k.Keep(kept)
	for _, words := range []string{"say", "say die", "say"} {
		if _, err := k.Run(t.Context(), prompt(words)); (err != nil) != (words == "say die") {
			t.Fatal(err)
		}
	}
	k.Park()
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	if kept, err = store.Open(dir, kept.ID()); err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	r := kept.Restored()
	var said []string
	for _, m := range r.Messages {
		said = append(said, fmt.Sprint(m.Role, " ", m.Content[0].Text))
	}
	if got, want := strings.Join(said, "|"), "user say|assistant Hello.|user say die|assistant Hello.going|user say|assistant Hello."; got != want || r.System != "You help." || r.Checkpoints != 3 {
		t.Errorf("kept %s, %q, next checkpoint %d; want %s", got, r.System, r.Checkpoints, want)
	}
	// And on from there, with the program started anew.
	k.Keep(kept)
	if _, err := k.Run(t.Context(), prompt("say")); err != nil {
		t.Fatal(err)
	}
	if err := kept.Err(); err != nil {
		t.Error(err)
	}
}

func TestMomentIsToldBesideWhatTheUserSays(t *testing.T) {
	cfg, w := fakeKernel(t, "1.10")
	m := &moment{}
	cfg.Moment = m
	k := open(t, cfg)
	for _, words := range []string{"unknown", "/unknown", "unknown"} {
		if _, err := k.Run(t.Context(), prompt(words)); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(m.earlier); got != "[0 1]" {
		t.Errorf("asked with %s earlier texts", got)
	}
	if said := w.take(); strings.Count(said, "Hello.") != 2 || strings.Count(said, "A notice.") != 2 {
		t.Errorf("the kernel was told: %s", said)
	}
}

func TestSessionIDIsNotListed(t *testing.T) {
	store, dir := session.NewStore(t.TempDir()), t.TempDir()
	for _, id := range []string{"one", kernel.SessionID("one")} {
		s, err := store.Create(dir, id)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.AppendSystem("You help."); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	page, err := store.List(session.ListOptions{WorkDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range page.Sessions {
		if s.ID != "one" {
			t.Errorf("%s is listed", s.ID)
		}
	}
	if err := store.Delete("one"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(dir, kernel.SessionID("one")); err == nil {
		t.Error("what the kernel kept was not deleted with the session")
	}
}
