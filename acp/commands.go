package acp

import (
	"slices"

	"kimi-acp/soul"
)

// announceCommands sends the complete list of slash commands.
func (s *session) announceCommands() {
	commands := s.mind().Commands()
	s.mu.Lock()
	s.commands = commands
	s.mu.Unlock()
	list := commandsUpdate{SessionUpdate: "available_commands_update", AvailableCommands: []availableCommand{}}
	for _, c := range commands {
		cmd := availableCommand{Name: c.Name, Description: c.Description}
		if c.Hint != "" {
			cmd.Input = &commandInput{Hint: c.Hint}
		}
		list.AvailableCommands = append(list.AvailableCommands, cmd)
	}
	s.update(list)
}

// commandsChanged announces the commands again when they are others: a kernel in another
// program tells its own once it runs.
func (s *session) commandsChanged() {
	s.mu.Lock()
	known := s.commands
	s.mu.Unlock()
	if !slices.EqualFunc(known, s.mind().Commands(), func(a, b soul.Command) bool {
		return a.Name == b.Name && a.Description == b.Description && a.Hint == b.Hint
	}) {
		s.announceCommands()
	}
}
