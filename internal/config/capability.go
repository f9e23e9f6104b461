package config

import (
	"slices"
	"strings"
)

func knownCapabilities() []string { return []string{ImageIn, VideoIn, Thinking, AlwaysThinking} }

// otherCapabilities are those that other programs write and that make no difference here.
func otherCapabilities() []string {
	return []string{"tool_use", "audio_in", "dynamically_loaded_tools"}
}

// capabilities completes what is stated of a model by what its name tells, as kimi-cli
// does, and puts it into the fixed order.
func capabilities(name string, stated []string) []string {
	has := slices.Clone(stated)
	lower := strings.ToLower(name)
	switch {
	case strings.Contains(lower, "thinking") || strings.Contains(lower, "reason"):
		has = append(has, AlwaysThinking)
	case name == "kimi-for-coding" || name == "kimi-code":
		has = append(has, Thinking, ImageIn, VideoIn)
	}
	if slices.Contains(has, AlwaysThinking) {
		has = append(has, Thinking)
	}
	var all []string
	for _, c := range knownCapabilities() {
		if slices.Contains(has, c) {
			all = append(all, c)
		}
	}
	return all
}
