package soul

import "kimi-acp/soul/llm"

// UseTools changes what the model may call. The list stands at the beginning of every
// request, so once one was sent it stays as it is until the conversation is compacted or
// cleared: else all that a provider keeps of the conversation would be lost. It is called
// between turns.
func (b *Builtin) UseTools(specs []llm.ToolSpec) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked && !b.cfg.Profile.changesTools {
		b.late = append([]llm.ToolSpec{}, specs...)
		return
	}
	b.useTools(specs)
}

// renewTools takes the tools that came since the list was told.
func (b *Builtin) renewTools() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.late != nil {
		b.useTools(b.late)
	}
}

// useTools changes the list; mu is held.
func (b *Builtin) useTools(specs []llm.ToolSpec) {
	b.tools, b.known, b.late = specs, map[string]bool{}, nil
	fixed := llm.EstimateText(b.record.system)
	for _, t := range specs {
		b.known[t.Name] = true
		fixed += llm.EstimateTool(t)
	}
	for _, name := range b.cfg.Profile.hidden {
		b.known[name] = true
	}
	b.history.hold(fixed)
}

// tellTools gives the tools for a request; from then on they are known to the model.
func (b *Builtin) tellTools() []llm.ToolSpec {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = true
	return b.tools
}
