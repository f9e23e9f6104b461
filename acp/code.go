package acp

import (
	"kimi-acp/contextprovider"
	"kimi-acp/soul/tool"
)

// Code is what can be asked about the programs of a session's workspace. The zero value
// knows nothing.
type Code struct {
	Ask       contextprovider.Code       // for the model's questions; nil: none are taken
	Renames   bool                       // whether Ask can rename anything on this machine
	Checker   tool.Checker               // finds what edits break; nil: nobody looks
	Providers []contextprovider.Provider // tell of it with each prompt
	Close     func()                     // ends it; nil when there is nothing to end
}

// tools are those that ask about code.
func (c Code) tools() []tool.Tool {
	if c.Ask == nil {
		return nil
	}
	return tool.CodeTools(c.Ask, c.Renames)
}

// openCode makes what can be asked about the session's programs. It starts nothing.
func (s *session) openCode(spec MomentSpec) {
	if s.agent.opts.Code == nil {
		return
	}
	s.code = s.agent.opts.Code(spec)
	if s.code.Close != nil {
		s.closers = append(s.closers, s.code.Close)
	}
}
