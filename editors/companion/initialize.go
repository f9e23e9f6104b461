package companion

import (
	"encoding/json"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/internal/fileuri"
)

// greeting is what counts of the params of initialize. They are read leniently, and
// not by glsp: the type there lacks the encodings, and a capability of an odd type
// must not keep an editor out.
type greeting struct {
	ClientInfo struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"clientInfo"`
	RootPath         string                     `json:"rootPath"`
	RootURI          string                     `json:"rootUri"`
	WorkspaceFolders []protocol.WorkspaceFolder `json:"workspaceFolders"`
	Capabilities     struct {
		General struct {
			PositionEncodings []string `json:"positionEncodings"`
		} `json:"general"`
		TextDocument struct {
			CodeAction struct {
				LiteralSupport json.RawMessage `json:"codeActionLiteralSupport"`
			} `json:"codeAction"`
		} `json:"textDocument"`
	} `json:"capabilities"`
}

// roots are the folders of the workspace. An editor that names none was started in
// one, if in any: dir, which may be empty.
func (g *greeting) roots(dir string) []string {
	var roots []string
	for _, folder := range g.WorkspaceFolders {
		if path := fileuri.Path(folder.URI); path != "" {
			roots = append(roots, path)
		}
	}
	if len(roots) == 0 {
		if path := fileuri.Path(g.RootURI); path != "" {
			roots = append(roots, path)
		} else if g.RootPath != "" {
			roots = append(roots, g.RootPath)
		} else if dir != "" {
			roots = append(roots, dir)
		}
	}
	return roots
}

// welcome is the answer to initialize.
type welcome struct {
	Capabilities capabilities                        `json:"capabilities"`
	ServerInfo   protocol.InitializeResultServerInfo `json:"serverInfo"`
}

type capabilities struct {
	protocol.ServerCapabilities
	PositionEncoding encoding `json:"positionEncoding"`
}

// capabilitiesOf says what the server does: glsp derives it from the methods that
// have a handler.
func capabilitiesOf(h *protocol.Handler, units encoding) capabilities {
	c := h.CreateServerCapabilities()
	c.CodeActionProvider = protocol.CodeActionOptions{CodeActionKinds: []string{protocol.CodeActionKindQuickFix, kindAsk}}
	c.ExecuteCommandProvider = &protocol.ExecuteCommandOptions{Commands: []string{commandAsk, commandFix}}
	yes := true
	c.Workspace = &protocol.ServerCapabilitiesWorkspace{WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{
		Supported: &yes, ChangeNotifications: &protocol.BoolOrString{Value: true},
	}}
	return capabilities{c, units}
}

// foldersIn gives the paths of folders.
func foldersIn(folders []protocol.WorkspaceFolder) (paths []string) {
	for _, folder := range folders {
		if path := fileuri.Path(folder.URI); path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}
