package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Range of the context size, in tokens. Below it no prompt fits; above it the number
// is a mistake.
const (
	minContextSize = 4_000
	maxContextSize = 100_000_000
)

// environment is the source that reads environment variables.
type environment struct {
	getenv   func(string) string
	warnings []Warning
}

// family is a set of variables that describe one provider together.
type family struct {
	key, baseURL, model, contextSize string // names of variables, contextSize may be empty
	defaultURL                       string
}

// families gives the sets of variables in the order in which they are asked.
func families() []family {
	return []family{
		{"KIMI_API_KEY", "KIMI_BASE_URL", "KIMI_MODEL_NAME", "KIMI_MODEL_MAX_CONTEXT_SIZE", "https://api.moonshot.ai/v1"},
		{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "", "https://api.openai.com/v1"},
	}
}

func (e *environment) read() layer {
	return layer{
		shareDir: e.shareDir(),
		debug:    e.flag("KIMI_DEBUG"),
		provider: e.provider(),
	}
}

func (e *environment) shareDir() string {
	if dir := e.getenv("KIMI_SHARE_DIR"); dir != "" {
		if filepath.IsAbs(dir) {
			return filepath.Clean(dir)
		}
		e.warn("KIMI_SHARE_DIR", "is not an absolute path; the default folder is used")
	}
	home := "HOME"
	if runtime.GOOS == "windows" {
		home = "USERPROFILE"
	}
	if dir := e.getenv(home); filepath.IsAbs(dir) {
		return filepath.Join(dir, ".kimi")
	}
	e.warn(home, "names no folder; sessions and logs are not kept. Set KIMI_SHARE_DIR to keep them")
	return ""
}

func (e *environment) flag(name string) bool {
	switch v := strings.ToLower(e.getenv(name)); v {
	case "", "0", "false", "no", "off":
		return false
	case "1", "true", "yes", "on":
		return true
	default:
		e.warn(name, "is neither 1 nor 0; it is taken as 0")
		return false
	}
}

// provider gives the first family with a key. Without any key it is the first that
// names both address and model, as for a server on the own machine. One that has less
// is given too, so that Missing can say what it lacks.
func (e *environment) provider() *Provider {
	if e.getenv("KIMI_MODEL_NAME") == TypeScripted {
		return &Provider{
			Type:        TypeScripted,
			Model:       TypeScripted,
			ContextSize: e.contextSize("KIMI_MODEL_MAX_CONTEXT_SIZE"),
			Scripts:     e.getenv("KIMI_SCRIPTED_ECHO_SCRIPTS"),
		}
	}
	all := families()
	for _, f := range all {
		if key := e.secret(f.key); key != "" {
			return e.fromFamily(f, key)
		}
	}
	for _, f := range all {
		if e.getenv(f.baseURL) != "" && e.getenv(f.model) != "" {
			return e.fromFamily(f, "")
		}
	}
	return nil
}

func (e *environment) fromFamily(f family, key Secret) *Provider {
	return &Provider{
		Type:        TypeOpenAI,
		BaseURL:     e.address(f.baseURL, f.defaultURL, key != ""),
		APIKey:      key,
		Model:       strings.TrimSpace(e.getenv(f.model)),
		ContextSize: e.contextSize(f.contextSize),
	}
}

// address gives the base URL. One that cannot be used is not replaced by the default:
// the key was meant for another server, and must not be sent to this one.
func (e *environment) address(name, otherwise string, withKey bool) string {
	text := strings.TrimSpace(e.getenv(name))
	if text == "" {
		return otherwise
	}
	const unused = "; no model is used until it is corrected"
	u, err := url.Parse(text)
	switch {
	case err != nil:
		// The error quotes the address, and the address may hold a password.
		e.warn(name, "is not a web address"+unused)
		return ""
	case u.Scheme != "http" && u.Scheme != "https":
		e.warn(name, "does not begin with http:// or https://"+unused)
		return ""
	case u.Hostname() == "":
		e.warn(name, "names no host"+unused)
		return ""
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		e.warn(name, "has a part after ? or #, where paths are to be added"+unused)
		return ""
	}
	if u.Scheme == "http" && withKey && !ownMachine(u.Hostname()) {
		e.warn(name, "begins with http://, so the key is sent unencrypted; it is used as it is")
	}
	return strings.TrimRight(text, "/")
}

func ownMachine(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// secret gives a key. Blank space around it is what copying leaves behind; anything
// else that cannot stand in a header means that the value is not a key.
func (e *environment) secret(name string) Secret {
	key := strings.TrimSpace(e.getenv(name))
	for _, b := range []byte(key) {
		if b <= ' ' || b > '~' {
			e.warn(name, "holds characters that no key has; it is not used")
			return ""
		}
	}
	return Secret(key)
}

func (e *environment) contextSize(name string) int {
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

func (e *environment) warn(variable, what string) {
	e.warnings = append(e.warnings, Warning{Variable: variable, What: what})
}
