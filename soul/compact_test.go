package soul

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"kimi-acp/soul/background"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

// window is a model with a window of its own, which it keeps to. It answers what its
// functions say; requests for summaries are those without a system prompt of ours.
type window struct {
	size     int // tokens that requests may take, by our estimate; 0: any
	context  int // tokens that it says it has
	sum      func(text string) (string, error)
	answer   func(req *llm.Request) []llm.Delta
	requests []*llm.Request
	sums     int
}

const ours = "our system prompt"

func (w *window) Model() llm.Model { return llm.Model{Name: "w", ContextSize: w.context} }

func (w *window) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		n := llm.EstimateText(req.System)
		for _, m := range req.Messages {
			n += llm.EstimateTokens(m)
		}
		if ctx.Err() != nil {
			yield(llm.Delta{}, ctx.Err())
			return
		}
		summary := !strings.HasPrefix(req.System, ours)
		if summary {
			w.sums++
		} else {
			w.requests = append(w.requests, req)
		}
		if w.size > 0 && n > w.size {
			yield(llm.Delta{}, &llm.Error{Kind: llm.KindOverflow, Message: fmt.Sprintf("%d tokens are too many", n)})
			return
		}
		if summary {
			text, err := w.sum(req.Messages[0].Content[0].Text)
			if err != nil {
				yield(llm.Delta{}, err)
				return
			}
			if yield(llm.Delta{Kind: llm.DeltaText, Text: text}, nil) {
				yield(llm.Delta{Kind: llm.DeltaFinish, Finish: llm.FinishStop}, nil)
			}
			return
		}
		deltas := []llm.Delta{{Kind: llm.DeltaText, Text: "done"}}
		if w.answer != nil {
			deltas = w.answer(req)
		}
		for _, d := range deltas {
			if !yield(d, nil) {
				return
			}
		}
		yield(llm.Delta{Kind: llm.DeltaFinish, Finish: llm.FinishStop}, nil)
	}
}

// last is the text of the last request.
func (w *window) last() string {
	var s strings.Builder
	for _, m := range w.requests[len(w.requests)-1].Messages {
		for _, p := range m.Content {
			s.WriteString(p.Text + "\n")
		}
	}
	return s.String()
}

func echo(text string) (string, error) { return text, nil }

func dead(string) (string, error) {
	return "", &llm.Error{Kind: llm.KindServer, Status: 500, Message: "dead"}
}

// on puts a soul on a model.
func (w *window) on(t tools) *stage {
	s := &stage{}
	c := Config{Wire: wire.New(), Provider: w, System: ours, Tools: t.specs(), Retry: RetryPolicy{Attempts: 2}}
	c.Wire.HandleTools(t)
	c.Wire.Attach(wire.Raw, wire.ViewFunc(func(m wire.Message) { s.said = append(s.said, spoken(m)) }))
	s.Builtin = New(c)
	return s
}

// fill lets turns run until the next one, with a prompt like far, would make the
// conversation take so many tokens.
func (s *stage) fill(t *testing.T, tokens int) {
	t.Helper()
	for i := 0; s.history.Tokens() < tokens-300; i++ {
		run(t, s, fmt.Sprintf("Step %d of the work. %s", i, strings.Repeat("words ", 150)))
	}
	s.said = nil
}

// untold is the transcript without what people are told beside it.
func (s *stage) untold() string { return strings.ReplaceAll(s.transcript(), "Notification | ", "") }

// far is a prompt of about 450 tokens.
var far = "Go on. " + strings.Repeat("words ", 300)

func run(t *testing.T, s *stage, prompt string) {
	t.Helper()
	if out, err := s.Run(t.Context(), ask(prompt)); err != nil || out.Stop != StopEndTurn {
		t.Fatalf("%.20q ended with %+v, %v", prompt, out, err)
	}
}

// What was said when the window was still empty is in the first request after a
// compaction, whatever the summing model makes of it.
func TestNeedles(t *testing.T) {
	for name, sum := range map[string]func(string) (string, error){"a model that repeats what it is sent": echo, "a dead model": dead} {
		t.Run(name, func(t *testing.T) {
			w := &window{context: 20_000, sum: sum}
			reading := tools{"ReadFile": func(context.Context, string) wire.ToolReturnValue {
				return ok("config: needle-in-a-result\n" + strings.Repeat("filler\n", 500))
			}}
			s := w.on(reading)
			w.answer = func(*llm.Request) []llm.Delta {
				args := `{"path":"src/needle-in-a-path.go"}`
				if len(w.requests) == 1 {
					return []llm.Delta{{Kind: llm.DeltaText, Text: "I found needle-of-the-agent."}, {Kind: llm.DeltaCall, Call: llm.ToolCall{ID: "1", Name: "ReadFile", Arguments: &args}}}
				}
				return []llm.Delta{{Kind: llm.DeltaText, Text: "done"}}
			}
			run(t, s, "The password of the test account is needle-of-the-user, the port 4711.")
			s.fill(t, DefaultCompaction.full(20_000))
			if strings.Contains(s.transcript(), "Compaction") {
				t.Fatal("it was compacted too early")
			}
			run(t, s, far)
			if !strings.HasPrefix(s.untold(), "TurnBegin | CompactionBegin | CompactionEnd | StatusUpdate | StepBegin | ") {
				t.Fatalf("said %s", s.transcript())
			}
			for _, needle := range []string{"needle-of-the-user", "port 4711", "needle-of-the-agent", "needle-in-a-path", "needle-in-a-result", far} {
				if !strings.Contains(w.last(), needle) {
					t.Errorf("%s is lost in %s", needle, w.last())
				}
			}
			if n := s.history.Tokens(); n > 12_000 {
				t.Errorf("%d tokens are left", n)
			}
		})
	}
}

func TestCompactionBeforeAStep(t *testing.T) {
	w := &window{context: 20_000, sum: echo}
	w.answer = func(*llm.Request) []llm.Delta {
		args := fmt.Sprintf(`{"n":%d}`, len(w.requests))
		if n := len(w.requests); n <= 40 {
			return []llm.Delta{{Kind: llm.DeltaCall, Call: llm.ToolCall{ID: fmt.Sprint(n), Name: "Read", Arguments: &args}}}
		}
		return []llm.Delta{{Kind: llm.DeltaText, Text: "done"}}
	}
	s := w.on(tools{"Read": func(context.Context, string) wire.ToolReturnValue { return ok(strings.Repeat("out ", 1000)) }})
	run(t, s, "Read all of it.")
	if n := strings.Count(s.transcript(), "StepBegin | CompactionBegin | CompactionEnd | StatusUpdate | call"); n < 2 {
		t.Errorf("%d compactions in a turn of 40 steps: %s", n, s.transcript())
	}
	if n := strings.Count(s.transcript(), "CompactionBegin"); w.sums >= n {
		t.Errorf("a model was asked in all of %d compactions, though shortening old outputs was enough", n)
	}
	if !strings.Contains(w.last(), "Read all of it.") {
		t.Error("the prompt of the turn is lost")
	}
	for _, r := range w.requests {
		n := 0
		for _, m := range r.Messages {
			n += llm.EstimateTokens(m)
		}
		if n > 20_000 {
			t.Errorf("a request of %d tokens", n)
		}
	}
}

// The model's real window is smaller than it says.
func TestCompactionOnOverflow(t *testing.T) {
	for _, sum := range []func(string) (string, error){echo, dead} {
		w := &window{context: 100_000, size: 20_000, sum: sum}
		s := w.on(nil)
		s.fill(t, 20_000)
		run(t, s, far)
		if got := s.untold(); got != "TurnBegin | StepBegin | CompactionBegin | CompactionEnd | StatusUpdate | text:done | StatusUpdate | TurnEnd" {
			t.Errorf("said %s", got)
		}
		if !strings.Contains(w.last(), "Step 0 of the work.") {
			t.Error("the beginning is lost")
		}
	}
	// Once for each: a prompt that no compaction can make fit is an error.
	w := &window{context: 100_000, size: 100, sum: echo}
	s := w.on(nil)
	if _, err := s.Run(t.Context(), ask(strings.Repeat("words ", 20_000))); err == nil || len(w.requests) != 2 {
		t.Errorf("ended with %v after %d requests", err, len(w.requests))
	}
}

// The summing model finds what it is asked too long.
func TestSummaryThatOverflows(t *testing.T) {
	w := &window{context: 40_000, sum: echo}
	s := w.on(nil)
	s.fill(t, 29_000)
	w.size = 14_000
	run(t, s, "/compact")
	if w.sums != 2 || !strings.Contains(s.transcript(), "CompactionBegin | CompactionEnd | StatusUpdate | text:The conversation is compacted: ") {
		t.Errorf("%d requests; said %s", w.sums, s.transcript())
	}
}

func TestCompactCommand(t *testing.T) {
	w := &window{context: 100_000, sum: func(text string) (string, error) {
		if !strings.Contains(text, "keep above all: the ports\n") {
			return "", fmt.Errorf("no topic in %s", text)
		}
		return "all about ports", nil
	}}
	s := w.on(nil)
	run(t, s, "/compact")
	if got := s.transcript(); got != "TurnBegin | text:There is nothing to compact yet. | TurnEnd" || w.sums != 0 {
		t.Errorf("an empty conversation: %s", got)
	}
	s.fill(t, 5000)
	run(t, s, "/compact the ports")
	if w.sums != 1 || s.history.Tokens() > 2500 {
		t.Errorf("%d requests, %d tokens are left; said %s", w.sums, s.history.Tokens(), s.transcript())
	}
	run(t, s, "Where are we?")
	if got := w.last(); !strings.Contains(got, "all about ports") || !strings.HasSuffix(got, "Where are we?\n") {
		t.Errorf("the model is sent %s", got)
	}
	// Without a topic this model fails in a way that is not worth a retry.
	s.fill(t, 5000)
	run(t, s, "/compact")
	if w.sums != 2 || !strings.Contains(s.transcript(), "No model could sum up") {
		t.Errorf("%d requests; said %s", w.sums, s.transcript())
	}
}

// What goes on in the background is in the request after each compaction as it is then,
// with the ids by which the model can look at it, and no longer once it is over.
func TestCompactionTellsWhatGoesOn(t *testing.T) {
	w := &window{context: 100_000, sum: echo}
	s := w.on(nil)
	tasks := background.New(background.Options{})
	defer tasks.Close()
	s.cfg.Tasks = tasks
	begin := func(spec background.Spec) background.Task {
		task, err := tasks.Start(t.Context(), spec, func(ctx context.Context, _ io.Writer) background.Ending {
			<-ctx.Done()
			return background.Ending{}
		})
		if err != nil {
			t.Fatal(err)
		}
		return task
	}
	server := begin(background.Spec{Kind: background.Command, Description: "the dev server"})
	agent := begin(background.Spec{Kind: background.Agent, Description: "write tests", AgentID: "a1", AgentType: "coder"})
	s.fill(t, 5000)
	run(t, s, "/compact")
	run(t, s, "Where are we?")
	want := fmt.Sprintf("<background>\n- %s [running] write tests (agent a1, coder)\n- %s [running] the dev server\n</background>", agent.ID, server.ID)
	if got := w.last(); !strings.Contains(got, want) {
		t.Errorf("the model is sent %s\nwant in it %s", got, want)
	}
	for _, id := range []string{server.ID, agent.ID} {
		if _, err := tasks.Stop(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
	}
	s.fill(t, 5000)
	run(t, s, "/compact")
	run(t, s, "And now?")
	if got := w.last(); strings.Contains(got, "[running] the dev server") {
		t.Errorf("the model is told that what is over runs: %s", got)
	}
}

// A compaction is when the model is told what the project has come to say, and not before.
func TestCompactionRenewsTheSystemPrompt(t *testing.T) {
	kept, err := session.NewStore(t.TempDir()).Create(t.TempDir(), "x")
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	w := &window{context: 100_000, sum: echo}
	s := w.on(nil)
	now := ours
	s.cfg.Renew = func() string { return now }
	s.Keep(kept)
	s.fill(t, 3000)
	now += ", and more than there was"
	run(t, s, "Go on.")
	if got := w.requests[len(w.requests)-1].System; got != ours {
		t.Errorf("before a compaction the model is told %q", got)
	}
	run(t, s, "/compact")
	run(t, s, "Go on.")
	if got := w.requests[len(w.requests)-1].System; got != now {
		t.Errorf("after a compaction the model is told %q", got)
	}
	if _, fixed := s.history.Scale(); fixed != llm.EstimateText(now) {
		t.Errorf("%d tokens are counted beside the messages, want %d", fixed, llm.EstimateText(now))
	}
	if got := kept.Restored().System; got != now {
		t.Errorf("kept is %q", got)
	}
}

func TestCompactionIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := &window{context: 20_000}
		w.sum = func(string) (string, error) { cancel(); return "", context.Canceled }
		s := w.on(nil)
		s.fill(t, DefaultCompaction.full(20_000))
		before := s.roles()
		out, err := s.Run(ctx, ask(far))
		if err != nil || out.Stop != StopCancelled || s.roles() != before {
			t.Errorf("ended with %+v, %v; the history changed: %v", out, err, s.roles() != before)
		}
		if got := s.transcript(); got != "TurnBegin | CompactionBegin | TurnEnd" {
			t.Errorf("said %s", got)
		}
	})
}

// When nothing can be gained, not every step begins with a compaction.
func TestCompactionThatDoesNotHelp(t *testing.T) {
	w := &window{context: 4000, sum: echo}
	w.answer = func(*llm.Request) []llm.Delta {
		args := fmt.Sprintf(`{"n":%d}`, len(w.requests))
		if n := len(w.requests); n <= 20 {
			return []llm.Delta{{Kind: llm.DeltaCall, Call: llm.ToolCall{ID: fmt.Sprint(n), Name: "Read", Arguments: &args}}}
		}
		return []llm.Delta{{Kind: llm.DeltaText, Text: "done"}}
	}
	s := w.on(tools{"Read": func(context.Context, string) wire.ToolReturnValue { return ok(strings.Repeat("a line ", 15)) }})
	s.history.fixed = 3900
	run(t, s, "Read.")
	if n := strings.Count(s.transcript(), "CompactionBegin"); n == 0 || n > 4 {
		t.Errorf("%d compactions in 21 steps", n)
	}
}

// After a compaction the session on disk holds what the memory does, what it held
// before lies beside it, and the last turns can still be taken back.
func TestCompactionOnDisk(t *testing.T) {
	share := t.TempDir()
	store := session.NewStore(share)
	dir := t.TempDir()
	kept, err := store.Create(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { kept.Close() }()
	w := &window{context: 100_000, sum: echo}
	s := w.on(nil)
	s.Keep(kept)
	s.fill(t, 8000)
	whole := s.history.All()
	run(t, s, "/compact")
	run(t, s, "Go on.")
	after, tokens := s.history.All(), s.history.Tokens()
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	if kept, err = store.Open(dir, "x"); err != nil {
		t.Fatal(err)
	}
	again := w.on(nil)
	again.Keep(kept)
	if got := again.history.All(); fmt.Sprint(got) != fmt.Sprint(after) || again.history.Tokens() != tokens {
		t.Errorf("on disk are\n%v\nin memory\n%v\nwith %d tokens and %d", got, after, again.history.Tokens(), tokens)
	}
	if turns, _ := turnsOf(points(after), 100); len(turns) < 2 {
		t.Errorf("%d turns can be taken back", len(turns))
	}
	if got := again.Rewind(t.Context(), Back{Turns: 1}); !strings.Contains(got, "Go on.") || len(again.history.All()) != len(after)-2 {
		t.Errorf("%d messages are left: %s", len(again.history.All()), got)
	}
	if got := kept.Restored().System; got != ours {
		t.Errorf("the system prompt is %q", got)
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	// What it was is a history of its own.
	old, err := filepath.Glob(filepath.Join(share, "sessions", "*", "x", "context_1.jsonl"))
	if err != nil || len(old) != 1 {
		t.Fatal(old, err)
	}
	if err := os.Rename(old[0], filepath.Join(filepath.Dir(old[0]), "context.jsonl")); err != nil {
		t.Fatal(err)
	}
	if kept, err = store.Open(dir, "x"); err != nil {
		t.Fatal(err)
	}
	again.Keep(kept)
	if got := again.history.All(); fmt.Sprint(got) != fmt.Sprint(whole) {
		t.Errorf("of %d messages before the compaction %d are kept", len(whole), len(got))
	}
}
