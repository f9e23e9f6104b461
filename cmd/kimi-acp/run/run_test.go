package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"kimi-acp/internal/policy"
	"kimi-acp/internal/proc"
	"kimi-acp/internal/screen"
	"kimi-acp/internal/trust"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/scripted"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// called is a script line that calls a tool.
func called(id, name string, args any) string {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	line, err := json.Marshal(map[string]string{"id": id, "name": name, "arguments": string(raw)})
	if err != nil {
		panic(err)
	}
	return "tool_call: " + string(line) + "\n"
}

type object = map[string]any

// folder makes a folder with a.txt in it.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello\nworld\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return "(" + name + " is not there)"
	}
	return string(data)
}

// shell is a Runner whose commands print what they are.
type shell struct{}

func (shell) Run(_ context.Context, c proc.Command) (proc.Outcome, error) {
	o := proc.Outcome{Output: c.Shell + "\n"}
	if strings.HasPrefix(c.Shell, "false") {
		o.ExitCode = 1
	}
	if c.Shell == "true" {
		o.Output = ""
	}
	return o, nil
}

// turn gives the options of a turn in which the model plays scripts.
func turn(dir string, scripts ...string) Options {
	return Options{
		Dir: dir, Prompt: "do it", Runner: shell{}, Shell: "/bin/bash",
		Provider: scripted.New(scripts, llm.Model{Name: "scripted", ContextSize: 100_000}),
		Retry:    soul.RetryPolicy{Attempts: 1},
	}
}

// Everything that a turn can show, in order.
func story() []string {
	return []string{
		"think: \"I read the file first, and then I change one word of it, since that is what was asked for and nothing else was.\"\n" +
			"text: \"I will look at `a.txt`.\"\n" +
			called("p", "SetTodoList", object{"todos": []object{{"title": "Read", "status": "done"}, {"title": "Edit", "status": "in_progress"}, {"title": "Check", "status": "pending"}}}) +
			"usage: {\"input_other\":100,\"output\":10}",
		called("r", "ReadFile", object{"path": "a.txt"}),
		called("e", "StrReplaceFile", object{"path": "a.txt", "edit": object{"old": "hello", "new": "HELLO"}}),
		called("w", "WriteFile", object{"path": "new/b.txt", "content": "one\ntwo\n"}),
		called("s", "Shell", object{"command": "echo " + strings.Repeat("wide ", 12) + strings.Repeat("\nline", 25)}),
		called("t", "Shell", object{"command": "true"}),
		called("f", "Shell", object{"command": "false"}),
		called("x", "ReadFile", object{"path": "missing.txt"}),
		"text: \"Done: \"\ntext: \"one word.\"\nusage: {\"input_other\":200,\"output\":20,\"input_cache_read\":50}",
	}
}

// person is a Person who says what he is told to.
type person struct {
	answers []string // y, a, n TEXT, or "" for nobody
	asked   []string
}

func (p *person) Approve(_ context.Context, r wire.ApprovalRequest) (wire.Approval, string, error) {
	p.asked = append(p.asked, r.Description)
	if len(p.answers) == 0 {
		return "", "", errNobody
	}
	answer := p.answers[0]
	p.answers = p.answers[1:]
	word, text, _ := strings.Cut(answer, " ")
	return map[string]wire.Approval{"y": wire.ApprovalApprove, "a": wire.ApprovalApproveForSession, "n": wire.ApprovalReject}[word], text, nil
}

func (p *person) Answer(context.Context, []wire.Question) wire.QuestionAnswers { return nil }

// truster is a person who trusts the folder, and rejects whatever is asked for.
type truster struct {
	person
	questions []string
}

func (p *truster) Answer(_ context.Context, questions []wire.Question) wire.QuestionAnswers {
	answers := wire.QuestionAnswers{}
	for _, q := range questions {
		p.questions = append(p.questions, q.Question)
		answers[q.Question] = "Trust it"
	}
	return answers
}

// The terminal is asked once whether to trust the folder; then git may look around.
func TestTrustAtTheTerminal(t *testing.T) {
	dir, store := folder(t), trust.NewStore(t.TempDir(), "")
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Skipf("git is not here: %v\n%s", err, out)
	}
	p := &truster{}
	runner := proc.NewRunner(proc.Options{Environ: proc.Scrub(os.Environ())})
	defer runner.Close()
	_, err := Turn(t.Context(), Options{
		Dir: dir, Prompt: "go", Person: p, Runner: runner,
		Provider: scripted.New([]string{called("a", "Shell", object{"command": "git status"}) + called("b", "Shell", object{"command": "git log -1"}), "text: done"}, llm.Model{Name: "scripted", ContextSize: 1000}),
		Guard: &tool.Guard{
			Engine: sync.OnceValues(func() (*policy.Engine, error) { return policy.New(policy.Options{}) }),
			Gate:   trust.NewGate(store, []string{dir}, false), Context: policy.Context{Roots: []string{dir}},
		},
	})
	if err != nil || len(p.questions) != 1 || len(p.asked) > 0 {
		t.Errorf("questions %q, asked for %q (%v)", p.questions, p.asked, err)
	}
	if a, err := store.Of(dir); a != trust.Trusted || err != nil {
		t.Errorf("kept %q (%v)", a, err)
	}
}

func TestModes(t *testing.T) {
	scripts := []string{
		called("e", "StrReplaceFile", object{"path": "a.txt", "edit": object{"old": "hello", "new": "HELLO"}}),
		called("s", "Shell", object{"command": "ls"}),
		"text: ready",
	}
	for _, tt := range []struct {
		mode       tool.Mode
		file       string
		unanswered int
		exit       ExitCode
	}{
		{"", "hello\nworld\n", 2, ExitUnanswered},
		{tool.ModeDefault, "hello\nworld\n", 2, ExitUnanswered},
		{tool.ModeAcceptEdits, "HELLO\nworld\n", 1, ExitUnanswered},
		{tool.ModePlan, "hello\nworld\n", 0, ExitDone},
		{tool.ModeYolo, "HELLO\nworld\n", 0, ExitDone},
	} {
		t.Run(string(tt.mode), func(t *testing.T) {
			o := turn(folder(t), scripts...)
			o.Mode = tt.mode
			r, err := Turn(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, o.Dir, "a.txt"); got != tt.file {
				t.Errorf("the file is %q", got)
			}
			if r.Unanswered != tt.unanswered || Exit(r) != tt.exit || r.Text != "ready\n" || r.Steps != 3 {
				t.Errorf("%+v, exit %d", r, Exit(r))
			}
		})
	}
}

func TestBadOptions(t *testing.T) {
	o := turn(folder(t), "text: x")
	o.Mode = "wild"
	if _, err := Turn(t.Context(), o); err == nil || !strings.Contains(err.Error(), "wild") {
		t.Errorf("said %v", err)
	}
	o = turn(filepath.Join(t.TempDir(), "none"), "text: x")
	if _, err := Turn(t.Context(), o); err == nil || !strings.Contains(err.Error(), "folder to work in") {
		t.Errorf("said %v", err)
	}
	if _, err := ParseMode("wild"); err == nil || err.Error() != `there is no mode "wild"; use one of default, accept-edits, plan, yolo` {
		t.Errorf("said %v", err)
	}
	if m, err := ParseMode("plan"); m != tool.ModePlan || err != nil {
		t.Errorf("%v, %v", m, err)
	}
}

// What a person says is done, and no more is asked than needed: also calls that run
// side by side ask once when the answer covers all of them.
func TestAPersonAnswers(t *testing.T) {
	write := func(name string) string {
		return called(name, "WriteFile", object{"path": name, "content": "x\n"})
	}
	for _, tt := range []struct {
		answers []string
		asked   int
		files   string
		exit    ExitCode
	}{
		{[]string{"a"}, 1, "xxx", ExitDone},
		{[]string{"y", "y", "y"}, 3, "xxx", ExitDone},
		{[]string{"n later", "y", "n"}, 3, "x", ExitDone},
		{[]string{"y"}, 3, "x", ExitUnanswered},
	} {
		o := turn(folder(t), write("1")+write("2")+write("3"), "text: ready")
		p := &person{answers: tt.answers}
		o.Person = p
		r, err := Turn(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		files := ""
		for _, name := range []string{"1", "2", "3"} {
			if read(t, o.Dir, name) == "x\n" {
				files += "x"
			}
		}
		if len(p.asked) != tt.asked || files != tt.files || Exit(r) != tt.exit {
			t.Errorf("%q: asked %q, made %d files, exit %d", tt.answers, p.asked, len(files), Exit(r))
		}
	}
}

func TestExit(t *testing.T) {
	failed := func(k llm.Kind) Result { return Result{Err: &llm.Error{Kind: k}} }
	for _, tt := range []struct {
		r    Result
		want ExitCode
		name string
	}{
		{Result{}, 0, "end_turn"},
		{failed(llm.KindAuth), 1, "error"},
		{failed(llm.KindMalformed), 75, "error"},
		{Result{Err: errors.New("bug")}, 1, "error"},
		{Result{Stop: soul.StopRefusal}, 3, "refusal"},
		{Result{Stop: soul.StopMaxTokens}, 4, "max_tokens"},
		{Result{Stop: soul.StopMaxSteps, Unanswered: 1}, 4, "max_steps"},
		{Result{Unanswered: 1}, 5, "end_turn"},
		{failed(llm.KindRateLimit), 75, "error"},
		{failed(llm.KindOverloaded), 75, "error"},
		{failed(llm.KindServer), 75, "error"},
		{failed(llm.KindTimeout), 75, "error"},
		{failed(llm.KindConnection), 75, "error"},
		{failed(llm.KindEmpty), 75, "error"},
		{Result{Stop: soul.StopCancelled, Unanswered: 2}, 130, "cancelled"},
	} {
		if got := Exit(tt.r); got != tt.want {
			t.Errorf("%+v: exit %d, want %d", tt.r, got, tt.want)
		}
		if got := StopName(tt.r); got != tt.name {
			t.Errorf("%+v: %s", tt.r, got)
		}
	}
}

// How turns end, as the provider makes them.
func TestOutcomes(t *testing.T) {
	loop := called("r", "ReadFile", object{"path": "a.txt"})
	for _, tt := range []struct {
		name    string
		scripts []string
		exit    ExitCode
	}{
		{"expired key", []string{"error: 401 expired"}, ExitFailed},
		{"overloaded", []string{"error: 503"}, ExitRetry},
		{"refused", []string{"text: no\nfinish: content_filter"}, ExitRefused},
		{"cut", []string{"text: so\nfinish: length"}, ExitCut},
		{"steps", []string{loop, loop, loop}, ExitCut},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := turn(folder(t), tt.scripts...)
			o.MaxSteps = 2
			r, err := Turn(t.Context(), o)
			if err != nil || Exit(r) != tt.exit {
				t.Errorf("%+v, %v: exit %d", r, err, Exit(r))
			}
			if (r.Err != nil) != (tt.exit == ExitFailed || tt.exit == ExitRetry) || r.Err != nil && Advice(r.Err) == "" {
				t.Errorf("%v: advice %q", r.Err, Advice(r.Err))
			}
		})
	}
}

// A model call that is tried again is told of.
func TestRetry(t *testing.T) {
	o := turn(folder(t), "error: 503", "text: yes")
	o.Retry.Attempts = 2
	var shown, text bytes.Buffer
	o.Views = []View{{wire.Raw, NewShow(NewAnswer(&text, nil), screen.New(&shown, false, 80), o.Dir)}}
	r, err := Turn(t.Context(), o)
	if err != nil || text.String() != "yes\n" || Exit(r) != ExitDone {
		t.Errorf("%+v, %v, %q", r, err, text.String())
	}
	want := "\n▌ Retry\n  The model did not answer (APIStatusError); attempt 2 of 2 follows in 0.0s.\n\n"
	if diff := cmp.Diff(want, shown.String()); diff != "" {
		t.Error(diff)
	}
}

func TestAdvice(t *testing.T) {
	for kind, want := range map[llm.Kind]string{
		llm.KindAuth: "doctor", llm.KindBilling: "credit", llm.KindOverflow: "too long", llm.KindContentFilter: "reword", llm.KindTimeout: "again", llm.KindBadRequest: "",
	} {
		got := Advice(fmt.Errorf("step 1: %w", &llm.Error{Kind: kind}))
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("kind %d: %q", kind, got)
		}
	}
	if got := Advice(errors.New("bug")); got != "" {
		t.Errorf("said %q", got)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := turn(folder(t), called("e", "WriteFile", object{"path": "a.txt", "content": "x"}), "text: never")
	o.Person = canceller{cancel}
	r, err := Turn(ctx, o)
	if err != nil || Exit(r) != ExitCancelled || r.Unanswered != 0 || read(t, o.Dir, "a.txt") != "hello\nworld\n" {
		t.Errorf("%+v, %v", r, err)
	}
}

// canceller ends the turn when it is asked.
type canceller struct{ cancel func() }

func (c canceller) Approve(ctx context.Context, _ wire.ApprovalRequest) (wire.Approval, string, error) {
	c.cancel()
	return "", "", ctx.Err()
}

func (canceller) Answer(context.Context, []wire.Question) wire.QuestionAnswers { return nil }

// A turn as it is shown, at a narrow and a wide terminal, with and without asking.
func TestShow(t *testing.T) {
	for _, width := range []int{50, 100} {
		for _, mode := range []tool.Mode{tool.ModeDefault, tool.ModeYolo} {
			t.Run(fmt.Sprintf("%s-%d", mode, width), func(t *testing.T) {
				o := turn(folder(t), story()...)
				o.Mode = mode
				var both, text bytes.Buffer
				s := screen.New(&both, false, width)
				show := NewShow(NewAnswer(tee{&both, &text}, nil), s, o.Dir)
				o.Views = []View{{wire.Raw, show}}
				o.Person = NewTerminal(strings.NewReader("y\na\nperhaps\nn use printf\n"), s, nil)
				r, err := Turn(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				show.End(r)
				golden(t, fmt.Sprintf("show-%s-%d", mode, width), strings.ReplaceAll(both.String(), o.Dir, "DIR"))
				if want := "I will look at `a.txt`.\nDone: one word.\n"; text.String() != want || r.Text != want {
					t.Errorf("the answer is %q, and %q", text.String(), r.Text)
				}
			})
		}
	}
}

// tee is a terminal that shows both outputs, and keeps one of them.
type tee struct{ both, one *bytes.Buffer }

func (w tee) Write(p []byte) (int, error) {
	w.one.Write(p)
	return w.both.Write(p)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

// contextSize is an estimate that counts the folder's name, which is not always as long.
var contextSize = regexp.MustCompile(`"(context_usage|context_tokens)":[0-9.e-]+`)

func TestLines(t *testing.T) {
	o := turn(folder(t), story()...)
	var b bytes.Buffer
	lines := NewLines(&b, func(err error) { t.Error(err) })
	o.Views = []View{{wire.Merged, lines}}
	r, err := Turn(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := lines.End(r, Exit(r), nil); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
	text := contextSize.ReplaceAllString(strings.ReplaceAll(b.String(), o.Dir, "DIR"), `"$1":0`)
	golden(t, "lines", uuid.ReplaceAllString(text, "UUID"))
}

func TestTheLastLine(t *testing.T) {
	for _, tt := range []struct {
		r    Result
		exit ExitCode
		err  error
		want string
	}{
		{
			Result{Err: fmt.Errorf("step 1: %w", &llm.Error{Kind: llm.KindAuth, Status: 401, Message: "expired <key>"})},
			1, nil,
			`{"type":"result","stop_reason":"error","exit":1,"text":"","steps":0,"unanswered":0,"usage":{"input_other":0,"output":0,"input_cache_read":0,"input_cache_creation":0},"error":{"message":"step 1: HTTP 401: expired <key>","status":401}}`,
		},
		{
			Result{},
			2, errors.New("no model"),
			`{"type":"result","stop_reason":"error","exit":2,"text":"","steps":0,"unanswered":0,"usage":{"input_other":0,"output":0,"input_cache_read":0,"input_cache_creation":0},"error":{"message":"no model","status":0}}`,
		},
	} {
		var b bytes.Buffer
		if err := NewLines(&b, nil).End(tt.r, tt.exit, tt.err); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want+"\n", b.String()); diff != "" {
			t.Error(diff)
		}
	}
	if err := NewLines(closed{}, nil).End(Result{}, 0, nil); err == nil {
		t.Error("a writer that fails was not heard of")
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, os.ErrClosed }

// A reader that has gone is told of once.
func TestTheReaderIsGone(t *testing.T) {
	for name, view := range map[string]func(func(error)) View{
		"answer": func(fail func(error)) View { return View{wire.Raw, NewAnswer(closed{}, fail)} },
		"lines":  func(fail func(error)) View { return View{wire.Merged, NewLines(closed{}, fail)} },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			told := 0
			o := turn(folder(t), "text: a\ntext: b\n"+called("r", "ReadFile", object{"path": "a.txt"}), "text: never")
			o.Views = []View{view(func(error) {
				told++
				cancel()
			})}
			r, err := Turn(ctx, o)
			if err != nil || told != 1 || Exit(r) != ExitCancelled {
				t.Errorf("told %d times, %+v, %v", told, r, err)
			}
		})
	}
}
