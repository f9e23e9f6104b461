package soul

import "context"

func (b *Builtin) title(_ context.Context, text string) (string, error) {
	s := b.cfg.Session
	switch {
	case s == nil:
		b.say("This session has no title.")
	case text == "":
		b.say("The title is “%s”. Change it with `/title TEXT`.", s.Title())
	default:
		if err := s.SetTitle(text); err != nil {
			b.say("The title stays “%s”: %v", s.Title(), err)
			break
		}
		b.say("The title is now “%s”.", s.Title())
	}
	return "", nil
}

func (b *Builtin) fork(context.Context, string) (string, error) {
	if b.cfg.Session == nil {
		b.say("This session is not kept, so there is nothing to make a copy of.")
		return "", nil
	}
	id, title, err := b.cfg.Session.Fork()
	if err != nil {
		b.say("No copy was made: %v", err)
		return "", nil
	}
	b.say("“%s” now stands among the sessions (`%s`). Open it there to go on in another direction; this one goes on as it is.", title, id)
	return "", nil
}
