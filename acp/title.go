package acp

import (
	"context"
	"time"

	"kimi-acp/soul"
)

const (
	// titleLength bounds a title made of a prompt, in code points.
	titleLength = 50
	// titleTime bounds the thinking of a better one.
	titleTime = 30 * time.Second
)

// title names the session after its first exchange that was no slash command: by its
// first words, and a moment later better, where somebody thinks of something.
func (s *session) title(text string) {
	title := soul.Shorten(text, titleLength)
	s.mu.Lock()
	skip := s.titled || title == "" || title[0] == '/'
	s.titled = s.titled || !skip
	s.mu.Unlock()
	if skip {
		return
	}
	s.setTitle(title)
	t, ok := s.mind().(soul.Titler)
	if !ok {
		return
	}
	s.agent.turns.Go(func() {
		ctx, stop := context.WithTimeout(s.agent.ctx, titleTime)
		defer stop()
		better := t.Entitle(ctx, text)
		kept := s.file()
		// The user may have given one meanwhile, or the session may be over or parked.
		if better != "" && kept != nil && kept.Title() == title {
			s.setTitle(better)
		}
	})
}

// setTitle keeps a title and shows it.
func (s *session) setTitle(title string) {
	if kept := s.file(); kept != nil {
		if err := kept.SetTitle(title); err != nil {
			s.agent.log.Warn("the title of a session was not kept", "session", s.id, "error", err)
		}
	}
	s.showTitle(title)
}
