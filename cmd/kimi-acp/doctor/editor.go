package doctor

import "context"

// editor tells how each editor that is found here starts the agent.
func editor(_ context.Context, s *Setup) []Check {
	checks := []Check{{Name: "editor", Status: OK, Detail: "the command for your editor's settings: " + s.Self}}
	for _, e := range []struct{ program, name, where string }{
		{"zed", "Zed", `~/.config/zed/settings.json, under "agent_servers"`},
		{"zeditor", "Zed", `~/.config/zed/settings.json, under "agent_servers"`},
		{"idea", "JetBrains", `~/.jetbrains/acp.json, under "agent_servers"`},
		{"pycharm", "JetBrains", `~/.jetbrains/acp.json, under "agent_servers"`},
		{"goland", "JetBrains", `~/.jetbrains/acp.json, under "agent_servers"`},
		{"nvim", "Neovim", `the setup of CodeCompanion, adapters.acp, or of avante.nvim, acp_providers`},
		{"emacs", "Emacs", `agent-shell-kimi-acp-command, with agent-shell`},
		{"code", "VS Code", `settings.json, under "acp.agents", with the extension ACP Client`},
	} {
		if _, err := s.LookPath(e.program); err == nil {
			checks = append(checks, Check{Name: "editor", Status: Note, Detail: e.name + " is here: the command goes into " + e.where})
		}
	}
	if s.Missing == "" && !s.Model.Local {
		checks = append(checks, Check{Name: "editor", Status: Note, Detail: "an editor that was not started from this shell may lack your variables: name them under \"env\" in its settings"})
	}
	return checks
}
