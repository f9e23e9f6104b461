package soul

import (
	"slices"
	"strings"
	"sync"

	"kimi-acp/contextprovider"
	"kimi-acp/soul/llm"
)

// History is the conversation of a session as the model sees it. It grows by
// whole steps only, so that it can be sent to a model at any time: every tool
// call in it is answered right behind its message. It may be used by several
// goroutines at once.
type History struct {
	mu       sync.Mutex
	messages []llm.Message
	reported int // tokens that the model reported for messages[:counted]
	counted  int
	fixed    int // estimated tokens of what every request holds beside the messages

	scale float64 // the model's tokens for each estimated one; 0: not known, taken as 1
}

// Append adds messages. Callers add whole steps: an assistant message together
// with the results of all its tool calls.
func (h *History) Append(messages ...llm.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range messages {
		m.Tokens = llm.EstimateTokens(m)
		h.messages = append(h.messages, m)
	}
}

// Restore replaces the conversation by one that was kept; of messages[:counted] the
// model reported the tokens.
func (h *History) Restore(messages []llm.Message, tokens, counted int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages = messages
	h.reported, h.counted = tokens, counted
	for i := range h.messages {
		h.messages[i].Tokens = llm.EstimateTokens(h.messages[i])
	}
}

// All gives the conversation as it was appended, for the caller to read.
func (h *History) All() []llm.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.messages)
}

// Len is the number of messages.
func (h *History) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.messages)
}

// Truncate drops all messages from n on.
func (h *History) Truncate(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n >= len(h.messages) {
		return
	}
	clear(h.messages[n:])
	h.messages = h.messages[:n]
	if h.counted > n {
		h.counted, h.reported = 0, 0
	}
}

// imageLeftOut stands where an image was that a provider could not read.
const imageLeftOut = "<system>An image was here. The provider could not read it, so it was left out.</system>"

// DropImages puts a note in the place of every image and reports whether there was
// one. Messages that were given out before stay as they are.
func (h *History) DropImages() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	dropped := false
	for i := range h.messages {
		m := &h.messages[i]
		if !slices.ContainsFunc(m.Content, func(p llm.Part) bool { return p.Type == llm.PartImage }) {
			continue
		}
		dropped = true
		m.Content = slices.Clone(m.Content)
		for j := range m.Content {
			if m.Content[j].Type == llm.PartImage {
				m.Content[j] = llm.Text(imageLeftOut)
			}
		}
		m.Tokens = llm.EstimateTokens(*m)
	}
	return dropped
}

// Reported notes what the model counted for all messages now in the history.
func (h *History) Reported(tokens int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reported, h.counted = tokens, len(h.messages)
	if n := h.fixed + estimated(h.messages); n >= minScaled {
		h.scale = min(max(float64(tokens)/float64(n), minScale), maxScale)
	}
}

// hold notes what every request holds beside the messages, in estimated tokens.
func (h *History) hold(fixed int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fixed = fixed
}

// What a model counts says how far estimates are off, once it is more than a handful.
const (
	minScaled = 500 // estimated tokens
	minScale  = 0.5
	maxScale  = 4
)

// Tokens is the size of the conversation: what the model last reported, and an
// estimate of what came since, in the measure in which its counts and our estimates
// differed before. As long as no model has counted, all is estimated, the system
// prompt and the tools too.
func (h *History) Tokens() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := estimated(h.messages[h.counted:])
	if h.counted == 0 && len(h.messages) > 0 {
		n += h.fixed
	}
	return h.reported + int(float64(n)*h.scaling())
}

// holdMore is hold for what has become longer, or shorter, by so many estimated tokens.
func (h *History) holdMore(tokens int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fixed += tokens
}

// Scale is the model's tokens for each estimated one, and fixed are the estimated
// tokens of what every request holds beside the messages.
func (h *History) Scale() (scale float64, fixed int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.scaling(), h.fixed
}

// scaling is the scale. The caller holds the lock.
func (h *History) scaling() float64 {
	if h.scale == 0 {
		return 1
	}
	return h.scale
}

func estimated(messages []llm.Message) int {
	n := 0
	for _, m := range messages {
		n += m.Tokens
	}
	return n
}

// contexts gives the rendered contexts that the conversation holds, the oldest first.
// They are what the model still knows of how things stood.
func (h *History) contexts() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []string
	for _, m := range h.messages {
		if m.Role != llm.RoleUser || len(m.Content) < 2 {
			continue
		}
		if last := m.Content[len(m.Content)-1]; last.Type == llm.PartText && contextprovider.IsContext(last.Text) {
			all = append(all, last.Text)
		}
	}
	return all
}

// Messages gives the conversation for a model request: neighbouring user
// messages are joined, since some providers refuse two in a row, and answers that
// say nothing are left out, since some refuse those.
func (h *History) Messages() []llm.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]llm.Message, 0, len(h.messages))
	joined := false // the content of the last one is a copy of ours
	for _, m := range h.messages {
		last := len(out) - 1
		switch {
		case m.Role == llm.RoleAssistant && len(m.ToolCalls) == 0 && !says(m.Content):
		case last >= 0 && m.Role == llm.RoleUser && out[last].Role == llm.RoleUser:
			if !joined {
				out[last].Content, joined = slices.Clone(out[last].Content), true
			}
			out[last].Content = append(out[last].Content, m.Content...)
		default:
			out, joined = append(out, m), false
		}
	}
	return out
}

// says tells whether parts hold anything but thoughts and blanks.
func says(parts []llm.Part) bool {
	return slices.ContainsFunc(parts, func(p llm.Part) bool {
		return p.Type != llm.PartThink && (p.Type != llm.PartText || strings.TrimSpace(p.Text) != "")
	})
}

// Shorten makes a one-line title of at most n code points: white space collapsed,
// cut at a word where that keeps at least half of it, with an ellipsis.
func Shorten(text string, n int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= n {
		return string(runes)
	}
	cut := string(runes[:n-1])
	if i := strings.LastIndexByte(cut, ' '); i >= len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,.;:") + "…"
}
