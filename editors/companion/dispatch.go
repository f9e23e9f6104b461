package companion

import (
	"encoding/json"

	"github.com/tliron/glsp"
	protocol "github.com/tliron/glsp/protocol_3_16"
)

// senses gives the handlers that take in what an editor tells and asks. None of them
// waits for anything, and what they answer is that there is nothing to say.
func (d *desk) senses() *protocol.Handler {
	return &protocol.Handler{
		Initialized: func(*glsp.Context, *protocol.InitializedParams) error { return nil },
		SetTrace:    func(*glsp.Context, *protocol.SetTraceParams) error { return nil },
		TextDocumentDidOpen: func(_ *glsp.Context, p *protocol.DidOpenTextDocumentParams) error {
			d.open(p.TextDocument)
			return nil
		},
		TextDocumentDidChange: func(_ *glsp.Context, p *protocol.DidChangeTextDocumentParams) error {
			d.edit(p.TextDocument, p.ContentChanges)
			return nil
		},
		TextDocumentDidSave: func(_ *glsp.Context, p *protocol.DidSaveTextDocumentParams) error {
			d.save(p.TextDocument.URI)
			return nil
		},
		TextDocumentDidClose: func(_ *glsp.Context, p *protocol.DidCloseTextDocumentParams) error {
			d.close(p.TextDocument.URI)
			return nil
		},
		TextDocumentDocumentHighlight: func(_ *glsp.Context, p *protocol.DocumentHighlightParams) ([]protocol.DocumentHighlight, error) {
			d.cursor(p.TextDocument.URI, p.Position)
			return []protocol.DocumentHighlight{}, nil
		},
		TextDocumentCodeAction: func(c *glsp.Context, p *protocol.CodeActionParams) (any, error) {
			var whole actionParams // glsp loses the codes
			if err := json.Unmarshal(c.Params, &whole); err != nil {
				return nil, err
			}
			d.asked(p.TextDocument.URI, p.Range, whole.Context.Diagnostics)
			return []any{}, nil
		},
		WorkspaceDidChangeWorkspaceFolders: func(_ *glsp.Context, p *protocol.DidChangeWorkspaceFoldersParams) error {
			d.moveRoots(foldersIn(p.Event.Added), foldersIn(p.Event.Removed))
			return nil
		},
		WorkspaceDidChangeConfiguration: func(*glsp.Context, *protocol.DidChangeConfigurationParams) error { return nil },
	}
}

// actionParams is what counts of the params of a request for code actions beyond what
// glsp has.
type actionParams struct {
	Context struct {
		Diagnostics []finding `json:"diagnostics"`
		TriggerKind int       `json:"triggerKind"`
	} `json:"context"`
}

// triggeredAutomatically is the kind of a request for code actions that nobody made:
// the editor asks to know whether to show that there are some.
const triggeredAutomatically = 2
