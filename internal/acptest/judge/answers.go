package judge

import (
	"strings"
	"time"
)

// agentAnswer judges a response of the agent.
func (j *Judge) agentAnswer(m *message) {
	if m.hasError {
		j.check("Error", m.err)
	}
	if m.id == "null" {
		if !m.hasError || j.strays == 0 {
			j.report("a response with id null, and no broken line to answer")
			return
		}
		j.strays--
		return
	}
	q := j.fromClient.take(m.id, m.hasError)
	if q == nil {
		j.report("a response with id %s, which no open request has", m.id)
		return
	}
	if m.hasResult && !strings.HasPrefix(q.method, "_") {
		method, set, ok := j.method(q.method)
		result := m.result
		if q.method == "initialize" {
			result = j.withoutDrafts(result)
		}
		switch {
		case ok && method.Response != "":
			j.checkIn(set, method.Response, result)
		case !q.misuse:
			j.report("a result for %q, which has none", q.method)
		}
	}
	j.settle(q, m)
}

// settle brings the state up to date with an answer of the agent.
func (j *Judge) settle(q *request, m *message) {
	id := text(q.params, "sessionId")
	s := j.sessions[id]
	result := object(m.result)
	switch q.method {
	case "initialize":
		if m.hasResult {
			j.settleInitialize(result)
		}
	case "session/new", "session/fork":
		if m.hasResult {
			j.settleNew(result)
		}
	case "session/load", "session/resume":
		j.settleOpened(id, m)
	case "session/prompt":
		j.settlePrompt(q.turn, m)
	case "session/close", "session/delete":
		if m.hasResult && s != nil {
			s.open = false
		}
	case "session/set_config_option":
		j.checkOptions(result)
	case "session/list":
		j.checkList(result)
	}
}

func (j *Judge) settleInitialize(result map[string]any) {
	j.initialized = true
	j.agent = object(result, "agentCapabilities")
	if version, _ := result["protocolVersion"].(float64); version != 1 {
		j.report("protocolVersion is %v, want 1", result["protocolVersion"])
	}
	seen := map[string]bool{}
	for _, entry := range list(result, "authMethods") {
		method := object(entry)
		id := text(method, "id")
		if id == "" || seen[id] {
			j.report("the auth method id %q is empty or stands twice", id)
		}
		seen[id] = true
		switch kind := text(method, "type"); kind {
		case "", "agent":
		case "terminal":
			if !j.client.authTerminal {
				j.report("the auth method %q is of type terminal, which the client does not offer", id)
			}
		default:
			j.report("the auth method %q has the type %q", id, kind)
		}
	}
}

func (j *Judge) settleNew(result map[string]any) {
	id := text(result, "sessionId")
	if id == "" {
		j.report("the session id is empty")
		return
	}
	if j.sessions[id] != nil {
		j.report("the session id %q was given before", id)
	}
	s := newSession()
	s.open = true
	j.sessions[id] = s
	j.checkOptions(result)
	j.takeModes(s, result)
}

func (j *Judge) settleOpened(id string, m *message) {
	s := j.sessions[id]
	if s == nil {
		return
	}
	opening := s.opening
	s.opening = ""
	if m.hasError {
		return
	}
	s.open = true
	if opening == "session/load" && s.prompts == 0 {
		j.checkFinished(s, "the replay")
	}
	j.checkOptions(object(m.result))
	j.takeModes(s, object(m.result))
}

func (j *Judge) settlePrompt(s *session, m *message) {
	if s == nil {
		return
	}
	s.prompts--
	if s.stopped && m.hasError {
		j.report("a cancelled turn is answered with the stop reason cancelled, never with an error")
	}
	s.stopped = false
	j.checkFinished(s, "the turn")
}

func (j *Judge) checkList(result map[string]any) {
	seen := map[string]bool{}
	for _, entry := range list(result, "sessions") {
		info := object(entry)
		id := text(info, "sessionId")
		if id == "" || seen[id] {
			j.report("the session id %q is empty or stands twice in the list", id)
		}
		seen[id] = true
		j.checkAbsolute("cwd", text(info, "cwd"))
		if at := text(info, "updatedAt"); at != "" {
			if _, err := time.Parse(time.RFC3339, at); err != nil {
				j.report("updatedAt %q is not ISO 8601 with a zone", at)
			}
		}
	}
}
