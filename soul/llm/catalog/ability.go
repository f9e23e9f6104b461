package catalog

import (
	"slices"

	"kimi-acp/internal/config"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/openai"
)

// complete adds what a server's list says of a model to what the settings say. Of
// abilities the settings count as a whole if they name any. A window that is just
// config's default was not set, so the list's counts.
func complete(m config.Model, info openai.ModelInfo, e *endpoint) model {
	if m.DisplayName == "" {
		m.DisplayName = info.DisplayName
	}
	size := m.ContextSize
	if (size <= 0 || size == config.DefaultContextSize) && info.ContextSize > 0 {
		size = info.ContextSize
	}
	if size <= 0 {
		size = config.DefaultContextSize
	}
	call := llm.Model{Name: m.Name, ContextSize: size}
	if len(m.Capabilities) > 0 {
		call.ImageInput = slices.Contains(m.Capabilities, config.ImageIn)
		call.VideoInput = slices.Contains(m.Capabilities, config.VideoIn)
		call.Thinking = slices.Contains(m.Capabilities, config.Thinking) || slices.Contains(m.Capabilities, config.AlwaysThinking)
	} else {
		// A server that is not asked to see cannot say that it does not: an image
		// that is refused is better than one that is withheld for no reason.
		call.ImageInput = said(info.ImageInput, true)
		call.VideoInput = said(info.VideoInput, false)
		call.Thinking = said(info.Thinking, false)
	}
	return model{Model: m, always: slices.Contains(m.Capabilities, config.AlwaysThinking), call: call, endpoint: e}
}

func said(ability *bool, otherwise bool) bool {
	if ability == nil {
		return otherwise
	}
	return *ability
}

// levels gives the amounts of thinking that can be chosen for a model. The one
// that holds unless one is chosen comes first; think says whether models are to
// think, nil: they are.
func (m *model) levels(think *bool) []Level {
	off := think != nil && !*think
	switch {
	case !m.call.Thinking:
	case m.Provider.Type == config.TypeKimi && !m.always:
		levels := []Level{{string(openai.ThinkingOn), "On"}, {string(openai.ThinkingOff), "Off"}}
		if off {
			slices.Reverse(levels)
		}
		return levels
	case m.Provider.Type == config.TypeOpenAI:
		low, medium, high := Level{string(openai.ThinkingLow), "Low"}, Level{string(openai.ThinkingMedium), "Medium"}, Level{string(openai.ThinkingHigh), "High"}
		switch {
		case off:
			return []Level{low, medium, high}
		case think == nil:
			return []Level{medium, low, high}
		}
		return []Level{high, medium, low}
	}
	return nil
}

// thinking gives what a provider is told for a level.
func (m *model) thinking(level string) openai.Thinking {
	if m.always && m.Provider.Type == config.TypeKimi {
		return openai.ThinkingOn
	}
	return openai.Thinking(level)
}
