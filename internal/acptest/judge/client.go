package judge

import (
	"strings"

	"kimi-acp/internal/acptest/schema"
)

// clientCall judges a request or a notification of the client and takes note of
// what it changes. For a request, q is what will be remembered of it.
func (j *Judge) clientCall(m *message, q *request) {
	j.callForm(m, schema.Agent)
	params := object(m.params)
	if m.method == "initialize" {
		j.client = gatesOf(object(params, "clientCapabilities"))
		return
	}
	if !j.initialized && !strings.HasPrefix(m.method, "$/") {
		j.report("%s before the answer to initialize", m.method)
	}
	j.checkAgentGate(m.method)
	id := text(params, "sessionId")
	switch m.method {
	case "session/new", "session/load", "session/resume", "session/fork":
		j.checkAbsolute("cwd", text(params, "cwd"))
		for _, entry := range list(params, "additionalDirectories") {
			path, _ := entry.(string)
			j.checkAbsolute("additional directory", path)
		}
		j.opening(m.method, id)
	case "session/prompt":
		j.prompt(m, q)
	case "session/cancel":
		if s := j.sessions[id]; s != nil && s.prompts > 0 {
			s.stopped = true
		}
	}
}

// opening prepares a session for the updates that may come before the answer.
func (j *Judge) opening(method, id string) {
	if method != "session/load" && method != "session/resume" {
		return
	}
	s := j.sessions[id]
	if s == nil {
		s = newSession()
		j.sessions[id] = s
	}
	if method == "session/load" && s.prompts == 0 {
		s.calls = map[string]*call{} // a replay announces its calls anew
	}
	s.opening = method
}

func (j *Judge) prompt(m *message, q *request) {
	offered := object(j.agent, "promptCapabilities")
	for _, entry := range list(q.params, "prompt") {
		block := object(entry)
		j.checkBlock(block)
		gate := map[string]string{"image": "image", "audio": "audio", "resource": "embeddedContext"}[text(block, "type")]
		if gate != "" && !flag(offered, gate) {
			j.report("a %s block in a prompt, which the agent does not take", text(block, "type"))
		}
	}
	id := text(q.params, "sessionId")
	s := j.sessions[id]
	if s == nil || !s.open && s.opening == "" { // behind session/load it waits
		j.report("the session %q is not open", id)
		return
	}
	if m.isRequest() {
		s.prompts++
		q.turn = s
	}
}

// clientAnswer judges a response of the client.
func (j *Judge) clientAnswer(m *message) {
	if m.hasError {
		j.check("Error", m.err)
	}
	if m.id == "null" && m.hasError {
		return // the agent wrote something that could not be read
	}
	q := j.fromAgent.take(m.id, m.hasError)
	if q == nil {
		j.report("a response with id %s, which no open request has", m.id)
		return
	}
	if !m.hasResult || strings.HasPrefix(q.method, "_") {
		return
	}
	if method, ok := j.set.Method(q.method); ok && method.Response != "" {
		j.check(method.Response, m.result)
	}
	if q.method == "terminal/create" {
		if s := j.sessions[text(q.params, "sessionId")]; s != nil {
			s.terminals[text(object(m.result), "terminalId")] = true
		}
	}
}
