//go:build clients

package clienttest

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// runTime bounds one run of a client.
const runTime = time.Minute

// generation is a version of the SDK and how the test drives it.
type generation struct {
	name   string   // in testdata/package.json
	driver string   // in testdata
	tooNew []string // updates of ours that this version does not know: it logs and drops them
}

var generations = []generation{
	{name: "sdk-0.4.5", driver: "connection.mjs", tooNew: []string{"session_info_update", "usage_update"}},
	{name: "sdk-0.14.1", driver: "connection.mjs"},
	{name: "sdk-0.21.1", driver: "connection.mjs"},
	{name: "sdk-1.4.0", driver: "connection.mjs"},
	{name: "sdk-2.4.0", driver: "app.mjs"},
}

// plan is what testdata/editor.mjs is told to do.
type plan struct {
	SDK         string            `json:"sdk"`
	Agent       []string          `json:"agent"`
	Cwd         string            `json:"cwd"`
	Prompts     []string          `json:"prompts"`
	Buffers     map[string]string `json:"buffers,omitempty"`
	Answer      string            `json:"answer,omitempty"`
	CancelAfter int               `json:"cancelAfter,omitempty"`
}

// summary is what testdata/editor.mjs tells of a run.
type summary struct {
	ProtocolVersion int
	Turns           []turn
	Permissions     []permission
	Reads           []string
	Writes          []write
	Calls           map[string]string // last status by id
	Sent, Handled   map[string]int    // updates by kind
	StrayLines      []string
	AgentExit       any // exit code, or the name of a signal
	AgentLog        string
	Failure         string
}

type turn struct{ StopReason, Text string }

type permission struct {
	ToolCallID string
	Kind       string
	Options    []string
	Diffs      []diff
}

type diff struct {
	Path    string
	OldText *string // nil: a new file
	NewText string
}

type write struct{ Path, Content string }

// play lets a generation of the SDK carry out a plan on a desk, and checks what
// must hold in every run.
func play(t *testing.T, d desk, node string, g generation, p plan) summary {
	t.Helper()
	p.Cwd = d.dir
	arg, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), runTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, filepath.Join("testdata", g.driver), string(arg))
	cmd.Env, cmd.WaitDelay = d.env, time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	runErr := cmd.Run()
	var s summary
	if err := json.Unmarshal(stdout.Bytes(), &s); err != nil {
		t.Fatalf("the client said nothing of use: %v, %v\nstdout: %s\nstderr: %s", runErr, err, &stdout, &stderr)
	}
	if runErr != nil || s.Failure != "" {
		t.Fatalf("the client failed: %v: %s\nso far: %+v\nstderr: %s", runErr, s.Failure, s, &stderr)
	}
	s.check(t, g)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("stderr of the client: %s\nlog of the agent: %s", &stderr, s.AgentLog)
		}
	})
	return s
}

// check holds for every run: the agent speaks JSON lines only, the SDK rejects no
// update that it can know, every tool call is closed, and the agent leaves by
// itself.
func (s summary) check(t *testing.T, g generation) {
	t.Helper()
	if s.ProtocolVersion != 1 {
		t.Errorf("protocol version %d, want 1", s.ProtocolVersion)
	}
	if len(s.StrayLines) > 0 {
		t.Errorf("lines on stdout that are no JSON: %q", s.StrayLines)
	}
	known := maps.Clone(s.Sent)
	maps.DeleteFunc(known, func(kind string, _ int) bool { return slices.Contains(g.tooNew, kind) })
	if d := cmp.Diff(known, s.Handled); d != "" {
		t.Errorf("updates that the agent sent (-) and that the SDK let through (+):\n%s", d)
	}
	for id, status := range s.Calls {
		if status != "completed" && status != "failed" {
			t.Errorf("the tool call %s was left %s", id, status)
		}
	}
	if s.AgentExit != float64(0) {
		t.Errorf("the agent ended with %v, want 0", s.AgentExit)
	}
}

// testGeneration plays every scenario with one version of the SDK.
func testGeneration(t *testing.T, agent, node string, g generation, sdk string) {
	for _, sc := range []struct {
		name string
		test func(t *testing.T, play func(desk, plan) summary)
	}{
		{"edit", testEdit},
		{"reject", testReject},
		{"cancel while it answers", testCancelAnswer},
		{"cancel while it asks", testCancelQuestion},
	} {
		t.Run(sc.name, func(t *testing.T) {
			sc.test(t, func(d desk, p plan) summary {
				t.Helper()
				p.SDK, p.Agent = sdk, []string{agent}
				return play(t, d, node, g, p)
			})
			checkNoneLeft(t, agent)
		})
	}
}
