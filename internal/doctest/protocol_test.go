package doctest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kimi-acp/internal/jsonrpc"
)

// protocol is what the schemas of ACP v1 name, the drafts among it.
type protocol struct {
	agent, client map[string]bool // methods, by who serves them
	updates       map[string]bool // kinds of session/update
}

func readProtocol(t *testing.T) protocol {
	t.Helper()
	p := protocol{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, name := range []string{"schema.json", "schema.unstable.json"} {
		data, err := os.ReadFile(filepath.Join(home, "internal", "acptest", "schema", name))
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			Defs map[string]struct {
				Method string `json:"x-method"`
				Side   string `json:"x-side"`
				OneOf  []struct {
					Properties struct {
						SessionUpdate struct {
							Const string `json:"const"`
						} `json:"sessionUpdate"`
					} `json:"properties"`
				} `json:"oneOf"`
			} `json:"$defs"`
		}
		if err := json.Unmarshal(data, &schema); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, d := range schema.Defs {
			switch d.Side {
			case "agent":
				p.agent[d.Method] = true
			case "client":
				p.client[d.Method] = true
			case "protocol":
				p.agent[d.Method], p.client[d.Method] = true, true
			}
		}
		for _, u := range schema.Defs["SessionUpdate"].OneOf {
			p.updates[u.Properties.SessionUpdate.Const] = true
		}
	}
	delete(p.updates, "")
	if len(p.agent) < 10 || len(p.client) < 10 || len(p.updates) < 10 {
		t.Fatalf("the schemas name %d, %d and %d things, which cannot be all", len(p.agent), len(p.client), len(p.updates))
	}
	return p
}

// words say of a name that the code has what the code cannot say.
type words struct{ name, when, what string }

// The methods that the agent serves.
var servedWords = []words{
	{"initialize", "first", "says what both sides can do; the one version is 1"},
	{"authenticate", "`authMethods` is not empty", "succeeds when a key is set; there is nothing else to do"},
	{"session/new", "always", "makes a session in `cwd`, with `additionalDirectories` as further roots"},
	{"logout", "`auth.logout`", "no session is made or opened on this connection until it authenticates again; the key stays where it is"},
	{"session/load", "`loadSession`", "opens a session that is kept, and shows all of it before the answer; `cwd` must be the one it was made in"},
	{"session/resume", "`sessionCapabilities.resume`", "opens a session that is kept, and shows nothing"},
	{"session/list", "`sessionCapabilities.list`", "sessions in which something was said, the latest first, 50 in a page; `cwd` is an exact filter"},
	{"session/fork", "`sessionCapabilities.fork`, of the draft", "makes a session that begins with all that another one holds"},
	{"session/set_title", "`sessionCapabilities.title`, of the draft", "gives a session a title, which is not replaced by one of ours"},
	{"session/close", "`sessionCapabilities.close`", "cancels what runs and waits, answers it, and lets go of the session, which stays on disk"},
	{"session/delete", "`sessionCapabilities.delete`", "closes a session and removes it for good; one that is not there is fine"},
	{"session/prompt", "always", "runs a turn; blocks of text, image, resource and resource_link"},
	{"session/cancel", "always", "a notification: ends the turn that runs, and keeps the prompts that wait"},
	{"session/set_mode", "the session has `modes`", "turns a mode on, at once"},
	{"session/set_config_option", "the session has `configOptions`", "mode, model and thinking level; answers with the whole list"},
	{"session/set_model", "old editors", "gone from the protocol; does what the option `model` does"},
	{"$/cancel_request", "always", "a notification: cancels the request with that id; for a prompt that is a cancel, also while it waits"},
}

// What the agent asks of the editor.
var calledWords = []words{
	{"session/update", "always", "shows what happens, see below"},
	{"session/request_permission", "always", "asks for an edit or a command; also for a choice, where there are no forms"},
	{"fs/read_text_file", "`fs.readTextFile`", "reads what the user sees; otherwise the disk is read"},
	{"fs/write_text_file", "`fs.writeTextFile`", "writes a file, and reads it back; otherwise the disk is written"},
	{"terminal/create", "`terminal`, not on Windows", "runs a command in a terminal of the editor's; otherwise it runs here"},
	{"terminal/wait_for_exit", "the same", "waits for the command"},
	{"terminal/output", "the same", "reads what it printed"},
	{"terminal/kill", "the same", "ends a command that took too long or was cancelled"},
	{"terminal/release", "the same", "lets go of the terminal, once"},
	{"elicitation/create", "`elicitation.form`", "puts the model's questions as one form; otherwise they come as permissions, one by one"},
	{"$/cancel_request", "always", "a notification: calls off what nobody waits for any more"},
}

// The kinds of session/update that are sent.
var updateWords = []words{
	{"user_message_chunk", "in session/load", "a block of what the user said, as it was sent"},
	{"agent_message_chunk", "always", "a piece of the answer, with a `messageId`"},
	{"agent_thought_chunk", "always", "a piece of a thought, with an id of its own"},
	{"tool_call", "always", "a call begins; its arguments may still be streaming"},
	{"tool_call_update", "always", "what changed: arguments, status, the growing diff, output, the end"},
	{"plan", "always", "the to-do list, whole, each time it changes"},
	{"available_commands_update", "always", "the slash commands, behind session/new, and once more with the first prompt for Zed and for editors that we do not know"},
	{"current_mode_update", "always", "the mode was changed by the option or by a slash command"},
	{"config_option_update", "not for JetBrains 2026.1, which fails on it", "options were changed by set_mode, set_model or a slash command; the whole list"},
	{"session_info_update", "always", "the title, behind the first exchange that was no slash command, or when somebody gives another one"},
	{"usage_update", "always", "tokens in use and the size of the context, at the end of a step and of a compaction"},
	{"compaction_update", "`session.compaction`", "the conversation is being compacted, was, or was stopped while it was: [compaction.md](compaction.md)"},
	{"notice", "`session.notices`", "the model did not answer and is asked again; a session that is opened again has lost its model"},
}

// wordTable shows what was found in the order of the words, which must be about
// just that.
func wordTable(t *testing.T, what string, found map[string]bool, list []words) string {
	t.Helper()
	var rows [][]string
	for _, w := range list {
		if !found[w.name] {
			t.Errorf("%s: there are words about %s, which is not in the code any more", what, w.name)
		}
		rows = append(rows, []string{code(w.name), w.when, w.what})
	}
	for name := range found {
		if !slices.ContainsFunc(list, func(w words) bool { return w.name == name }) {
			t.Errorf("%s: %s is in the code, and there are no words about it", what, name)
		}
	}
	return table([]string{what, "when", "what for"}, rows)
}

// served finds the methods that an agent answers. Notifications have no answers:
// they are looked for in the code.
func served(t *testing.T, p protocol) map[string]bool {
	t.Helper()
	names := []string{"session/set_model", "_anything"}
	for name := range p.agent {
		names = append(names, name)
	}
	var requests []request
	for _, name := range names {
		requests = append(requests, request{name, "{}"})
	}
	found := map[string]bool{}
	for i, a := range ask(t, requests...)[1:] {
		if a.Error == nil || a.Error.Code != jsonrpc.CodeMethodNotFound {
			found[names[i]] = true
		}
	}
	if found["_anything"] {
		t.Error("the agent answers whatever it is asked, so this tells nothing")
	}
	if parse(t, "acp", false).words()["AgentMethodSessionCancel"] {
		found["session/cancel"] = true
	}
	found[jsonrpc.ACP.CancelMethod] = true
	return found
}

// called finds those of names that the code mentions, as they are or as the SDK
// names them.
func called(t *testing.T, names map[string]bool) map[string]bool {
	t.Helper()
	mentioned := parse(t, "acp", false).words()
	found := map[string]bool{}
	for name := range names {
		if mentioned[name] || mentioned["ClientMethod"+camel(name)] {
			found[name] = true
		}
	}
	return found
}

func camel(method string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(method, func(r rune) bool { return r == '/' || r == '_' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func TestCamel(t *testing.T) {
	if got := camel("terminal/wait_for_exit"); got != "TerminalWaitForExit" {
		t.Error(got)
	}
}

// offer is what the agent says of itself.
func offer(t *testing.T) string {
	var b bytes.Buffer
	if err := json.Indent(&b, ask(t)[0].Result, "", "  "); err != nil {
		t.Fatal(err)
	}
	return "```json\n" + b.String() + "\n```"
}

// limitsPart is a table of what is bounded, in the words of a person.
func limitsPart(t *testing.T) string {
	adapter, rpc := parse(t, "acp", false), parse(t, "internal/jsonrpc", false)
	var rows [][]string
	for _, l := range []struct {
		of         source
		name, unit string
		what       string
	}{
		{rpc, "DefaultMaxMessage", "bytes", "one line of the editor's; a longer one is refused under its id, and the next one is read"},
		{rpc, "DefaultMaxCalls", "", "requests of the editor's at a time; more get -32603"},
		{rpc, "maxID", "bytes", "the id of a request"},
		{adapter, "maxSessions", "", "sessions of one connection; more get -32600"},
		{adapter, "maxQueued", "", "prompts that wait in one session; more get -32600"},
		{adapter, "maxOutput", "bytes", "output that waits for a slow editor; then the model waits"},
		{adapter, "maxChunk", "bytes", "text of one update; longer text is split between characters"},
		{adapter, "terminalBytes", "bytes", "output that an editor's terminal is asked to keep"},
		{adapter, "maxAnswer", "bytes", "an answer to a question in the user's own words; a longer one is dropped"},
		{adapter, "titleLength", "characters", "a title that is made of the first prompt"},
		{adapter, "maxEcho", "bytes", "what an error repeats of the editor's input"},
	} {
		rows = append(rows, []string{l.what, amount(l.of.number(t, l.name), l.unit)})
	}
	return table([]string{"what", "at most"}, rows)
}

func amount(n int64, unit string) string {
	switch {
	case unit == "bytes" && n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case unit == "bytes" && n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", n, unit))
}

func TestACP(t *testing.T) {
	p := readProtocol(t)
	serves := served(t, p)
	calls := called(t, p.client)
	calls[jsonrpc.ACP.CancelMethod] = true // sent by the core, for whatever is called off
	hold(t, "acp.md", map[string]string{
		"offer":     offer(t),
		"methods":   wordTable(t, "method", serves, servedWords),
		"calls":     wordTable(t, "method", calls, calledWords),
		"updates":   wordTable(t, "update", called(t, p.updates), updateWords),
		"limits":    limitsPart(t),
		"checklist": checklistPart(t, serves),
	})
}
