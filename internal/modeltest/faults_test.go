package modeltest_test

import (
	"context"
	"strings"
	"testing"

	"kimi-acp/internal/modeltest"
)

// Each fault has a name of its own and can be played, and those of the connection do
// break it.
func TestFaults(t *testing.T) {
	answer := strings.Repeat("an answer – long enough to be broken; ", 20)
	s := modeltest.New(t)
	names := map[string]bool{}
	for _, f := range modeltest.Faults(answer, "Tool", `{"a":"b"}`) {
		name := f.Group + ": " + f.Name
		if names[name] || f.Name == "" || len(f.Replies) == 0 {
			t.Errorf("%s is there twice, has no name or no reply", name)
		}
		names[name] = true
		if f.Stalls || f.Lasting {
			continue
		}
		s.Push(f.Replies[0])
		_, _, err := post(t.Context(), t, s, hello)
		if broken := f.Group == "connection" || strings.HasPrefix(f.Name, "the connection breaks"); broken != (err != nil) {
			t.Errorf("%s: the body ended with %v", name, err)
		}
	}
}

func TestSilentSaysNothing(t *testing.T) {
	s := modeltest.New(t)
	s.Push(modeltest.Reply{Silent: true})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		r, err := s.Await(ctx, 1)
		cancel()
		if err == nil {
			r.Gone()
		}
	}()
	if status, body, err := post(ctx, t, s, hello); err == nil {
		t.Errorf("got %d %q", status, body)
	}
}
