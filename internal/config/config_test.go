package config

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func load(env map[string]string) (Config, []string) {
	c, warnings := Load(func(name string) string { return env[name] })
	var texts []string
	for _, w := range warnings {
		texts = append(texts, w.String())
	}
	return c, texts
}

func TestProvider(t *testing.T) {
	const kimi, openai = "https://api.moonshot.ai/v1", "https://api.openai.com/v1"
	tests := []struct {
		name string
		env  map[string]string
		want Provider
		warn string // the only warning, empty for none
	}{
		{"nothing", nil, Provider{}, ""},
		{
			"kimi", map[string]string{"KIMI_API_KEY": "k", "KIMI_MODEL_NAME": "m", "KIMI_MODEL_MAX_CONTEXT_SIZE": "262144"},
			Provider{Type: TypeOpenAI, BaseURL: kimi, APIKey: "k", Model: "m", ContextSize: 262144}, "",
		},
		{
			"openai", map[string]string{"OPENAI_API_KEY": "o", "OPENAI_MODEL": "m", "KIMI_MODEL_MAX_CONTEXT_SIZE": "9000"},
			Provider{Type: TypeOpenAI, BaseURL: openai, APIKey: "o", Model: "m", ContextSize: DefaultContextSize}, "",
		},
		{
			"kimi comes first and keeps to its own address",
			map[string]string{"KIMI_API_KEY": "k", "OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://localhost/v1", "OPENAI_MODEL": "m"},
			Provider{Type: TypeOpenAI, BaseURL: kimi, APIKey: "k", ContextSize: DefaultContextSize}, "",
		},
		{
			"openai keeps to its own address",
			map[string]string{"OPENAI_API_KEY": "o", "OPENAI_MODEL": "m", "KIMI_BASE_URL": "https://kimi.test/v1", "KIMI_MODEL_NAME": "other"},
			Provider{Type: TypeOpenAI, BaseURL: openai, APIKey: "o", Model: "m", ContextSize: DefaultContextSize}, "",
		},
		{
			"own address, slashes trimmed", map[string]string{"KIMI_API_KEY": "k", "KIMI_BASE_URL": " https://h.test:8443/v1// ", "KIMI_MODEL_NAME": " m\n"},
			Provider{Type: TypeOpenAI, BaseURL: "https://h.test:8443/v1", APIKey: "k", Model: "m", ContextSize: DefaultContextSize}, "",
		},
		{
			"a server on the own machine needs no key", map[string]string{"OPENAI_BASE_URL": "http://[::1]:11434/v1", "OPENAI_MODEL": "m"},
			Provider{Type: TypeOpenAI, BaseURL: "http://[::1]:11434/v1", Model: "m", ContextSize: DefaultContextSize}, "",
		},
		{"an address alone is not a provider", map[string]string{"OPENAI_BASE_URL": "http://localhost/v1"}, Provider{}, ""},
		{
			"key over http on the own machine", map[string]string{"KIMI_API_KEY": "k", "KIMI_BASE_URL": "http://localhost:1/v1"},
			Provider{Type: TypeOpenAI, BaseURL: "http://localhost:1/v1", APIKey: "k", ContextSize: DefaultContextSize}, "",
		},
		{
			"key over http elsewhere", map[string]string{"KIMI_API_KEY": "k", "KIMI_BASE_URL": "http://h.test/v1"},
			Provider{Type: TypeOpenAI, BaseURL: "http://h.test/v1", APIKey: "k", ContextSize: DefaultContextSize},
			"KIMI_BASE_URL begins with http://, so the key is sent unencrypted; it is used as it is.",
		},
		{
			"blank space around a key", map[string]string{"KIMI_API_KEY": " k\r\n"},
			Provider{Type: TypeOpenAI, BaseURL: kimi, APIKey: "k", ContextSize: DefaultContextSize}, "",
		},
		{
			"not a key", map[string]string{"KIMI_API_KEY": "k\nInjected: x", "OPENAI_API_KEY": "o"},
			Provider{Type: TypeOpenAI, BaseURL: openai, APIKey: "o", ContextSize: DefaultContextSize},
			"KIMI_API_KEY holds characters that no key has; it is not used.",
		},
		{
			"context size is no number", map[string]string{"KIMI_API_KEY": "k", "KIMI_MODEL_MAX_CONTEXT_SIZE": "128k"},
			Provider{Type: TypeOpenAI, BaseURL: kimi, APIKey: "k", ContextSize: DefaultContextSize},
			"KIMI_MODEL_MAX_CONTEXT_SIZE is not a number of tokens between 4000 and 100000000; 128000 is used.",
		},
		{
			"context size too small", map[string]string{"KIMI_API_KEY": "k", "KIMI_MODEL_MAX_CONTEXT_SIZE": "3999"},
			Provider{Type: TypeOpenAI, BaseURL: kimi, APIKey: "k", ContextSize: DefaultContextSize},
			"KIMI_MODEL_MAX_CONTEXT_SIZE is not a number of tokens between 4000 and 100000000; 128000 is used.",
		},
		{
			"scripted", map[string]string{"KIMI_MODEL_NAME": "_scripted_echo", "KIMI_SCRIPTED_ECHO_SCRIPTS": "~/s.json", "KIMI_API_KEY": "k"},
			Provider{Type: TypeScripted, Model: TypeScripted, ContextSize: DefaultContextSize, Scripts: "~/s.json"}, "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := map[string]string{"KIMI_SHARE_DIR": absolute("/s")}
			for k, v := range tt.env {
				env[k] = v
			}
			c, warnings := load(env)
			// As plain texts, since a Secret would hide the difference.
			if got := c.Provider; got != tt.want {
				t.Errorf("got %+v with key %q\nwant %+v with key %q", got, got.APIKey.Reveal(), tt.want, tt.want.APIKey.Reveal())
			}
			if got := strings.Join(warnings, "\n"); got != tt.warn {
				t.Errorf("warnings %q, want %q", got, tt.warn)
			}
		})
	}
}

// A wrong address must not send the key to the default one.
func TestUnusableAddress(t *testing.T) {
	tests := []struct{ address, warn string }{
		{"h.test/v1", "does not begin with http:// or https://"},
		{"ftp://h.test", "does not begin with http:// or https://"},
		{"https://", "names no host"},
		{"https://:443/v1", "names no host"},
		{"https:///v1", "names no host"},
		{"https://h.test/v1?x=1", "has a part after ? or #, where paths are to be added"},
		{"https://h.test/v1?", "has a part after ? or #, where paths are to be added"},
		{"https://h.test/v1#x", "has a part after ? or #, where paths are to be added"},
		{"https://user:hunter2@h.test:port", "is not a web address"},
	}
	for _, tt := range tests {
		t.Run(tt.address, func(t *testing.T) {
			c, warnings := load(map[string]string{
				"KIMI_SHARE_DIR": absolute("/s"), "KIMI_API_KEY": "k", "KIMI_BASE_URL": tt.address, "KIMI_MODEL_NAME": "m",
			})
			if c.Provider.BaseURL != "" {
				t.Errorf("address %q", c.Provider.BaseURL)
			}
			want := []string{"KIMI_BASE_URL " + tt.warn + "; no model is used until it is corrected."}
			if d := cmp.Diff(want, warnings); d != "" {
				t.Error(d)
			}
			if missing := c.Missing(); !strings.HasPrefix(missing, "The model is not fully set up: its address cannot be used") {
				t.Errorf("missing: %s", missing)
			}
		})
	}
}

func TestShareDirAndDebug(t *testing.T) {
	home := "HOME"
	if runtime.GOOS == "windows" {
		home = "USERPROFILE"
	}
	base := Config{MaxSteps: 1000, MaxRetries: 3}
	with := func(dir string, debug bool) Config {
		c := base
		c.ShareDir, c.Debug = dir, debug
		return c
	}
	noHome := home + " names no folder; sessions and logs are not kept. Set KIMI_SHARE_DIR to keep them."
	tests := []struct {
		name string
		env  map[string]string
		want Config
		warn []string
	}{
		{"home", map[string]string{home: absolute("/h")}, with(filepath.Join(absolute("/h"), ".kimi"), false), nil},
		{"own folder, no home", map[string]string{"KIMI_SHARE_DIR": absolute("/s/"), "KIMI_DEBUG": "1"}, with(absolute("/s"), true), nil},
		{"no home", map[string]string{"KIMI_DEBUG": "off"}, with("", false), []string{noHome}},
		{"home is relative", map[string]string{home: "h"}, with("", false), []string{noHome}},
		{
			"relative folder", map[string]string{"KIMI_SHARE_DIR": "s", home: absolute("/h")},
			with(filepath.Join(absolute("/h"), ".kimi"), false),
			[]string{"KIMI_SHARE_DIR is not an absolute path; the default folder is used."},
		},
		{
			"debug is neither", map[string]string{"KIMI_SHARE_DIR": absolute("/s"), "KIMI_DEBUG": "loud"}, with(absolute("/s"), false),
			[]string{"KIMI_DEBUG is neither 1 nor 0; it is taken as 0."},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, warnings := load(tt.env)
			if d := cmp.Diff(tt.want, c); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.warn, warnings); d != "" {
				t.Error(d)
			}
			logs := ""
			if c.ShareDir != "" {
				logs = filepath.Join(c.ShareDir, "logs")
			}
			if got := c.LogDir(); got != logs {
				t.Errorf("log folder %q", got)
			}
		})
	}
}

func absolute(path string) string {
	if runtime.GOOS == "windows" {
		return `C:` + filepath.FromSlash(path)
	}
	return path
}

func TestMergeTakesTheLaterAndProvidersWhole(t *testing.T) {
	got := merge(
		layer{shareDir: "a", maxSteps: 1, maxRetries: 2, provider: &Provider{Type: TypeOpenAI, APIKey: "key", BaseURL: "https://a"}},
		layer{debug: true, maxSteps: 5, provider: &Provider{Type: TypeOpenAI, BaseURL: "https://b"}},
		layer{shareDir: "c", maxRetries: 7},
	)
	want := Config{ShareDir: "c", Debug: true, MaxSteps: 5, MaxRetries: 7, Provider: Provider{Type: TypeOpenAI, BaseURL: "https://b"}}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestMissing(t *testing.T) {
	tests := []struct {
		name string
		p    Provider
		want []string // pieces in order, none for an empty text
	}{
		{"nothing", Provider{}, []string{"No model is set up.", "KIMI_API_KEY", "KIMI_MODEL_NAME", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"}},
		{"complete", Provider{Type: TypeOpenAI, BaseURL: "https://a", Model: "m"}, nil},
		{"no name", Provider{Type: TypeOpenAI, BaseURL: "https://a"}, []string{"it has no name", "KIMI_MODEL_NAME or OPENAI_MODEL"}},
		{"neither", Provider{Type: TypeOpenAI}, []string{"KIMI_BASE_URL or OPENAI_BASE_URL", ", and it has no name", "start this agent again."}},
		{"scripted", Provider{Type: TypeScripted, Scripts: "s"}, nil},
		{"scripted without a file", Provider{Type: TypeScripted}, []string{"KIMI_SCRIPTED_ECHO_SCRIPTS"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Config{Provider: tt.p}.Missing()
			if (got == "") != (tt.want == nil) {
				t.Fatalf("got %q", got)
			}
			rest := got
			for _, piece := range tt.want {
				_, after, found := strings.Cut(rest, piece)
				if !found {
					t.Fatalf("%q is not in its place in %q", piece, got)
				}
				rest = after
			}
		})
	}
}
