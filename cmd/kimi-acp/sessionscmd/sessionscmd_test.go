package sessionscmd

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"kimi-acp/internal/screen"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/wire"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// kept is a share dir with sessions, and a clock that stands.
type kept struct {
	home, dir string
	store     *session.Store
	now       time.Time
}

const (
	first  = "3f2a8c14-0000-4000-8000-000000000001"
	second = "3f2a8c14-9999-4000-8000-000000000002"
	third  = "by-hand"
)

// newKept makes three sessions, of two folders; the first is damaged.
func newKept(t *testing.T) *kept {
	t.Helper()
	home := t.TempDir()
	k := &kept{home: home, dir: filepath.Join(home, "project"), store: session.NewStore(filepath.Join(home, ".kimi")), now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.Local)}
	k.fill(t, k.dir, first, "Why does TestParse fail on Windows and on nothing else? I have looked for an hour.", 5*time.Minute)
	k.fill(t, k.dir, second, "übersetze die Anleitung 日本語", 30*time.Hour)
	k.fill(t, filepath.Join(home, "work", "a-folder-with-a-rather-long-name", "service"), third, "add a flag", 400*24*time.Hour)
	f, err := os.OpenFile(filepath.Join(k.path(t, first), "context.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	check(t, err)
	_, err = f.WriteString(`{"role":"us`)
	check(t, err)
	check(t, f.Close())
	k.touch(t, first, 5*time.Minute)
	return k
}

func (k *kept) path(t *testing.T, id string) string {
	t.Helper()
	r, err := k.store.Read("", id)
	check(t, err)
	check(t, r.Close())
	return r.Dir()
}

func (k *kept) touch(t *testing.T, id string, ago time.Duration) {
	t.Helper()
	at := k.now.Add(-ago)
	check(t, os.Chtimes(filepath.Join(k.path(t, id), "context.jsonl"), at, at))
}

func (k *kept) fill(t *testing.T, dir, id, prompt string, ago time.Duration) {
	t.Helper()
	s, err := k.store.Create(dir, id)
	check(t, err)
	arguments := `{"path":"parse.go"}`
	call := llm.ToolCall{ID: "a", Name: "ReadFile", Arguments: &arguments}
	text := func(role llm.Role, text string) llm.Message {
		return llm.Message{Role: role, Content: []llm.Part{llm.Text(text)}}
	}
	answer := text(llm.RoleAssistant, "I look.")
	answer.Content = append([]llm.Part{llm.Think("hm")}, answer.Content...)
	answer.ToolCalls = []llm.ToolCall{call}
	read := text(llm.RoleTool, "package <b> ``` x")
	read.ToolCallID = "a"
	check(t, s.AppendSystem("be good"))
	check(t, s.AppendMessages(text(llm.RoleUser, prompt)))
	check(t, s.AppendStep(answer, 1200, read))
	check(t, s.AppendStep(text(llm.RoleAssistant, "It is the line ends."), 1300))
	check(t, s.UpdateState(func(st *session.State) {
		st.Approval.Yolo = true
		st.Todos = []session.TodoState{{Title: "look", Status: "done"}, {Title: "mend", Status: "pending"}}
	}))
	for _, m := range []wire.Message{
		wire.TurnBegin{UserInput: wire.UserInput{Text: prompt}},
		wire.StepBegin{N: 1},
		wire.ContentPart{Part: llm.Think("hm")},
		wire.ContentPart{Part: llm.Text("I look.")},
		wire.ToolCall{Call: call},
		wire.ToolResult{ToolCallID: "a", ReturnValue: wire.ToolReturnValue{Message: "7 lines read.", Output: wire.Output{Text: strings.Repeat("line\n", 7)}}},
		wire.StepBegin{N: 2},
		wire.ContentPart{Part: llm.Text("It is the line ends.")},
		wire.TurnEnd{},
	} {
		s.Wire().Receive(m)
	}
	check(t, s.Err())
	check(t, s.Close())
	k.touch(t, id, ago)
}

// run runs a command line and gives its exit code, and what it wrote.
func (k *kept) run(t *testing.T, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = Run(t.Context(), args, k.options(&stdout, &stderr, in))
	return code, k.plain(stdout.String()), k.plain(stderr.String())
}

func (k *kept) options(out, errs io.Writer, in string) Options {
	return Options{
		Store: k.store, Dir: k.dir, Home: k.home, In: strings.NewReader(in), Out: out, Err: errs, Answers: in != "",
		Screen: func(columns int) *screen.Screen { return screen.New(out, false, columns) },
		Now:    func() time.Time { return k.now },
	}
}

// plain makes a text the same on every machine.
func (k *kept) plain(text string) string { return strings.ReplaceAll(text, k.home, "/home/me") }

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		check(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	check(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// Each page at the widths of small, usual and large terminals; no line is too long.
func TestPages(t *testing.T) {
	k := newKept(t)
	for _, width := range []string{"60", "80", "140"} {
		var all strings.Builder
		for _, line := range []string{"list", "list --all", "show 3f2a8c14-0", "show by", "verify", "verify --all"} {
			_, out, errs := k.run(t, "", append(strings.Fields(line), "--width", width)...)
			all.WriteString("$ kimi-acp sessions " + line + "\n" + out + errs + "\n")
			for _, l := range strings.Split(out, "\n") {
				if limit := map[string]int{"60": 60, "80": 80, "140": screen.MaxWidth}[width]; screen.Columns(l) > limit {
					t.Errorf("at %s columns %s shows %q", width, line, l)
				}
			}
		}
		golden(t, "pages-"+width+".txt", normal(all.String()))
	}
}

// normal takes out what is different each time: the names of folders, which are sums,
// and the sizes of recordings.
func normal(text string) string {
	text = regexp.MustCompile(`[0-9a-f]{32}`).ReplaceAllString(text, strings.Repeat("0", 32))
	return regexp.MustCompile(`[0-9.]+ kB`).ReplaceAllString(text, "1.0 kB")
}

func TestJSON(t *testing.T) {
	k := newKept(t)
	for line, want := range map[string]string{
		"list --json":              `[0].title=Why does TestParse fail on Windows and on nothing…`,
		"list --json --all":        `[2].id=by-hand`,
		"list --json --cwd ../x":   `=[]`,
		"show by --json":           `.tokens=1300`,
		"show --json":              `.id=` + first,
		"verify --json":            `[0].ok=false`,
		"verify by --json":         `[0].ok=true`,
		"verify 3f2a8c14-0 --json": `[0].findings[0].kind=torn-tail`,
	} {
		_, out, errs := k.run(t, "", strings.Fields(line)...)
		var v any
		if err := json.Unmarshal([]byte(out), &v); err != nil || errs != "" {
			t.Fatalf("%s: %v in %q, %s", line, err, out, errs)
		}
		path, value, _ := strings.Cut(want, "=")
		if got := at(v, path); got != value {
			t.Errorf("%s: %s is %q, want %q", line, path, got, value)
		}
	}
}

// at finds a value by its path.
func at(v any, path string) string {
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		switch x := v.(type) {
		case []any:
			if i := int(step[0] - '0'); i < len(x) {
				v = x[i]
			}
		case map[string]any:
			v = x[step]
		}
	}
	if s, ok := v.(string); ok {
		return s
	}
	text, _ := json.Marshal(v)
	return string(text)
}

func TestUsage(t *testing.T) {
	k := newKept(t)
	tests := []struct {
		line string
		code int
		errs string // part of what is told
	}{
		{"", 2, "Usage: kimi-acp sessions COMMAND"},
		{"help", 0, ""},
		{"nonsense", 2, `there is no command "nonsense"`},
		{"show nobody", 1, `there is no session "nobody"; kimi-acp sessions list --all`},
		{"show 3f2a", 1, `"3f2a" is the beginning of 2 ids`},
		{"show a b", 2, `"b" is too much`},
		{"show --path --json", 2, "contradict"},
		{"list --all --cwd x", 2, "contradict"},
		{"list --nonsense", 2, "flag provided but not defined"},
		{"verify --all by", 2, "contradict"},
		{"verify by", 0, ""},
		{"verify", 1, ""},
		{"repair", 2, "name the session"},
		{"delete", 2, "name the sessions"},
		{"delete by", 2, "say --yes"},
		{"export by --format pdf", 2, `there is no format "pdf"`},
		{"watch nobody", 1, "there is no session"},
		{"list --help", 0, "Usage: kimi-acp sessions list"},
	}
	for _, tt := range tests {
		code, _, errs := k.run(t, "", strings.Fields(tt.line)...)
		if code != tt.code || !strings.Contains(errs, tt.errs) || tt.errs == "" && errs != "" {
			t.Errorf("%q: code %d, %q; want %d, %q", tt.line, code, errs, tt.code, tt.errs)
		}
	}
	k.dir = filepath.Join(k.home, "elsewhere")
	for line, want := range map[string]string{
		"list":   "No session belongs to ~/elsewhere",
		"show":   "no session belongs to ~/elsewhere; name one",
		"verify": "no session belongs to ~/elsewhere; give an ID",
	} {
		if _, out, errs := k.run(t, "", line, "--width", "100"); !strings.Contains(out+errs, want) {
			t.Errorf("%s elsewhere: %q", line, out+errs)
		}
	}
}

func TestNothingKept(t *testing.T) {
	k := &kept{home: t.TempDir(), store: session.NewStore(filepath.Join(t.TempDir(), "none")), now: time.Now()}
	k.dir = k.home
	if code, out, errs := k.run(t, "", "list", "--all"); code != 0 || out != "There are no sessions.\n" {
		t.Errorf("code %d, %q %q", code, out, errs)
	}
	if code, out, _ := k.run(t, "", "verify", "--all"); code != 0 || !strings.Contains(out, "0 sessions in order.") {
		t.Errorf("code %d, %q", code, out)
	}
}

func TestRepair(t *testing.T) {
	k := newKept(t)
	code, out, errs := k.run(t, "", "repair", "3f2a8c14-0", "--width", "120")
	if code != 0 || !strings.Contains(out, "torn line; they were moved to") || !strings.HasSuffix(out, "The session is in order now.\n") {
		t.Errorf("code %d, %q %q", code, out, errs)
	}
	if code, out, _ := k.run(t, "", "repair", "3f2a8c14-0"); code != 0 || out != "The session was in order.\n" {
		t.Errorf("again: code %d, %q", code, out)
	}
	if code, _, _ := k.run(t, "", "verify"); code != 0 {
		t.Error("it is damaged still")
	}
	check(t, os.WriteFile(filepath.Join(k.path(t, third), "wire.jsonl"), []byte("nonsense\n"), 0o600))
	if _, out, _ := k.run(t, "", "repair", "by", "--width", "120"); !strings.Contains(out, "cannot be mended") || !strings.Contains(out, "· line 1 of the recording: it holds no message") {
		t.Errorf("what cannot be mended: %q", out)
	}
	s, err := k.store.Open("", third)
	check(t, err)
	if code, _, errs := k.run(t, "", "repair", "by"); code != 1 || !strings.Contains(errs, "close it there first") {
		t.Errorf("of an open one: code %d, %q", code, errs)
	}
	if code, _, errs := k.run(t, "", "delete", "by", "--yes"); code != 1 || !strings.Contains(errs, "close it there first") {
		t.Errorf("deleting an open one: code %d, %q", code, errs)
	}
	check(t, s.Close())
}

func TestDelete(t *testing.T) {
	k := newKept(t)
	code, out, errs := k.run(t, "n\n", "delete", "by")
	if code != 1 || !strings.Contains(out, `Delete by-hand, "add a flag", for good? [y/N] `) || !strings.Contains(errs, "nothing more was deleted") {
		t.Errorf("no: code %d, %q, %q", code, out, errs)
	}
	if code, _, _ := k.run(t, "y\n", "delete", "by", "nobody"); code != 1 {
		t.Error("one that is not there is fine")
	}
	k.path(t, third) // it is there
	if code, out, _ := k.run(t, "y\n", "delete", "by"); code != 0 || !strings.Contains(out, "Deleted by-hand") {
		t.Errorf("yes: code %d, %q", code, out)
	}
	if code, _, errs := k.run(t, "", "delete", first, second, "--yes"); code != 0 {
		t.Errorf("two: code %d, %q", code, errs)
	}
	if ids, err := k.store.IDs(); err != nil || len(ids) != 0 {
		t.Errorf("left: %q, %v", ids, err)
	}
}

func TestExport(t *testing.T) {
	k := newKept(t)
	check(t, os.MkdirAll(k.dir, 0o755))
	_, out, errs := k.run(t, "", "export")
	golden(t, "export.md", out)
	if !strings.Contains(errs, "torn line") {
		t.Errorf("told: %q", errs)
	}
	_, out, _ = k.run(t, "", "export", "by", "--format", "jsonl")
	golden(t, "export.jsonl", out)
	path := filepath.Join(k.dir, "talk.jsonl")
	code, said, _ := k.run(t, "", "export", "by", "talk.jsonl")
	if got, err := os.ReadFile(path); err != nil || k.plain(string(got)) != out || code != 0 || !strings.Contains(said, "to ~/project/talk.jsonl") {
		t.Errorf("code %d, %q, %v", code, said, err)
	}
	if code, _, errs := k.run(t, "", "export", "by", "talk.jsonl"); code != 1 || !strings.Contains(errs, "is there already; --force") {
		t.Errorf("again: code %d, %q", code, errs)
	}
	if code, _, errs := k.run(t, "", "export", "talk.jsonl", "--force"); code != 0 {
		t.Errorf("of the latest: code %d, %q", code, errs)
	}
}

// Watching begins with the last turn, and goes on with what another writes.
func TestWatch(t *testing.T) {
	k := newKept(t)
	s, err := k.store.Open("", second)
	check(t, err)
	s.Wire().Receive(wire.TurnBegin{UserInput: wire.UserInput{Text: "now"}})
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	done := make(chan int)
	go func() {
		done <- Run(ctx, []string{"watch", second, "--json"}, k.options(out, io.Discard, ""))
		_ = out.Close()
	}()
	lines := json.NewDecoder(in)
	next := func() string {
		t.Helper()
		var m struct{ Type string }
		check(t, lines.Decode(&m))
		return m.Type
	}
	if got := next(); got != "TurnBegin" {
		t.Errorf("it begins with %s", got)
	}
	s.Wire().Receive(wire.StepBegin{N: 1}) // which works while it is watched
	if got := next(); got != "StepBegin" {
		t.Errorf("then %s", got)
	}
	check(t, s.Err())
	check(t, s.Close())
	stop()
	if code := <-done; code != 0 {
		t.Errorf("it ended with %d", code)
	}
	_ = in.Close()
	go func() {
		done <- Run(t.Context(), []string{"watch", second, "--all"}, k.options(io.Discard, io.Discard, ""))
	}()
	check(t, k.store.Delete(second))
	if code := <-done; code != 1 {
		t.Errorf("it ended with %d when the session was deleted", code)
	}
}
