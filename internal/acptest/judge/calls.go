package judge

import "slices"

// call is a tool call as the client knows it.
type call struct {
	status string
}

// rank orders the statuses; a call never goes to a lower one. Completed and
// failed are both final.
var rank = map[string]int{"pending": 0, "in_progress": 1, "completed": 2, "failed": 2}

func (j *Judge) announce(s *session, u map[string]any) {
	id := text(u, "toolCallId")
	if id == "" || s.calls[id] != nil {
		j.report("the tool call id %q is empty or was announced before", id)
		return
	}
	c := &call{status: "pending"}
	if status := text(u, "status"); status != "" {
		c.status = status
	}
	s.calls[id] = c
	j.checkCall(s, u)
}

func (j *Judge) change(s *session, u map[string]any) {
	id := text(u, "toolCallId")
	c := s.calls[id]
	if c == nil {
		j.report("the tool call %q was not announced", id)
		return
	}
	if status := text(u, "status"); status != "" && status != c.status {
		if rank[status] <= rank[c.status] {
			j.report("the tool call %q goes from %s back to %s", id, c.status, status)
		}
		c.status = status
	}
	j.checkCall(s, u)
}

// checkCall judges the members that an announcement and a change have in common.
func (j *Judge) checkCall(s *session, u map[string]any) {
	for _, entry := range list(u, "locations") {
		location := object(entry)
		j.checkAbsolute("location", text(location, "path"))
		if line, ok := location["line"].(float64); ok && line < 1 {
			j.report("line %v: lines count from 1", line)
		}
	}
	for _, entry := range list(u, "content") {
		item := object(entry)
		switch text(item, "type") {
		case "content":
			j.checkBlock(object(item, "content"))
		case "diff":
			j.checkAbsolute("diff", text(item, "path"))
		case "terminal":
			if _, made := s.terminals[text(item, "terminalId")]; !made && !j.client.terminalOutput {
				j.report("the terminal %q was not created in this session", text(item, "terminalId"))
			}
		}
	}
}

// checkFinished says which calls something left open that has ended, and counts
// them as failed, as clients do.
func (j *Judge) checkFinished(s *session, what string) {
	var open []string
	for id, c := range s.calls {
		if rank[c.status] < rank["failed"] {
			open = append(open, id)
			c.status = "failed"
		}
	}
	slices.Sort(open)
	for _, id := range open {
		j.report("%s left the tool call %q open", what, id)
	}
}
