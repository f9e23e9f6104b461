// Package editors holds what is known of each editor that speaks ACP, as data:
// how it names itself, and where it differs from what the protocol leads one to
// expect.
//
// It must not act: it speaks to no editor, knows no session and no message.
// Whoever writes to an editor asks a Profile and does the acting.
package editors

import "strings"

// Profile is what is known of an editor. The zero value is an editor of which
// nothing is known, that is one which does what the protocol says.
type Profile struct {
	// Name is what people call the editor, empty when it is unknown.
	Name string

	// ReannounceCommands: the list of slash commands that follows session/new
	// directly may arrive before the editor listens for it, so it is sent again
	// with the session's first prompt.
	ReannounceCommands bool
	// HideConfigOptions: the editor fails on configOptions, so a session is
	// offered with modes alone.
	HideConfigOptions bool
	// AuthMethodsOnlyWhenLoggedOut: the editor asks the user to log in whenever
	// authMethods is not empty, so a user who is logged in gets none.
	AuthMethodsOnlyWhenLoggedOut bool
}

// entry is a row of the table. The first row that fits counts.
type entry struct {
	name    string // clientInfo.name; a trailing "." stands for every name that begins so
	release string // clientInfo.version, or its first parts; empty: every version
	profile Profile
}

func (e entry) fits(name, version string) bool {
	if e.release != "" && !strings.HasPrefix(version+".", e.release+".") {
		return false
	}
	if strings.HasSuffix(e.name, ".") {
		return strings.HasPrefix(name, e.name)
	}
	return name == e.name
}

// table is a function, so that nobody can change it.
func table() []entry {
	return []entry{
		{"zed", "", Profile{Name: "Zed", ReannounceCommands: true}},
		// IDEs name themselves JetBrains.PyCharm and so on; their versions are
		// 2026.1 or 2026.1.2.
		{"JetBrains.", "2026.1", Profile{Name: "JetBrains", HideConfigOptions: true, AuthMethodsOnlyWhenLoggedOut: true}},
		{"JetBrains.", "", Profile{Name: "JetBrains", AuthMethodsOnlyWhenLoggedOut: true}},
		{"QtCreator", "", Profile{Name: "Qt Creator"}},
		{"CodeCompanion.nvim", "", Profile{Name: "CodeCompanion"}},
		{"Agentic.nvim", "", Profile{Name: "agentic.nvim"}},
		{"hermes", "", Profile{Name: "hermes.nvim"}},
		{"agent-shell", "", Profile{Name: "agent-shell"}},
		{"vscode-acp-client", "", Profile{Name: "ACP Client for VS Code"}},
		{"vscode-acp", "", Profile{Name: "vscode-acp"}},
		{"obsidian-agent-client", "", Profile{Name: "Obsidian Agent Client"}},
		{"toad", "", Profile{Name: "toad"}},
		{"acpx", "", Profile{Name: "acpx"}},
	}
}

// For gives the profile of the editor with that clientInfo. Both may be empty,
// since clientInfo is optional.
func For(name, version string) Profile {
	for _, e := range table() {
		if e.fits(name, version) {
			return e.profile
		}
	}
	return Profile{}
}
