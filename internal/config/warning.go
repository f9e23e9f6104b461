package config

import (
	"fmt"
	"strings"
)

// Warning says that a setting could not be taken as it is.
type Warning struct {
	Variable string // the environment variable
	What     string // what is wrong with it and what is taken instead; never its value
}

// String gives the warning as a sentence.
func (w Warning) String() string { return w.Variable + " " + w.What + "." }

// Missing says in plain sentences what to set before a model can be used. It is empty
// when a model is set up.
func (c Config) Missing() string {
	p := c.Provider
	switch {
	case p.Type == TypeScripted:
		if p.Scripts == "" {
			return "The model " + TypeScripted + " reads its answers from a file. Set KIMI_SCRIPTED_ECHO_SCRIPTS to the path of that file."
		}
		return ""
	case p.Type == "":
		return "No model is set up. Set KIMI_API_KEY to your Moonshot key and KIMI_MODEL_NAME to the model's name. " +
			"For another service that speaks OpenAI's protocol, set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL. " +
			"Set them in the environment that your editor gives to this agent, and start it again."
	}
	var lacks []string
	if p.BaseURL == "" {
		lacks = append(lacks, "its address cannot be used (set KIMI_BASE_URL or OPENAI_BASE_URL, whichever goes with your key, to an address such as https://api.example.com/v1)")
	}
	if p.Model == "" {
		lacks = append(lacks, "it has no name (set KIMI_MODEL_NAME or OPENAI_MODEL, whichever goes with your key)")
	}
	if len(lacks) == 0 {
		return ""
	}
	return fmt.Sprintf("The model is not fully set up: %s. Then start this agent again.", strings.Join(lacks, ", and "))
}
