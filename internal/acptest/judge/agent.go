package judge

import "kimi-acp/internal/acptest/schema"

// agentCall judges a request or a notification of the agent.
func (j *Judge) agentCall(m *message) {
	j.callForm(m, schema.Client)
	params := object(m.params)
	if m.isRequest() {
		if len(j.fromAgent[m.id]) > 0 {
			j.report("request id %s is in use", m.id)
		}
		j.fromAgent.add(m.id, &request{method: m.method, params: params})
		j.checkGate(m.method, params)
	}
	switch m.method {
	case "session/update":
		j.update(params)
	case "session/request_permission":
		j.permission(params)
	case "fs/read_text_file", "fs/write_text_file":
		j.known(params)
		j.checkAbsolute("path", text(params, "path"))
		if line, ok := params["line"].(float64); ok && line < 1 {
			j.report("line %v: lines count from 1", line)
		}
	case "terminal/create":
		j.known(params)
		if cwd := text(params, "cwd"); cwd != "" {
			j.checkAbsolute("cwd", cwd)
		}
	case "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release":
		j.terminal(m.method, params)
	case "elicitation/create":
		j.elicitation(params)
	case "elicitation/complete":
		if id := text(params, "elicitationId"); !j.elicitations[id] {
			j.report("the elicitation %q was not created", id)
		}
	}
}

// known gives the open session that params name, and says so when there is none.
func (j *Judge) known(params map[string]any) *session {
	id := text(params, "sessionId")
	s := j.sessions[id]
	if s == nil || (!s.open && s.opening == "") {
		j.report("the session %q is not open", id)
		return nil
	}
	return s
}

// update judges a session/update.
func (j *Judge) update(params map[string]any) {
	u := object(params, "update")
	kind := text(u, "sessionUpdate")
	s := j.known(params)
	if s == nil {
		return
	}
	if s.opening == "session/resume" && !s.open {
		j.report("an update before the answer to session/resume")
	}
	j.checkUpdateGate(kind)
	switch kind {
	case "user_message_chunk", "agent_message_chunk", "agent_thought_chunk":
		j.inTurn(s, kind)
		j.checkBlock(object(u, "content"))
	case "tool_call":
		j.inTurn(s, kind)
		j.announce(s, u)
	case "tool_call_update":
		j.inTurn(s, kind)
		j.change(s, u)
	case "plan":
		j.inTurn(s, kind)
	case "available_commands_update":
		j.checkCommands(u)
	case "current_mode_update":
		j.checkMode(s, text(u, "currentModeId"))
	case "config_option_update":
		j.checkOptions(u)
	}
}

// inTurn says when something that belongs to a turn, or to a replay, comes
// outside of both.
func (j *Judge) inTurn(s *session, kind string) {
	if s.prompts == 0 && s.opening != "session/load" {
		j.report("%s outside of a turn: no prompt of the session is open", kind)
	}
}

func (j *Judge) permission(params map[string]any) {
	s := j.known(params)
	if s == nil {
		return
	}
	if s.prompts == 0 {
		j.report("a permission request outside of a turn")
	}
	j.change(s, object(params, "toolCall"))
	// Editors may merge the options of one kind, so an approval has one of each. A
	// question, which is a call of kind other, has an option for each answer.
	question := text(object(params, "toolCall"), "kind") == "other"
	ids, kinds := map[string]bool{}, map[string]bool{}
	for _, entry := range list(params, "options") {
		option := object(entry)
		id, kind := text(option, "optionId"), text(option, "kind")
		if id == "" || ids[id] {
			j.report("the option id %q is empty or stands twice", id)
		}
		if kinds[kind] && !question {
			j.report("two options of the kind %s", kind)
		}
		ids[id], kinds[kind] = true, true
	}
	if !kinds["reject_once"] && !kinds["reject_always"] {
		j.report("no option rejects")
	}
}

func (j *Judge) terminal(method string, params map[string]any) {
	s := j.known(params)
	if s == nil {
		return
	}
	id := text(params, "terminalId")
	alive, made := s.terminals[id]
	switch {
	case !made:
		j.report("the terminal %q was not created in this session", id)
	case !alive:
		j.report("the terminal %q was released", id)
	case method == "terminal/release":
		s.terminals[id] = false
	}
}

func (j *Judge) elicitation(params map[string]any) {
	if _, ok := params["sessionId"]; ok {
		if s := j.known(params); s != nil {
			if id := text(params, "toolCallId"); id != "" && s.calls[id] == nil {
				j.report("the tool call %q was not announced", id)
			}
		}
	}
	if text(params, "mode") != "url" {
		return
	}
	id := text(params, "elicitationId")
	if id == "" || j.elicitations[id] {
		j.report("the elicitation id %q is empty or was used before", id)
	}
	j.elicitations[id] = true
}
