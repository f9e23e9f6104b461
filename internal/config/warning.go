package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Warning says that a setting could not be taken as it is. It names either a variable
// or flag, or a place in a file.
type Warning struct {
	Name   string // the variable or flag; empty for a file
	File   string // path
	Line   int    // from 1; 0: not known
	Column int    // in bytes, from 1; 0: not known
	What   string // what is wrong and what is done instead; never the value of a key or an address
}

// String gives the warning as a sentence.
func (w Warning) String() string {
	if w.File == "" {
		return w.Name + " " + w.What + "."
	}
	place := w.File
	if w.Line > 0 {
		place += fmt.Sprintf(":%d", w.Line)
		if w.Column > 0 {
			place += fmt.Sprintf(":%d", w.Column)
		}
	}
	return place + ": " + w.What + "."
}

// warnings collects a bounded number of different warnings.
type warnings struct {
	list []Warning
	more int // those above the bound
}

func (w *warnings) add(x Warning) {
	switch {
	case slices.Contains(w.list, x):
	case len(w.list) >= maxWarnings:
		w.more++
	default:
		w.list = append(w.list, x)
	}
}

func (w *warnings) all() []Warning {
	if w.more == 0 {
		return w.list
	}
	return append(w.list, Warning{Name: "Configuration:", What: fmt.Sprintf("%d more problems like these were found", w.more)})
}

// quote shows a text of a file in a warning: on one line, and bounded.
func quote(s string) string { return fmt.Sprintf("%q", cut(s, 60)) }

// oneLine makes a text that others wrote fit for a warning.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, cut(s, 200))
}

// cut bounds a text to a number of bytes, and shows it if something is missing.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// Missing says in plain sentences what to set before a model can be used. It is empty
// when the default model is set up.
func (c Config) Missing() string {
	if m, ok := c.Model(c.DefaultModel); ok {
		if m.Provider.Type == TypeScripted && m.Provider.Scripts == "" {
			return "The model " + TypeScripted + " reads its answers from a file. Set KIMI_SCRIPTED_ECHO_SCRIPTS to the path of that file."
		}
		return ""
	}
	if c.lacks != "" {
		return "The model is not fully set up: " + c.lacks + ". Then start this agent again."
	}
	file := ""
	if c.ShareDir != "" {
		file = " Or describe models in " + filepath.Join(c.ShareDir, "acp.toml") + ", under [providers.NAME] and [models.NAME]; " +
			"those in kimi-cli's config.toml beside it are used too."
	}
	return "No model is set up. Set KIMI_API_KEY to your Moonshot key and KIMI_MODEL_NAME to the model's name. " +
		"For another service that speaks OpenAI's protocol, set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL. " +
		"Set them in the environment that your editor gives to this agent, and start it again." + file
}
