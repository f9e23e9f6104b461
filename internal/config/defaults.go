package config

// DefaultContextSize is taken when nothing says how many tokens a model takes.
const DefaultContextSize = 128_000

// Range of the context size, in tokens. Below it no prompt fits; above it the number
// is a mistake.
const (
	minContextSize = 4_000
	maxContextSize = 100_000_000
)

// Bounds of what files may hold.
const (
	maxFile     = 1 << 20 // bytes of a file
	maxModels   = 500     // models of all sources together
	maxWarnings = 100
	maxName     = 200 // bytes of an ID, a name or a display name
)

// Addresses of providers that do not say one.
const (
	kimiURL   = "https://api.moonshot.ai/v1"
	openaiURL = "https://api.openai.com/v1"
)

const defaultReasoningKey = "reasoning_content"

func defaultLoop() Loop {
	return Loop{
		MaxStepsPerTurn:        1000,
		MaxRetriesPerStep:      3,
		MaxRalphIterations:     0,
		ReservedContextSize:    50_000,
		CompactionTriggerRatio: 0.85,
	}
}

// defaultURL is the address of a type of provider, empty for types without a network.
func defaultURL(typ string) string {
	switch typ {
	case TypeKimi:
		return kimiURL
	case TypeOpenAI:
		return openaiURL
	}
	return ""
}
