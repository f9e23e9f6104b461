package judge_test

import (
	"strings"
	"testing"

	"kimi-acp/internal/acptest/judge"
	"kimi-acp/internal/acptest/schema"
)

const (
	// everything is an editor that offers all that the stable protocol has.
	everything = `{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"auth":{"terminal":true},` +
		`"session":{"configOptions":{"boolean":{}},"compaction":{},"notices":{}},"elicitation":{"form":{},"url":{}}}`
	capable = `{"loadSession":true,"promptCapabilities":{"image":true,"embeddedContext":true},` +
		`"sessionCapabilities":{"list":{},"resume":{},"close":{}},"auth":{"logout":{}}}`
	started = `
>>> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":` + everything + `}}
<<< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":` + capable + `}}
>>> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
<<< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`
	// prompted is a session with an open turn, in which the call "c" was announced.
	prompted = started + `
>>> {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}
<<< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t"}}}`
	// bare is a session of an editor and an agent that offer nothing.
	bare = `
>>> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
<<< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
>>> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
<<< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
>>> {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}`
)

// update is the line of a session/update of the session "s".
func update(fields string) string {
	return "\n" + `<<< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":` + fields + `}}}`
}

func ask(method, params string) string {
	return "\n" + `<<< {"jsonrpc":"2.0","id":"a","method":"` + method + `","params":{"sessionId":"s",` + params + `}}`
}

func send(method, params string) string {
	return "\n" + `>>> {"jsonrpc":"2.0","id":9,"method":"` + method + `","params":` + params + `}`
}

func result(json string) string {
	return "\n" + `<<< {"jsonrpc":"2.0","id":9,"result":` + json + `}`
}

const (
	chunk   = `"agent_message_chunk","content":{"type":"text","text":"x"}`
	endTurn = "\n" + `<<< {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`
	done    = `"tool_call_update","toolCallId":"c","status":"completed"`
	options = `"options":[{"optionId":"y","name":"Y","kind":"allow_once"},{"optionId":"n","name":"N","kind":"reject_once"}]`
	newOne  = `{"cwd":"/w","mcpServers":[]}`
	loadOne = `{"sessionId":"old","cwd":"/w","mcpServers":[]}`
)

// A script is a connection, a line each: ">>> " from the client, "<<< " from the
// agent, "!!! " from the client as a misuse. All lines but the last are clean.
var scripts = []struct {
	name, script string
	want         string // part of what is found in the last line; empty: nothing
}{
	// Form.
	{"banner", `<<< Welcome!`, "not a JSON object"},
	{"array", `<<< []`, "not a JSON object"},
	{"two values", `<<< {"jsonrpc":"2.0","id":null} {}`, "not a JSON object"},
	{"invalid UTF-8", started + update(strings.Replace(chunk, "x", "\xff", 1)), "UTF-8"},
	{"carriage return", started + update(`"session_info_update"`) + "\r", "carriage return"},
	{"no jsonrpc", started + send("session/new", newOne) + "\n" + `<<< {"id":9,"result":{"sessionId":"t"}}`, "jsonrpc is missing"},
	{"other jsonrpc", `>>> {"jsonrpc":"1.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`, "jsonrpc is"},
	{"unknown member", prompted + "\n" + `<<< {"jsonrpc":"2.0","id":2,"extra":1,"result":{"stopReason":"end_turn"}}`, `"extra"`},
	{"result and error", prompted + "\n" + `<<< {"jsonrpc":"2.0","id":2,"result":{},"error":{"code":1,"message":"m"}}`, "exactly one"},
	{"neither", prompted + "\n" + `<<< {"jsonrpc":"2.0","id":2}`, "exactly one"},
	{"method and result", `<<< {"jsonrpc":"2.0","method":"m","result":{}}`, "beside"},
	{"method not a string", `<<< {"jsonrpc":"2.0","method":1}`, `"method"`},
	{"empty method", `<<< {"jsonrpc":"2.0","method":""}`, "empty"},
	{"params alone", `<<< {"jsonrpc":"2.0","params":{}}`, "params without"},
	{"response without id", `<<< {"jsonrpc":"2.0","result":{}}`, "has an id"},
	{"request id null", prompted + "\n" + `<<< {"jsonrpc":"2.0","id":null,"method":"_x"}`, "request id"},
	{"request id fraction", prompted + "\n" + `<<< {"jsonrpc":"2.0","id":1.5,"method":"_x"}`, "request id"},
	{"request id negative", prompted + "\n" + `<<< {"jsonrpc":"2.0","id":-1,"method":"_x"}`, ""},
	{"extension", prompted + "\n" + `<<< {"jsonrpc":"2.0","method":"_x/y","params":[1]}`, ""},

	// Ids and methods.
	{"answer to nothing", started + result(`{}`), "no open request"},
	{"answer twice", prompted + update(done) + endTurn + endTurn, "no open request"},
	{"answer with another type of id", prompted + "\n" + `<<< {"jsonrpc":"2.0","id":"2","result":{"stopReason":"end_turn"}}`, "no open request"},
	{"null answer to nothing", started + "\n" + `<<< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`, "no broken line"},
	{"null answer to a broken line", started + "\n!!! {" + "\n" + `<<< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`, ""},
	{"null result", started + "\n!!! {" + "\n" + `<<< {"jsonrpc":"2.0","id":null,"result":{}}`, "no broken line"},
	{"agent's id in use", prompted + ask("fs/read_text_file", `"path":"/w/a"`) + ask("fs/read_text_file", `"path":"/w/a"`), "in use"},
	{"client's id in use", prompted + "\n" + `>>> {"jsonrpc":"2.0","id":2,"method":"session/list"}`, "in use"},
	{"client answers nothing", started + "\n" + `>>> {"jsonrpc":"2.0","id":7,"result":{}}`, "no open request"},
	{"method of the other side", prompted + ask("session/prompt", `"prompt":[]`), "serves no method"},
	{"unknown method", prompted + ask("fs/delete", `"path":"/w/a"`), "serves no method"},
	{"draft method", started + send("session/archive", loadOne), "serves no method"},
	{"request as notification", prompted + "\n" + `<<< {"jsonrpc":"2.0","method":"fs/read_text_file","params":{"sessionId":"s","path":"/w/a"}}`, "as a notification"},
	{"notification as request", prompted + ask("session/update", `"update":{"sessionUpdate":"session_info_update"}`), "as a request"},
	{"cancel of the agent", prompted + ask("fs/read_text_file", `"path":"/w/a"`) + "\n" + `<<< {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}`, ""},
	{"params omitted", started + "\n" + `>>> {"jsonrpc":"2.0","id":9,"method":"session/list"}`, ""},
	{"error form", prompted + "\n" + `<<< {"jsonrpc":"2.0","id":2,"error":{"code":"x","message":"m"}}`, "Error"},
	{"bad params", prompted + update(`"agent_message_chunk"`), "content"},
	{"bad result", prompted + "\n" + `<<< {"jsonrpc":"2.0","id":2,"result":{"stopReason":"bored"}}`, "PromptResponse"},
	{"bad answer of the client", prompted + ask("fs/read_text_file", `"path":"/w/a"`) + "\n" + `>>> {"jsonrpc":"2.0","id":"a","result":{}}`, "content"},

	// Initialize.
	{"update before initialize", `<<< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"session_info_update"}}}`, "before the answer"},
	{"request before initialize", send("session/new", newOne), "before the answer"},
	{"version", send("initialize", `{"protocolVersion":2}`) + result(`{"protocolVersion":2}`), "want 1"},
	{"terminal auth", send("initialize", `{"protocolVersion":1}`) + result(`{"protocolVersion":1,"authMethods":[{"type":"terminal","id":"l","name":"L"}]}`), "does not offer"},
	{"two auth methods of one id", send("initialize", `{"protocolVersion":1}`) + result(`{"protocolVersion":1,"authMethods":[{"id":"l","name":"L"},{"id":"l","name":"M"}]}`), "twice"},
	{"other auth type", send("initialize", `{"protocolVersion":1}`) + result(`{"protocolVersion":1,"authMethods":[{"type":"magic","id":"l","name":"L"}]}`), "magic"},

	// Sessions.
	{"session id twice", started + send("session/new", newOne) + result(`{"sessionId":"s"}`), "given before"},
	{"empty session id", started + send("session/new", newOne) + result(`{"sessionId":""}`), "empty"},
	{"relative cwd", started + send("session/new", `{"cwd":"w","mcpServers":[]}`), "absolute"},
	{"relative directory", started + send("session/new", `{"cwd":"/w","mcpServers":[],"additionalDirectories":["x"]}`), "absolute"},
	{"update before session/new is answered", started + send("session/new", newOne) + strings.Replace(update(`"session_info_update"`), `"s"`, `"t"`, 1), "not open"},
	{"update outside of a turn", started + update(`"session_info_update","title":"t"`), ""},
	{"update after close", started + send("session/close", `{"sessionId":"s"}`) + result(`{}`) + update(`"session_info_update"`), "not open"},
	{"prompt of no session", started + send("session/prompt", `{"sessionId":"x","prompt":[]}`), "not open"},
	{"replay", started + send("session/load", loadOne) + strings.Replace(update(chunk), `"s"`, `"old"`, 1), ""},
	{"replay goes on after the answer", started + send("session/load", loadOne) + result(`{}`) + strings.Replace(update(chunk), `"s"`, `"old"`, 1), "outside of a turn"},
	{"replay with an open call", started + send("session/load", loadOne) + strings.Replace(update(`"tool_call","toolCallId":"c","title":"t"`), `"s"`, `"old"`, 1) + result(`{}`), "replay left"},
	{"update after a failed load", started + send("session/load", loadOne) + "\n" + `<<< {"jsonrpc":"2.0","id":9,"error":{"code":-32002,"message":"m"}}` + strings.Replace(update(chunk), `"s"`, `"old"`, 1), "not open"},
	{"resume replays", started + send("session/resume", loadOne) + strings.Replace(update(`"session_info_update"`), `"s"`, `"old"`, 1), "session/resume"},
	{"calls are announced anew by a replay", prompted + update(done) + endTurn + send("session/load", strings.Replace(loadOne, "old", "s", 1)) + update(`"tool_call","toolCallId":"c","title":"t","status":"completed"`) + result(`{}`), ""},
	{"list", started + send("session/list", `{}`) + result(`{"sessions":[{"sessionId":"s","cwd":"/w","updatedAt":"2026-01-02T03:04:05Z"}]}`), ""},
	{"list with a relative cwd", started + send("session/list", `{}`) + result(`{"sessions":[{"sessionId":"s","cwd":"w"}]}`), "absolute"},
	{"list with a local time", started + send("session/list", `{}`) + result(`{"sessions":[{"sessionId":"s","cwd":"/w","updatedAt":"yesterday"}]}`), "ISO 8601"},
	{"list with a session twice", started + send("session/list", `{}`) + result(`{"sessions":[{"sessionId":"s","cwd":"/w"},{"sessionId":"s","cwd":"/w"}]}`), "twice"},

	// Turns.
	{"chunk in a turn", prompted + update(chunk), ""},
	{"chunk before a turn", started + update(chunk), "outside of a turn"},
	{"chunk after a turn", prompted + update(done) + endTurn + update(chunk), "outside of a turn"},
	{"plan after a turn", prompted + update(done) + endTurn + update(`"plan","entries":[]`), "outside of a turn"},
	{"chunk in the second of two turns", prompted + update(done) + send("session/prompt", `{"sessionId":"s","prompt":[]}`) + endTurn + update(chunk), ""},
	{"cancelled", prompted + update(`"tool_call_update","toolCallId":"c","status":"failed"`) + "\n" + `>>> {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}` + "\n" + `<<< {"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}}`, ""},
	{"cancelled with an error", prompted + update(done) + "\n" + `>>> {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}` + "\n" + `<<< {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"m"}}`, "never with an error"},
	{"refused misuse leaves the turn open", prompted + "\n" + `!!! {"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}` + "\n" + `<<< {"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"m"}}` + update(chunk), ""},
	{"refused misuse", started + "\n" + `!!! {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s"}}` + "\n" + `<<< {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"m"}}`, ""},
	{"misuse by form", started + "\n" + `!!! {"jsonrpc":"2.0","id":5}` + "\n" + `<<< {"jsonrpc":"2.0","id":5,"error":{"code":-32600,"message":"m"}}`, ""},
	{"misused answer", prompted + ask("fs/read_text_file", `"path":"/w/a"`) + "\n" + `!!! {"jsonrpc":"2.0","id":"a","result":7}` + ask("fs/read_text_file", `"path":"/w/a"`), ""},

	// Tool calls.
	{"announced twice", prompted + update(`"tool_call","toolCallId":"c","title":"t"`), "announced before"},
	{"not announced", prompted + update(`"tool_call_update","toolCallId":"d"`), "not announced"},
	{"backwards", prompted + update(`"tool_call_update","toolCallId":"c","status":"in_progress"`) + update(`"tool_call_update","toolCallId":"c","status":"pending"`), "back to"},
	{"from completed to failed", prompted + update(done) + update(`"tool_call_update","toolCallId":"c","status":"failed"`), "back to"},
	{"the same status again", prompted + update(done) + update(done), ""},
	{"left open", prompted + endTurn, "left the tool call"},
	{"relative location", prompted + update(`"tool_call_update","toolCallId":"c","locations":[{"path":"a.go"}]`), "absolute"},
	{"line 0", prompted + update(`"tool_call_update","toolCallId":"c","locations":[{"path":"/w/a.go","line":0}]`), "count from 1"},
	{"relative diff", prompted + update(`"tool_call_update","toolCallId":"c","content":[{"type":"diff","path":"a","newText":""}]`), "absolute"},
	{"image in a call", prompted + update(`"tool_call_update","toolCallId":"c","content":[{"type":"content","content":{"type":"image","mimeType":"image/png","data":"?"}}]`), "base64"},
	{"terminal that is not", prompted + update(`"tool_call_update","toolCallId":"c","content":[{"type":"terminal","terminalId":"t"}]`), "not created"},
	{"member too many", prompted + update(`"tool_call_update","toolCallId":"c","turn":1`), "not defined"},

	// Permissions.
	{"permission", prompted + ask("session/request_permission", `"toolCall":{"toolCallId":"c"},`+options), ""},
	{"permission for a call not announced", prompted + ask("session/request_permission", `"toolCall":{"toolCallId":"d"},`+options), "not announced"},
	{"permission outside of a turn", prompted + update(done) + endTurn + ask("session/request_permission", `"toolCall":{"toolCallId":"c"},`+options), "outside of a turn"},
	{"no options", prompted + ask("session/request_permission", `"toolCall":{"toolCallId":"c"},"options":[]`), "no option rejects"},
	{"option id twice", prompted + ask("session/request_permission", `"toolCall":{"toolCallId":"c"},`+strings.Replace(options, `"n"`, `"y"`, 1)), "stands twice"},
	{"kind twice", prompted + ask("session/request_permission", `"toolCall":{"toolCallId":"c"},`+strings.Replace(options, `]`, `,{"optionId":"z","name":"Z","kind":"allow_once"}]`, 1)), "two options"},

	// Files, terminals, elicitation.
	{"read", prompted + ask("fs/read_text_file", `"path":"/w/a","line":1`), ""},
	{"read of a relative path", prompted + ask("fs/read_text_file", `"path":"a"`), "absolute"},
	{"read from line 0", prompted + ask("fs/read_text_file", `"path":"/w/a","line":0`), "count from 1"},
	{"write of no session", prompted + strings.Replace(ask("fs/write_text_file", `"path":"/w/a","content":""`), `"s"`, `"x"`, 1), "not open"},
	{"read not offered", bare + ask("fs/read_text_file", `"path":"/w/a"`), "does not offer"},
	{"write not offered", bare + ask("fs/write_text_file", `"path":"/w/a","content":""`), "does not offer"},
	{"terminal not offered", bare + ask("terminal/create", `"command":"x"`), "does not offer"},
	{"terminal in a relative folder", prompted + ask("terminal/create", `"command":"x","cwd":"w"`), "absolute"},
	{"terminal unknown", prompted + ask("terminal/output", `"terminalId":"t"`), "not created"},
	{
		"terminal used",
		prompted + ask("terminal/create", `"command":"x","cwd":"/w"`) + "\n" + `>>> {"jsonrpc":"2.0","id":"a","result":{"terminalId":"t"}}` +
			update(`"tool_call_update","toolCallId":"c","content":[{"type":"terminal","terminalId":"t"}]`) + ask("terminal/output", `"terminalId":"t"`), "",
	},
	{
		"terminal used after release",
		prompted + ask("terminal/create", `"command":"x"`) + "\n" + `>>> {"jsonrpc":"2.0","id":"a","result":{"terminalId":"t"}}` +
			ask("terminal/release", `"terminalId":"t"`) + "\n" + `>>> {"jsonrpc":"2.0","id":"a","result":{}}` + ask("terminal/kill", `"terminalId":"t"`), "released",
	},
	{"form not offered", bare + ask("elicitation/create", `"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}`), "does not offer"},
	{"unknown mode", prompted + ask("elicitation/create", `"message":"m","mode":"voice"`), "does not offer"},
	{"form for a call not announced", prompted + ask("elicitation/create", `"toolCallId":"d","message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}`), "not announced"},
	{"url", prompted + ask("elicitation/create", `"message":"m","mode":"url","elicitationId":"e","url":"https://x"`), ""},
	{"url without an id", prompted + ask("elicitation/create", `"message":"m","mode":"url","elicitationId":"","url":"https://x"`), "elicitation id"},
	{"complete of nothing", prompted + "\n" + `<<< {"jsonrpc":"2.0","method":"elicitation/complete","params":{"elicitationId":"e"}}`, "not created"},

	// Gates of updates and of the agent.
	{"notice not taken", bare + update(`"notice","severity":"info","title":"t"`), "does not take"},
	{"notice", prompted + update(`"notice","severity":"info","title":"t"`), ""},
	{"compaction not taken", bare + update(`"compaction_update","compactionId":"c","status":"in_progress"`), "does not take"},
	{"boolean option not taken", bare + update(`"config_option_update","configOptions":[{"id":"i","name":"N","type":"boolean","currentValue":true}]`), "does not take"},
	{"load not offered", bare + send("session/load", loadOne), "does not offer"},
	{"image not taken", bare + send("session/prompt", `{"sessionId":"s","prompt":[{"type":"image","mimeType":"image/png","data":""}]}`), "does not take"},

	// Values.
	{"image", prompted + update(`"agent_message_chunk","content":{"type":"image","mimeType":"image/png","data":"not base64!"}`), "base64"},
	{"blob", started + send("session/prompt", `{"sessionId":"s","prompt":[{"type":"resource","resource":{"uri":"file:///a","blob":"?"}}]}`), "base64"},
	{"link without a scheme", prompted + update(`"agent_message_chunk","content":{"type":"resource_link","name":"n","uri":"/w/a"}`), "scheme"},
	{"value outside", prompted + update(`"config_option_update","configOptions":[{"id":"i","name":"N","type":"select","currentValue":"z","options":[{"value":"a","name":"A"}]}]`), "none of its values"},
	{"grouped value", prompted + update(`"config_option_update","configOptions":[{"id":"i","name":"N","type":"select","currentValue":"a","options":[{"group":"g","name":"G","options":[{"value":"a","name":"A"}]}]}]`), ""},
	{"value twice", prompted + update(`"config_option_update","configOptions":[{"id":"i","name":"N","type":"select","currentValue":"a","options":[{"value":"a","name":"A"},{"value":"a","name":"B"}]}]`), "twice"},
	{"option twice", prompted + update(`"config_option_update","configOptions":[{"id":"i","name":"N","type":"boolean","currentValue":true},{"id":"i","name":"N","type":"boolean","currentValue":true}]`), "twice"},
	{"mode not published", prompted + update(`"current_mode_update","currentModeId":"yolo"`), "none of those"},
	{"mode not available", started + send("session/new", newOne) + result(`{"sessionId":"t","modes":{"currentModeId":"b","availableModes":[{"id":"a","name":"A"}]}}`), "none of those"},
	{"mode twice", started + send("session/new", newOne) + result(`{"sessionId":"t","modes":{"currentModeId":"a","availableModes":[{"id":"a","name":"A"},{"id":"a","name":"B"}]}}`), "twice"},
	{"command with a slash", prompted + update(`"available_commands_update","availableCommands":[{"name":"/init","description":"d"}]`), "slash"},
	{"draft capability", send("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`) + result(`{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"fork":{}}}}`), ""},
	{"draft capability that is no object", send("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`) + result(`{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"fork":true}}}`), "must be an object"},
	{"other draft capability", send("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`) + result(`{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"status":{}}}}`), "not defined"},
	{"draft method that is not offered", started + send("session/fork", `{"sessionId":"s","cwd":"/w"}`), "does not offer"},
	{"command", prompted + update(`"available_commands_update","availableCommands":[{"name":"init","description":"d"}]`), ""},
}

func TestJudge(t *testing.T) {
	set, err := schema.Stable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range scripts {
		t.Run(tt.name, func(t *testing.T) {
			j := judge.New(set)
			lines := strings.Split(strings.TrimPrefix(tt.script, "\n"), "\n")
			for i, line := range lines {
				found := feed(t, j, line)
				switch last := i == len(lines)-1; {
				case !last && len(found) > 0, last && tt.want == "" && len(found) > 0:
					t.Fatalf("%s\nfound %q, want nothing", line, found)
				case last && tt.want != "" && !strings.Contains(strings.Join(found, "\n"), tt.want):
					t.Fatalf("%s\nfound %q, want %q", line, found, tt.want)
				}
			}
		})
	}
}

func feed(t *testing.T, j *judge.Judge, line string) []string {
	t.Helper()
	direction, text, _ := strings.Cut(line, " ")
	switch direction {
	case ">>>":
		return j.Client([]byte(text))
	case "<<<":
		return j.Agent([]byte(text))
	case "!!!":
		j.Misuse([]byte(text))
		return nil
	}
	t.Fatalf("the script has the line %q", line)
	return nil
}

// No line may bring the judge down, whatever an agent writes.
func FuzzAgent(f *testing.F) {
	set, err := schema.Stable()
	if err != nil {
		f.Fatal(err)
	}
	for _, tt := range scripts {
		for line := range strings.SplitSeq(tt.script, "\n") {
			if text, ok := strings.CutPrefix(line, "<<< "); ok {
				f.Add([]byte(text))
			}
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		j := judge.New(set)
		for l := range strings.SplitSeq(strings.TrimPrefix(prompted, "\n"), "\n") {
			feed(t, j, l)
		}
		first := len(j.Agent(line))
		if again := len(j.Agent(line)); first > 0 && again == 0 && !strings.Contains(string(line), "toolCallId") {
			t.Errorf("%q was wrong once and right the second time", line)
		}
	})
}
