package wireserver

import "kimi-acp/soul/wire"

// Info is what clients ask for before they start a server, under kimi-cli's names.
type Info struct {
	KimiVersion   string   `json:"kimi_cli_version"`
	AgentSpecs    []string `json:"agent_spec_versions"` // of agent files
	Wire          string   `json:"wire_protocol_version"`
	Python        string   `json:"python_version"` // there is none
	ServerName    string   `json:"server_name"`
	ServerVersion string   `json:"server_version"`
}

// Versions is the Info of this server. Like the answer to initialize it names the
// kimi-cli whose manners are served.
func Versions() Info {
	return Info{
		KimiVersion: serverVersion, AgentSpecs: []string{"1"}, Wire: wire.Version, Python: "n/a",
		ServerName: serverName, ServerVersion: serverVersion,
	}
}
