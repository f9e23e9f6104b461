package kerneltest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/proc"
	"kimi-acp/soul"
	"kimi-acp/soul/kernel"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// holding is a tool during which the user says more.
type holding struct{ steer func() bool }

func (h *holding) Has(name string) bool { return name == "Hold" }

func (h *holding) CallTool(context.Context, wire.ToolCallRequest) wire.ToolReturnValue {
	return wire.ToolReturnValue{Output: wire.Output{Text: fmt.Sprint(h.steer())}, Message: "Done."}
}

// features has a kernel do what the table of docs/kernels.md tells of one: take words into
// the turn that runs, and shorten the conversation.
func features(t *testing.T, kimi kernel.Program, steers bool, compacts string) {
	t.Helper()
	share, script := t.TempDir(), filepath.Join(t.TempDir(), "script.txt")
	for path, text := range map[string]string{
		filepath.Join(share, "config.toml"): fmt.Sprintf(settings, script),
		script: "text: Hold it is.\ntool_call: {\"id\": \"hold-1\", \"name\": \"Hold\", \"arguments\": \"{}\"}\n---\ntext: Left, then.\n---\n" +
			"text: All that was said, in short.\n---\ntext: Still here.\n---\ntext: Still here.",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := wire.New()
	defer w.Close()
	hold := &holding{}
	w.HandleTools(hold)
	var heard []string
	w.Attach(wire.Merged, wire.ViewFunc(func(m wire.Message) {
		switch m := m.(type) {
		case wire.SteerInput:
			heard = append(heard, "steered: "+m.UserInput.Text)
		case wire.ContentPart:
			heard = append(heard, m.Part.Text)
		case wire.CompactionEnd:
			heard = append(heard, "compacted")
		}
	}))
	k := kernel.New(kernel.Config{
		Wire: w, Tools: []llm.ToolSpec{{Name: "Hold", Description: "Holds.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}},
		Program: kimi,
		Launch: kernel.Launch{WorkDir: t.TempDir(), SessionID: "kernel-features", Environ: append(proc.Scrub(os.Environ()),
			"KIMI_SHARE_DIR="+share, "HOME="+filepath.Dir(share), "KIMI_SCRIPTED_ECHO_SCRIPTS="+script)},
	})
	defer func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}()
	say := func(words string) string {
		t.Helper()
		heard = nil
		if _, err := k.Run(t.Context(), soul.Input{Text: words, Parts: []llm.Part{llm.Text(words)}}); err != nil {
			t.Fatalf("%s: %v", words, err)
		}
		w.Flush()
		return strings.Join(heard, "|")
	}
	hold.steer = func() bool { return k.Steer(soul.Input{Text: "Left!", Parts: []llm.Part{llm.Text("Left!")}}) }
	want := "Hold it is.|steered: Left!|Left, then."
	if !steers {
		want = "Hold it is.|Left, then."
	}
	if got := say("Go"); got != want {
		t.Errorf("steered, it said %q, want %q", got, want)
	}
	if got := say("/compact"); !strings.Contains(got, compacts) {
		t.Errorf("compacted, it said %q, want %q in it", got, compacts)
	}
	if got := say("Are you there?"); !strings.HasSuffix(got, "Still here.") {
		t.Errorf("behind that, it said %q", got)
	}
}

func TestFeaturesOfOwnBinary(t *testing.T) {
	features(t, kernel.Program{Kind: kernel.Custom, Args: strings.Fields(program.Path(t) + " wire --session {session} --agent-file {agent-file}")}, true, "compacted")
}
