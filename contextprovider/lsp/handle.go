package lsp

import (
	"encoding/json"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"kimi-acp/contextprovider"
	"kimi-acp/internal/fileuri"
	"kimi-acp/internal/jsonrpc"
)

// handle takes what the server says and asks. Servers stop when what they ask is not
// answered, so everything is; nothing that they ask for is done.
func (c *client) handle(call *jsonrpc.Call) {
	switch call.Method() {
	case protocol.ServerTextDocumentPublishDiagnostics:
		c.published(call.Params())
	case protocol.ServerWorkspaceConfiguration:
		call.Reply(c.configuration(call.Params()), nil)
	case protocol.ServerWorkspaceWorkspaceFolders:
		call.Reply(c.folders(), nil)
	case protocol.ServerWorkspaceApplyEdit:
		call.Reply(map[string]bool{"applied": false}, nil)
	case protocol.ServerWindowShowDocument:
		call.Reply(map[string]bool{"success": false}, nil)
	case protocol.ServerClientRegisterCapability, protocol.ServerClientUnregisterCapability,
		protocol.ServerWindowShowMessageRequest, protocol.ServerWindowWorkDoneProgressCreate,
		"workspace/diagnostic/refresh", "workspace/inlayHint/refresh", "workspace/semanticTokens/refresh", "workspace/codeLens/refresh":
		call.Reply(nil, nil)
	default:
		call.Reply(nil, jsonrpc.LSP.MethodNotFound(call.Method()))
	}
}

// maxItems bounds the settings that are asked for at once.
const maxItems = 100

// configuration gives the settings for each item that is asked for.
func (c *client) configuration(params json.RawMessage) []any {
	var p struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	out := []any{}
	if json.Unmarshal(params, &p) != nil {
		return out
	}
	for _, i := range p.Items[:min(len(p.Items), maxItems)] {
		if i.Section == "" || i.Section == c.server.Name {
			out = append(out, c.server.Settings)
		} else {
			out = append(out, c.server.Settings[i.Section])
		}
	}
	return out
}

// published takes in the problems of a file.
func (c *client) published(params json.RawMessage) {
	var p struct {
		URI         string          `json:"uri"`
		Version     json.RawMessage `json:"version"`
		Diagnostics []finding       `json:"diagnostics"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		c.log.Debug("problems that cannot be read", "bytes", len(params))
		return
	}
	path := fileuri.Path(p.URI)
	if path == "" {
		return
	}
	var version int
	if json.Unmarshal(p.Version, &version) != nil {
		version = 0
	}
	all := make([]contextprovider.Diagnostic, 0, min(len(p.Diagnostics), maxPerFile))
	for _, d := range p.Diagnostics[:cap(all)] {
		all = append(all, c.problem(path, d))
	}
	c.findings.put(path, version, c.documents.version(path), all)
	c.warm.Store(true)
}

func (c *client) problem(path string, d finding) contextprovider.Diagnostic {
	severity := contextprovider.SeverityError
	if d.Severity >= 1 && d.Severity <= 4 {
		severity = contextprovider.Severity(d.Severity)
	}
	source := d.Source
	if source == "" {
		source = c.server.Name
	}
	return contextprovider.Diagnostic{
		Path: path, Lines: contextprovider.LineRange{First: int(d.Range.Start.Line) + 1, Last: int(max(d.Range.Start.Line, d.Range.End.Line)) + 1},
		Column: int(d.Range.Start.Character) + 1, Severity: severity,
		Source: clip(source, 100), Code: clip(d.code(), 100), Message: clip(string(d.Message), maxMessage),
	}
}
