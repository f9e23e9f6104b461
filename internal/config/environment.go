package config

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// environment is the source that reads variables.
type environment struct {
	getenv   func(string) string
	warnings *warnings
}

// family is a set of variables that describe one model together.
type family struct {
	typ                 string // of the provider
	key, baseURL, model string // names of variables
	// Names of variables that may be missing from a family.
	contextSize, capabilities string
}

// families gives the sets of variables in the order in which they are asked.
func families() []family {
	return []family{
		{TypeKimi, "KIMI_API_KEY", "KIMI_BASE_URL", "KIMI_MODEL_NAME", "KIMI_MODEL_MAX_CONTEXT_SIZE", "KIMI_MODEL_CAPABILITIES"},
		{TypeOpenAI, "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "", ""},
	}
}

// home is the user's folder, empty if it is not known.
func (e environment) home() string {
	if dir := e.getenv(homeVariable()); filepath.IsAbs(dir) {
		return dir
	}
	return ""
}

func homeVariable() string {
	if runtime.GOOS == "windows" {
		return "USERPROFILE"
	}
	return "HOME"
}

func (e environment) shareDir() string {
	if dir := e.getenv("KIMI_SHARE_DIR"); dir != "" {
		if filepath.IsAbs(dir) {
			return filepath.Clean(dir)
		}
		e.warn("KIMI_SHARE_DIR", "is not an absolute path; the default folder is used")
	}
	if home := e.home(); home != "" {
		return filepath.Join(home, ".kimi")
	}
	e.warn(homeVariable(), "names no folder; sessions and logs are not kept. Set KIMI_SHARE_DIR to keep them")
	return ""
}

// kimiCodeDir is the folder of kimi-code, empty if it is not known.
func (e environment) kimiCodeDir() string {
	if dir := e.getenv("KIMI_CODE_HOME"); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	if home := e.home(); home != "" {
		return filepath.Join(home, ".kimi-code")
	}
	return ""
}

// flag gives a switch, nil if the variable is not set.
func (e environment) flag(name string) *bool {
	on := false
	switch v := strings.ToLower(e.getenv(name)); v {
	case "":
		return nil
	case "0", "false", "no", "off":
	case "1", "true", "yes", "on":
		on = true
	default:
		e.warn(name, "is neither 1 nor 0; it is not used")
		return nil
	}
	return &on
}

// model gives the model that the variables describe, as a source of its own. A family
// counts when it names a model and has a key, or, as for a server on the own machine, an
// address; one with a key goes first. What an incomplete one lacks is given as well.
func (e environment) model() (s source, lacks string) {
	if e.getenv("KIMI_MODEL_NAME") == TypeScripted {
		p := Provider{Type: TypeScripted, Scripts: e.getenv("KIMI_SCRIPTED_ECHO_SCRIPTS"), ReasoningKey: defaultReasoningKey}
		return e.source(families()[0], TypeScripted, p), ""
	}
	type found struct {
		family
		name string
		key  Secret
	}
	var withKey, withoutKey []found
	for _, f := range families() {
		name, key, url := strings.TrimSpace(e.getenv(f.model)), e.secret(f.key), e.getenv(f.baseURL)
		switch {
		case key == "" && url == "" && name == "":
		case key == "" && url == "":
			e.warn(f.model, "is set without "+f.key+" or "+f.baseURL+"; it is not used")
		case name == "" && key != "":
			lacks = cmp.Or(lacks, "it has no name (set "+f.model+")")
		case name == "":
		case !isName(name):
			e.warn(f.model, fmt.Sprintf("is no name of at most %d printable characters; it is not used", maxName))
		case key != "":
			withKey = append(withKey, found{f, name, key})
		default:
			withoutKey = append(withoutKey, found{f, name, key})
		}
	}
	both := slices.Concat(withKey, withoutKey)
	if len(both) == 0 {
		return source{}, lacks
	}
	f := both[0]
	address := e.address(f.family, f.key != "")
	if address == "" {
		return source{}, "its address cannot be used (set " + f.baseURL + " to an address such as https://api.example.com/v1)"
	}
	p := Provider{Type: f.typ, BaseURL: address, APIKey: f.key, ReasoningKey: defaultReasoningKey}
	return e.source(f.family, f.name, p), ""
}

// source makes a source of one model, which is the default.
func (e environment) source(f family, name string, p Provider) source {
	p.Name = EnvironmentProvider
	at := Warning{Name: f.model}
	m := Model{ID: name, Name: name, ContextSize: e.contextSize(f.contextSize), Capabilities: e.capabilities(f.capabilities, name)}
	return source{
		fallback:  choice{id: name, at: at},
		providers: map[string]*provider{p.Name: {Provider: p}},
		models:    []entry{{model: m, provider: p.Name, at: at}},
	}
}

// address gives the base URL. One that cannot be used is not replaced by the default:
// the key was meant for another server, and must not be sent to this one.
func (e environment) address(f family, withKey bool) string {
	text := strings.TrimSpace(e.getenv(f.baseURL))
	if text == "" {
		return defaultURL(f.typ)
	}
	address, problem := checkAddress(text)
	if problem != "" {
		e.warn(f.baseURL, problem+"; these variables are not used until it is corrected")
		return ""
	}
	if withKey && unencrypted(address) {
		e.warn(f.baseURL, sentUnencrypted)
	}
	return address
}

func (e environment) secret(name string) Secret {
	key, ok := cleanKey(e.getenv(name))
	if !ok {
		e.warn(name, notAKey)
	}
	return key
}

func (e environment) contextSize(name string) int {
	if name == "" {
		return DefaultContextSize
	}
	text := strings.TrimSpace(e.getenv(name))
	if text == "" {
		return DefaultContextSize
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < minContextSize || n > maxContextSize {
		e.warn(name, fmt.Sprintf("is not a number of tokens between %d and %d; %d is used",
			minContextSize, maxContextSize, DefaultContextSize))
		return DefaultContextSize
	}
	return n
}

// capabilities reads a list with commas, whose unknown elements are passed over.
// Without it a model is taken to see images and to think: one that cannot says so when
// it is asked, while one that is not asked never says that it could.
func (e environment) capabilities(name, model string) []string {
	stated := []string{ImageIn, Thinking}
	if text := e.getenv(name); name != "" && strings.TrimSpace(text) != "" {
		stated = nil
		for part := range strings.SplitSeq(strings.ToLower(text), ",") {
			stated = append(stated, strings.TrimSpace(part))
		}
	}
	return capabilities(model, stated)
}

func (e environment) warn(variable, what string) {
	e.warnings.add(Warning{Name: variable, What: what})
}
