package judge

// gates are the abilities that a client offers and an agent may count on.
type gates struct {
	readFile, writeFile, terminal bool
	authTerminal, booleans        bool
	compaction, notices           bool
	elicitForm, elicitURL         bool
	plan, subagents               bool // drafts
	terminalOutput                bool // the _meta convention for live output
}

func gatesOf(capabilities map[string]any) gates {
	fs := object(capabilities, "fs")
	session := object(capabilities, "session")
	elicitation := object(capabilities, "elicitation")
	return gates{
		readFile:       flag(fs, "readTextFile"),
		writeFile:      flag(fs, "writeTextFile"),
		terminal:       flag(capabilities, "terminal"),
		authTerminal:   flag(object(capabilities, "auth"), "terminal"),
		booleans:       object(session, "configOptions")["boolean"] != nil,
		compaction:     session["compaction"] != nil,
		notices:        session["notices"] != nil,
		elicitForm:     elicitation["form"] != nil,
		elicitURL:      elicitation["url"] != nil,
		plan:           capabilities["plan"] != nil,
		subagents:      capabilities["subagents"] != nil,
		terminalOutput: flag(object(capabilities, "_meta"), "terminal_output"),
	}
}

// checkGate judges whether the agent may make this request at all.
func (j *Judge) checkGate(method string, params map[string]any) {
	offered := true
	switch method {
	case "fs/read_text_file":
		offered = j.client.readFile
	case "fs/write_text_file":
		offered = j.client.writeFile
	case "terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release":
		offered = j.client.terminal
	case "elicitation/create":
		switch mode := text(params, "mode"); mode {
		case "form":
			offered = j.client.elicitForm
		case "url":
			offered = j.client.elicitURL
		default:
			offered = false
		}
	}
	if !offered {
		j.report("%s, which the client does not offer", method)
	}
}

// checkUpdateGate judges whether the client takes this kind of update.
func (j *Judge) checkUpdateGate(kind string) {
	offered := true
	switch kind {
	case "notice":
		offered = j.client.notices
	case "compaction_update", "compaction_summary_chunk":
		offered = j.client.compaction
	case "plan_update", "plan_removed":
		offered = j.client.plan
	case "subagent_update", "session_message", "session_message_chunk":
		offered = j.client.subagents
	}
	if !offered {
		j.report("the update %s, which the client does not take", kind)
	}
}

// checkAgentGate judges whether the client may call this method of the agent.
func (j *Judge) checkAgentGate(method string) {
	sessions := object(j.agent, "sessionCapabilities")
	offered := true
	switch method {
	case "logout":
		offered = object(j.agent, "auth")["logout"] != nil
	case "session/load":
		offered = flag(j.agent, "loadSession")
	case "session/list":
		offered = sessions["list"] != nil
	case "session/delete":
		offered = sessions["delete"] != nil
	case "session/resume":
		offered = sessions["resume"] != nil
	case "session/close":
		offered = sessions["close"] != nil
	default:
		if name, draft := drafts()[method]; draft {
			offered = sessions[name] != nil
		}
	}
	if !offered {
		j.report("%s, which the agent does not offer", method)
	}
}
