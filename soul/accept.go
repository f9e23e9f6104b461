package soul

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kimi-acp/soul/llm"
)

// ErrNoModel says that a turn needs a model and none is set up.
var ErrNoModel = errors.New("LLM is not set")

// CapabilityError says that the model in use cannot take what it was given.
type CapabilityError struct {
	Model   string
	Missing []string // capabilities, as settings name them; at least one
}

// Error names the model and what it lacks.
func (e *CapabilityError) Error() string {
	noun := "capability"
	if len(e.Missing) > 1 {
		noun = "capabilities"
	}
	return fmt.Sprintf("LLM model '%s' does not support required %s: %s.", e.Model, noun, strings.Join(e.Missing, ", "))
}

// accepts is an error when the model cannot be asked with these parts.
func (b *Builtin) accepts(parts []llm.Part) error {
	p := b.model()
	if p == nil {
		return ErrNoModel
	}
	model := p.Model()
	var missing []string
	need := func(t llm.PartType, has bool, name string) {
		if !has && slices.ContainsFunc(parts, func(p llm.Part) bool { return p.Type == t }) {
			missing = append(missing, name)
		}
	}
	need(llm.PartImage, model.ImageInput, "image_in")
	need(llm.PartVideo, model.VideoInput, "video_in")
	if missing != nil {
		return &CapabilityError{Model: model.Name, Missing: missing}
	}
	return nil
}
