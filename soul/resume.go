package soul

import (
	"strings"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

const (
	// minKept is how much text an attempt must have said, in bytes, to be gone on
	// from. Less is said again sooner than it is explained.
	minKept = 200
	// minAgain is how far, in bytes, an attempt must repeat the text that it was to
	// go on from to count as one that begins again.
	minAgain = 64
)

// goOn asks a model to go on from where an attempt broke off.
const goOn = "<system>The connection broke in the middle of your answer, right behind the text above, which the user still sees. " +
	"Go on with the very next character: repeat nothing of it and do not mention the break. Calls of tools that you had begun were lost; make them again.</system>"

// keep notes what a failed attempt said. One that did not get beyond what was said
// before it changes nothing.
func (s *asking) keep(a *assembler) {
	s.untold = a.kept != ""
	if s.untold {
		return
	}
	a.closePart()
	s.said = nil
	if len(textOf(a.parts)) >= minKept {
		s.said = a.parts
	}
}

// leave lets what was said enter the history when the step fails for good, so that the
// user, who sees it, can have the model go on from it with the next message.
func (s *asking) leave() {
	if s.said == nil {
		return
	}
	b := s.soul
	if s.untold {
		b.cfg.Wire.Send(wire.ContentPart{Part: llm.Text(textOf(s.said))})
	}
	b.commit(&assembler{}, llm.Message{Role: llm.RoleAssistant, Content: s.said})
}

func textOf(parts []llm.Part) string {
	var all strings.Builder
	for _, p := range parts {
		if p.Type == llm.PartText {
			all.WriteString(p.Text)
		}
	}
	return all.String()
}

// resume takes a text of an attempt that is to go on from a.kept. Models do that, or
// begin again; it shows when the text leaves what was kept, and until then it waits.
func (a *assembler) resume(piece string) {
	rest := a.kept[a.again:]
	n := commonPrefix(piece, rest)
	if n == len(piece) && n < len(rest) {
		a.again += n
		return
	}
	said := a.kept[:a.again] + piece
	begunAgain := a.again+n >= minAgain
	a.decide(said, begunAgain)
}

// settle ends the waiting of resume, since there comes no more text for now.
func (a *assembler) settle() {
	if a.kept != "" {
		a.decide(a.kept[:a.again], a.again >= minAgain)
	}
}

func (a *assembler) decide(said string, begunAgain bool) {
	kept := a.kept
	a.kept, a.again, a.spoke = "", 0, true
	if !begunAgain {
		a.say(llm.Text(kept))
	}
	if said != "" {
		a.say(llm.Text(said))
	}
}

// say sends a part and adds it to the message.
func (a *assembler) say(p llm.Part) {
	a.send(wire.ContentPart{Part: p})
	a.merge(p)
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
