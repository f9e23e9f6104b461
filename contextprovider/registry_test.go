package contextprovider

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fake is a provider of a test.
type fake struct {
	name   string
	gather func(ctx context.Context, q Query) (Facts, error)
}

func (f fake) Name() string { return f.name }

func (f fake) Gather(ctx context.Context, q Query) (Facts, error) { return f.gather(ctx, q) }

func note(source, title string) Facts { return Facts{Notes: []Note{{Source: source, Title: title}}} }

func newTestRegistry(t *testing.T, all ...Registration) *Registry {
	t.Helper()
	r := NewRegistry(slog.New(slog.DiscardHandler))
	for _, g := range all {
		if err := r.Register(g); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func titles(b Bundle) []string {
	var out []string
	for _, n := range b.Notes {
		out = append(out, n.Source+":"+n.Title)
	}
	return out
}

func TestGatherSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(name string, facts Facts) fake {
			return fake{name, func(context.Context, Query) (Facts, error) {
				time.Sleep(100 * time.Millisecond)
				return facts, nil
			}}
		}
		r := newTestRegistry(t,
			Registration{Provider: slow("b", note("x", "from b")), Priority: 1},
			Registration{Provider: slow("a", note("x", "from a")), Priority: 1},
			Registration{Provider: slow("c", note("x", "from c")), Priority: 2},
		)
		defer r.Close()
		began := time.Now()
		b := r.Gather(t.Context(), Query{}, DefaultDeadline)
		if took := time.Since(began); took != 100*time.Millisecond {
			t.Errorf("three providers of 100 ms took %v", took)
		}
		if diff := cmp.Diff([]string{"x:from c", "x:from a", "x:from b"}, titles(b)); diff != "" {
			t.Error("the order is not that of the priorities:", diff)
		}
	})
}

func TestTheSameFactHasOnePlace(t *testing.T) {
	give := func(d ...Diagnostic) func(context.Context, Query) (Facts, error) {
		return func(context.Context, Query) (Facts, error) { return Facts{Diagnostics: d}, nil }
	}
	at := func(source string, line int) Diagnostic {
		return Diagnostic{Path: "/w/a.go", Lines: LineRange{line, line}, Message: "broken", Source: source}
	}
	r := newTestRegistry(t,
		Registration{Provider: fake{"server", give(at("server", 1), at("server", 2))}, Priority: 1},
		Registration{Provider: fake{"shown", give(at("editor", 2), at("editor", 3))}, Priority: 2},
	)
	defer r.Close()
	var got []string
	for _, d := range r.Gather(t.Context(), Query{}, time.Minute).Diagnostics {
		got = append(got, d.Source)
	}
	if diff := cmp.Diff([]string{"editor", "editor", "server"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestLateResultsAreUsedNextTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		r := newTestRegistry(t, Registration{Provider: fake{"late", func(context.Context, Query) (Facts, error) {
			title := "first"
			if calls.Add(1) > 1 {
				title = "second"
			}
			time.Sleep(time.Second)
			return note("late", title), nil
		}}})
		defer r.Close()
		ask := func() (time.Duration, Bundle) {
			began := time.Now()
			b := r.Gather(t.Context(), Query{}, DefaultDeadline)
			return time.Since(began), b
		}
		took, b := ask()
		if took != DefaultDeadline || len(b.Notes) != 0 {
			t.Errorf("after %v: %v", took, b.Notes)
		}
		if diff := cmp.Diff([]Missed{{"late", "not ready in time"}}, b.Missed); diff != "" {
			t.Error(diff)
		}
		if _, b = ask(); len(b.Notes) != 0 || calls.Load() != 1 {
			t.Errorf("a second call was begun beside the first: %d", calls.Load())
		}
		time.Sleep(time.Second)
		took, b = ask()
		if took != DefaultDeadline || len(b.Notes) != 1 || b.Notes[0].Title != "first" {
			t.Errorf("after %v: %v", took, b.Notes)
		}
		if diff := cmp.Diff([]Missed{{"late", "not ready in time: what is told may be old"}}, b.Missed); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAPromptIsNotAnsweredWithWhatWasKnownBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRegistry(t, Registration{Provider: fake{"echo", func(_ context.Context, q Query) (Facts, error) {
			time.Sleep(50 * time.Millisecond)
			return note("echo", q.Prompt), nil
		}}})
		defer r.Close()
		go r.Gather(t.Context(), Query{Prompt: "warming up"}, DefaultDeadline)
		time.Sleep(10 * time.Millisecond)
		if got := r.Gather(t.Context(), Query{Prompt: "hello"}, DefaultDeadline); len(got.Notes) != 1 || got.Notes[0].Title != "hello" {
			t.Errorf("hello was answered with %v, missed %v", got.Notes, got.Missed)
		}
	})
}

func TestFailuresAreTheProvidersOwn(t *testing.T) {
	r := newTestRegistry(t,
		Registration{Provider: fake{"bad", func(context.Context, Query) (Facts, error) { return Facts{}, errors.New("no such thing") }}},
		Registration{Provider: fake{"mad", func(context.Context, Query) (Facts, error) { panic("oh") }}},
		Registration{Provider: fake{"well", func(context.Context, Query) (Facts, error) { return note("well", "t"), nil }}},
	)
	defer r.Close()
	b := r.Gather(t.Context(), Query{}, time.Minute)
	if diff := cmp.Diff([]Missed{{"bad", "no such thing"}, {"mad", "it failed"}}, b.Missed); diff != "" {
		t.Error(diff)
	}
	if len(b.Notes) != 1 {
		t.Errorf("the one that works gave %v", b.Notes)
	}
	if err := r.Register(Registration{Provider: fake{name: "well"}}); err == nil {
		t.Error("a second provider of one name was taken")
	}
}

func TestCloseEndsWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		r := newTestRegistry(t, Registration{Provider: fake{"endless", func(ctx context.Context, _ Query) (Facts, error) {
			<-ctx.Done()
			ended = true
			return Facts{}, ctx.Err()
		}}})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r.Gather(ctx, Query{}, DefaultDeadline) // a turn that is over waits for nothing
		r.Close()
		if !ended {
			t.Error("Close did not wait")
		}
		if b := r.Gather(t.Context(), Query{}, DefaultDeadline); len(b.Missed) != 0 {
			t.Errorf("after Close: %v", b.Missed)
		}
	})
}
