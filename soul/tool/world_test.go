package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"kimi-acp/fileop"
	"kimi-acp/internal/proc"
	"kimi-acp/soul/wire"
)

// world is an Executor with everything around it in memory, and a Wire on which
// the test answers approvals.
type world struct {
	t        *testing.T
	executor *Executor
	files    *memory
	runner   *fakeRunner
	wire     *wire.Wire
	logs     *strings.Builder

	mu       sync.Mutex
	progress []wire.ToolProgress
}

func newWorld(t *testing.T, change func(*Options)) *world {
	t.Helper()
	w := &world{
		t:      t,
		files:  &memory{texts: map[string]string{}, dirty: map[string]bool{}},
		runner: &fakeRunner{},
		wire:   wire.New(),
		logs:   &strings.Builder{},
	}
	t.Cleanup(w.wire.Close)
	o := Options{
		Operator: w.files,
		Runner:   w.runner,
		Asker:    w.wire,
		Cwd:      "/w",
		Logger:   slog.New(slog.NewTextHandler(w.logs, nil)),
		Progress: func(p wire.ToolProgress) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.progress = append(w.progress, p)
		},
	}
	if change != nil {
		change(&o)
	}
	w.executor = NewExecutor(o)
	return w
}

func (w *world) call(ctx context.Context, id, name, args string) wire.ToolReturnValue {
	return w.executor.CallTool(ctx, wire.ToolCallRequest{ID: id, Name: name, Arguments: &args})
}

// start runs a call beside the test; the channel gives its result.
func (w *world) start(ctx context.Context, id, name, args string) <-chan wire.ToolReturnValue {
	done := make(chan wire.ToolReturnValue, 1)
	go func() { done <- w.call(ctx, id, name, args) }()
	return done
}

// pending gives the open approvals by tool call.
func (w *world) pending() map[string]wire.ApprovalRequest {
	out := map[string]wire.ApprovalRequest{}
	for _, r := range w.wire.Pending() {
		a := r.(wire.ApprovalRequest)
		out[a.ToolCallID] = a
	}
	return out
}

func (w *world) answer(call string, a wire.Approval, feedback string) {
	w.t.Helper()
	r, ok := w.pending()[call]
	if !ok {
		w.t.Fatalf("no approval is open for call %s", call)
	}
	if !w.wire.ResolveApproval(r.ID, a, feedback) {
		w.t.Fatalf("the approval of call %s cannot be answered", call)
	}
}

// told gives the progress of a call, one word an event.
func (w *world) told(call string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, p := range w.progress {
		if p.ToolCallID != call {
			continue
		}
		word := "waits"
		if p.Running {
			word = "runs"
		}
		if p.Input != nil {
			word += "+input"
		}
		if p.Files != nil {
			word += "+files"
		}
		if p.Output != "" {
			word += "+" + p.Output
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// memory is an Operator on texts in memory that lets a test interfere.
type memory struct {
	mu     sync.Mutex
	texts  map[string]string
	dirty  map[string]bool
	writes []string // paths, in the order of commits

	onCommit func(ctx context.Context, c fileop.Change) error // before the write
	format   func(string) string                              // what a save makes of a text
	onRead   func(ctx context.Context)
	window   func(path string, first, n int) (fileop.Window, error)
	unsaved  bool  // the editor takes texts and does not save them
	readBack error // why nothing can be read back after a write
}

func (m *memory) Resolve(path string) (string, error) {
	if strings.HasPrefix(path, "../") {
		return "", fmt.Errorf("%s: %w", path, fileop.ErrOutside)
	}
	if !strings.HasPrefix(path, "/") {
		path = "/w/" + path
	}
	return path, nil
}

func (m *memory) get(path string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, ok := m.texts[path]
	return text, ok
}

func (m *memory) set(path, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.texts[path] = text
}

func (m *memory) Read(ctx context.Context, path string) (fileop.Snapshot, error) {
	if m.onRead != nil {
		m.onRead(ctx)
	}
	path, err := m.Resolve(path)
	if err != nil {
		return fileop.Snapshot{}, err
	}
	text, ok := m.get(path)
	if !ok {
		return fileop.Snapshot{}, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return fileop.Snapshot{Path: path, Text: text, Dirty: m.dirty[path], NotUTF8: !utf8.ValidString(text)}, nil
}

func (m *memory) ReadWindow(ctx context.Context, path string, first, n int) (fileop.Window, error) {
	if m.window != nil {
		return m.window(path, first, n)
	}
	s, err := m.Read(ctx, path)
	if err != nil {
		return fileop.Window{}, err
	}
	lines := strings.SplitAfter(s.Text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	w := fileop.Window{Path: s.Path, First: first, Total: len(lines), Dirty: s.Dirty, NotUTF8: s.NotUTF8}
	first = min(first-1, len(lines))
	last := min(first+n, len(lines))
	w.Text, w.More = strings.Join(lines[first:last], ""), last < len(lines)
	return w, nil
}

func (m *memory) Plan(_ context.Context, e fileop.Edit) (fileop.Change, error) {
	c := fileop.Change{Path: e.Path}
	before, ok := m.get(e.Path)
	if ok {
		c.Before = &before
	}
	c.After = before
	if e.Content != nil {
		c.After = *e.Content
		if e.Append {
			c.After = before + *e.Content
		}
	}
	for _, r := range e.Replace {
		if strings.Count(c.After, r.Old) == 0 {
			return c, fmt.Errorf("%s: %w", e.Path, fileop.ErrNoMatch)
		}
		n := 1
		if r.All {
			n = -1
		}
		c.After = strings.Replace(c.After, r.Old, r.New, n)
	}
	return c, nil
}

func (m *memory) Commit(ctx context.Context, c fileop.Change) (fileop.Result, error) {
	if m.onCommit != nil {
		if err := m.onCommit(ctx, c); err != nil {
			return fileop.Result{Change: c, Actual: c.After}, err
		}
	}
	now, ok := m.get(c.Path)
	if ok != (c.Before != nil) || ok && now != *c.Before {
		return fileop.Result{}, fmt.Errorf("%s: %w", c.Path, fileop.ErrStale)
	}
	actual := c.After
	if m.format != nil {
		actual = m.format(actual)
	}
	m.set(c.Path, actual)
	m.mu.Lock()
	m.writes = append(m.writes, c.Path)
	m.mu.Unlock()
	return fileop.Result{Change: c, Actual: actual, Adjusted: actual != c.After, Unsaved: m.unsaved, ReadBack: m.readBack}, nil
}

// fakeRunner answers each command as the test says.
type fakeRunner struct {
	run func(ctx context.Context, c proc.Command) (proc.Outcome, error)
}

func (r *fakeRunner) Run(ctx context.Context, c proc.Command) (proc.Outcome, error) {
	return r.run(ctx, c)
}

// approveAll is an Asker that says yes.
type approveAll struct{}

func (approveAll) Approve(_ context.Context, r wire.ApprovalRequest) (wire.ApprovalResponse, error) {
	return wire.ApprovalResponse{RequestID: r.ID, Response: wire.ApprovalApprove}, nil
}
func (approveAll) ResolveApproval(string, wire.Approval, string) bool { return false }

func yes(o *Options) { o.Asker = approveAll{} }

func brief(t *testing.T, v wire.ToolReturnValue) string {
	t.Helper()
	if len(v.Display) == 0 || v.Display[0].Brief == nil {
		t.Fatalf("the display does not begin with a brief: %+v", v.Display)
	}
	return v.Display[0].Brief.Text
}

func mustContain(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q does not contain %q", text, p)
		}
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
