package hook

import (
	"encoding/json"
	"strings"
	"sync"

	"kimi-acp/internal/proc"
)

// The events on which what a hook writes is for the model.
const (
	sessionStart     = "SessionStart"
	userPromptSubmit = "UserPromptSubmit"
)

// maxSaid bounds what the hooks on one event say to the model, in bytes.
const maxSaid = 8000

// said is what hooks have to say to the model, until it is told.
type said struct {
	mu     sync.Mutex
	start  string // at the session's start
	prompt string // to the prompt that was sent last
}

// round collects what the hooks on one event say, until all have answered.
type round struct {
	event string
	said  *said

	mu      sync.Mutex
	texts   []string
	open    int // hooks that have not answered
	blocked bool
}

// heard takes the answer of the i-th hook. What hooks say counts when none is against it.
func (r *round) heard(i int, text string, blocks bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts[i] = text
	r.blocked = r.blocked || blocks
	if r.open--; r.open > 0 {
		return
	}
	if r.blocked {
		r.texts = nil
	}
	r.said.set(r.event, r.texts)
}

// set takes what the hooks on an event have said. What was said to an earlier prompt is
// about that one, and goes.
func (s *said) set(event string, texts []string) {
	text := strings.TrimSpace(strings.Join(texts, "\n"))
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "") + "\n(cut off)"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch event {
	case sessionStart:
		s.start = text
	case userPromptSubmit:
		s.prompt = text
	}
}

// Said takes what the hooks have to say to the model that was not taken before, "" for
// nothing. It is at most 16 kB, and no more than text: whoever passes it on frames it.
func (h *Hooks) Said() string {
	h.said.mu.Lock()
	defer h.said.mu.Unlock()
	text := strings.TrimSpace(h.said.start + "\n" + h.said.prompt)
	h.said.start, h.said.prompt = "", ""
	return text
}

// saidIn is what a hook that allows has written for the model: its text, or the
// additionalContext of a JSON object.
func saidIn(w proc.Written) string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(w.Stdout), ""))
	if !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
		return text
	}
	var answer struct {
		Output struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal([]byte(text), &answer) != nil {
		return ""
	}
	return answer.Output.Context
}
