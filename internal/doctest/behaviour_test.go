package doctest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"kimi-acp/fileop"
	"kimi-acp/internal/proc"
	"kimi-acp/soul/background"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// yes approves everything and remembers that it was asked.
type yes struct{ asked bool }

func (y *yes) Approve(_ context.Context, r wire.ApprovalRequest) (wire.ApprovalResponse, error) {
	y.asked = true
	return wire.ApprovalResponse{RequestID: r.ID, Response: wire.ApprovalApprove}, nil
}

func (y *yes) ResolveApproval(string, wire.Approval, string) bool { return false }

// idle runs no command and says that it went well.
type idle struct{}

func (idle) Run(context.Context, proc.Command) (proc.Outcome, error) { return proc.Outcome{}, nil }

// idleAgents are agents that do nothing and say that it went well.
type idleAgents struct{}

func (idleAgents) Run(context.Context, tool.AgentJob) tool.AgentReport {
	return tool.AgentReport{AgentID: "a0000000", Type: "coder", Text: "done"}
}

func (idleAgents) Detach(context.Context, tool.AgentJob) (background.Task, tool.AgentReport, error) {
	return background.Task{}, tool.AgentReport{}, nil
}

func (idleAgents) RunPlan(context.Context, tool.PlanJob) []tool.StepOutcome { return nil }

// The files that there are when a tool is tried out.
const (
	plainFile  = "seed.txt"
	secretFile = ".env"
)

// trial is what a call of a tool came to.
type trial struct {
	asked  bool
	result wire.ToolReturnValue
}

// try calls a tool in a folder of two files, in a mode. The path that it gets,
// where it takes one, is that of a file of the folder.
func try(t *testing.T, dir string, tried tool.Tool, mode, file string) trial {
	t.Helper()
	for _, name := range []string{plainFile, secretFile} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("seed\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	disk, err := fileop.OpenDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	asker := &yes{}
	tasks := background.New(background.Options{})
	defer tasks.Close()
	task, err := tasks.Start(t.Context(), background.Spec{Kind: background.Command}, func(context.Context, io.Writer) background.Ending { return background.Ending{} })
	if err != nil {
		t.Fatal(err)
	}
	e := tool.NewExecutor(tool.Options{
		Operator: fileop.New(fileop.Options{Disk: disk, Roots: []string{dir}}),
		Runner:   idle{}, Asker: asker, Cwd: dir, Tools: []tool.Tool{tried}, Tasks: tasks,
		Todo: tool.NewTodoList([]wire.TodoItem{{Title: "step", Status: "pending"}}),
	})
	e.UseAgents(idleAgents{})
	if err := e.SetMode(tool.Mode(mode)); err != nil {
		t.Fatal(err)
	}
	spec := tried.Spec()
	s := sampler{task: task.ID}
	arguments, err := json.Marshal(s.object(decodeSchema(t, spec.Name, spec.Parameters), file))
	if err != nil {
		t.Fatal(err)
	}
	text := string(arguments)
	result := e.CallTool(t.Context(), wire.ToolCallRequest{ID: "call", Name: spec.Name, Arguments: &text})
	return trial{asker.asked, result}
}

// outcomes says of each mode what becomes of a call: asks, allowed or refused.
func outcomes(t *testing.T, tried tool.Tool, modes []mode, file string) []string {
	t.Helper()
	dir := t.TempDir()
	// Nothing is refused here, so what fails here too fails for another reason.
	free := try(t, dir, tried, string(tool.ModeYolo), file)
	if changes := tried.Effect() == tool.Edits || tried.Effect() == tool.Runs; changes && free.result.IsError {
		t.Errorf("%s fails on the arguments that were made up for it, so what asks cannot be told: %s", tried.Spec().Name, free.result.Message)
	}
	var out []string
	for _, m := range modes {
		switch got := try(t, dir, tried, m.ID, file); {
		case got.asked:
			out = append(out, "asks")
		case got.result.IsError && got.result.Message != free.result.Message:
			out = append(out, "refused")
		default:
			out = append(out, "allowed")
		}
	}
	return out
}

// sampler makes up arguments that fit a schema: the required ones, and no text twice.
type sampler struct {
	task  string // the id of a task that there is
	texts int
}

func (s *sampler) object(o schema, file string) map[string]any {
	out := map[string]any{}
	for _, m := range o.Properties {
		if o.requires(m.name) {
			out[m.name] = s.value(m.name, m.schema, file)
		}
	}
	return out
}

func (s *sampler) value(name string, of schema, file string) any {
	switch {
	case len(of.Enum) > 0:
		return of.Enum[0]
	case name == "path":
		return file
	case name == "task_id":
		return s.task
	case name == "patch":
		return "*** Begin Patch\n*** Update File: " + file + "\n-seed\n+text\n*** End Patch\n"
	case name == "old": // stands in the file
		return "seed"
	}
	switch of.Type {
	case "object":
		return s.object(of, file)
	case "array":
		items := []any{}
		for range max(1, value(of.MinItems, 1)) {
			items = append(items, s.value("", *of.Items, file))
		}
		return items
	case "integer", "number":
		return value(of.Minimum, 1)
	case "boolean":
		return true
	}
	s.texts++
	return fmt.Sprintf("text %d", s.texts)
}
