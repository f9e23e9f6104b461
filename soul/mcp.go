package soul

// MCPServer is a server of the Model Context Protocol that a session is to use.
type MCPServer struct {
	Name    string
	Command string // of one that is started; "": it is spoken to by URL
	Args    []string
	Env     map[string]string // added to its environment; may hold secrets
	URL     string
	SSE     bool              // by server-sent events, and not by streamable HTTP
	Headers map[string]string // may hold secrets
}
