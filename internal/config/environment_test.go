package config

import (
	"strings"
	"testing"
)

func TestModelOfTheEnvironment(t *testing.T) {
	const (
		kimi  = "environment kimi https://api.moonshot.ai/v1"
		open  = "environment openai https://api.openai.com/v1"
		sees  = "image_in+thinking"
		usual = `"", 128000, image_in+thinking`
	)
	tests := []struct {
		name string
		env  map[string]string
		want string // the only model, empty for none
		warn string // the only warning, empty for none
	}{
		{"nothing", nil, "", ""},
		{
			"kimi",
			map[string]string{"KIMI_API_KEY": "k", "KIMI_MODEL_NAME": "m", "KIMI_MODEL_MAX_CONTEXT_SIZE": "262144"},
			`m = m "", 262144, ` + sees + `; ` + kimi + ` key=k`, "",
		},
		{
			"openai",
			map[string]string{"OPENAI_API_KEY": "o", "OPENAI_MODEL": "m", "KIMI_MODEL_MAX_CONTEXT_SIZE": "9000"},
			`m = m ` + usual + `; ` + open + ` key=o`, "",
		},
		{
			"kimi comes first and keeps to its own address",
			map[string]string{"KIMI_API_KEY": "k", "KIMI_MODEL_NAME": "n", "OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://localhost/v1", "OPENAI_MODEL": "m"},
			`n = n ` + usual + `; ` + kimi + ` key=k`, "",
		},
		{
			"kimi without a name",
			map[string]string{"KIMI_API_KEY": "k", "OPENAI_API_KEY": "o", "OPENAI_MODEL": "m"},
			`m = m ` + usual + `; ` + open + ` key=o`, "",
		},
		{
			"openai keeps to its own address",
			map[string]string{"OPENAI_API_KEY": "o", "OPENAI_MODEL": "m", "KIMI_BASE_URL": "https://kimi.test/v1", "KIMI_MODEL_NAME": "other"},
			`m = m ` + usual + `; ` + open + ` key=o`, "",
		},
		{
			"own address, slashes trimmed",
			map[string]string{"KIMI_API_KEY": "k", "KIMI_BASE_URL": " https://h.test:8443/v1// ", "KIMI_MODEL_NAME": " m\n"},
			`m = m ` + usual + `; environment kimi https://h.test:8443/v1 key=k`, "",
		},
		{
			"a server on the own machine needs no key",
			map[string]string{"OPENAI_BASE_URL": "http://[::1]:11434/v1", "OPENAI_MODEL": "m"},
			`m = m ` + usual + `; environment openai http://[::1]:11434/v1 key=`, "",
		},
		{"an address alone is not a model", map[string]string{"OPENAI_BASE_URL": "http://localhost/v1"}, "", ""},
		{
			"a name alone is not a model",
			map[string]string{"KIMI_MODEL_NAME": "m"},
			"",
			"KIMI_MODEL_NAME is set without KIMI_API_KEY or KIMI_BASE_URL; it is not used.",
		},
		{
			"key over http on the own machine",
			map[string]string{"KIMI_API_KEY": "k", "KIMI_BASE_URL": "http://localhost:1/v1", "KIMI_MODEL_NAME": "m"},
			`m = m ` + usual + `; environment kimi http://localhost:1/v1 key=k`, "",
		},
		{
			"key over http elsewhere",
			map[string]string{"KIMI_API_KEY": "k", "KIMI_BASE_URL": "http://h.test/v1", "KIMI_MODEL_NAME": "m"},
			`m = m ` + usual + `; environment kimi http://h.test/v1 key=k`,
			"KIMI_BASE_URL begins with http://, so the key is sent unencrypted; it is used as it is.",
		},
		{
			"blank space around a key",
			map[string]string{"KIMI_API_KEY": " k\r\n", "KIMI_MODEL_NAME": "m"},
			`m = m ` + usual + `; ` + kimi + ` key=k`, "",
		},
		{
			"not a key",
			map[string]string{"KIMI_API_KEY": "k\nInjected: x", "OPENAI_API_KEY": "o", "OPENAI_MODEL": "m"},
			`m = m ` + usual + `; ` + open + ` key=o`,
			"KIMI_API_KEY holds characters that no key has; it is not used.",
		},
		{
			"not a name",
			map[string]string{"KIMI_API_KEY": "k", "KIMI_MODEL_NAME": "a\nb"},
			"",
			"KIMI_MODEL_NAME is no name of at most 200 printable characters; it is not used.",
		},
		{
			"context size is no number",
			map[string]string{"KIMI_API_KEY": "k", "KIMI_MODEL_NAME": "m", "KIMI_MODEL_MAX_CONTEXT_SIZE": "128k"},
			`m = m ` + usual + `; ` + kimi + ` key=k`,
			"KIMI_MODEL_MAX_CONTEXT_SIZE is not a number of tokens between 4000 and 100000000; 128000 is used.",
		},
		{
			"context size too small",
			map[string]string{"KIMI_API_KEY": "k", "KIMI_MODEL_NAME": "m", "KIMI_MODEL_MAX_CONTEXT_SIZE": "3999"},
			`m = m ` + usual + `; ` + kimi + ` key=k`,
			"KIMI_MODEL_MAX_CONTEXT_SIZE is not a number of tokens between 4000 and 100000000; 128000 is used.",
		},
		{
			"capabilities",
			map[string]string{"KIMI_API_KEY": "k", "KIMI_MODEL_NAME": "m", "KIMI_MODEL_CAPABILITIES": "Video_In, always_thinking,telepathy,"},
			`m = m "", 128000, video_in+thinking+always_thinking; ` + kimi + ` key=k`, "",
		},
		{
			"scripted",
			map[string]string{"KIMI_MODEL_NAME": "_scripted_echo", "KIMI_SCRIPTED_ECHO_SCRIPTS": "~/s.json", "KIMI_API_KEY": "k"},
			`_scripted_echo = _scripted_echo ` + usual + `; environment _scripted_echo  key= scripts=~/s.json`, "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, warnings := newHouse(t, nil, tt.env).load(Flags{})
			if got := strings.Join(models(c), "\n"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if got := strings.Join(warnings, "\n"); got != tt.warn {
				t.Errorf("warnings %q, want %q", got, tt.warn)
			}
			if missing := c.Missing(); (missing == "") != (tt.want != "") {
				t.Errorf("missing: %s", missing)
			}
		})
	}
}

func TestEnvironmentWithoutName(t *testing.T) {
	c, _ := newHouse(t, nil, map[string]string{"OPENAI_API_KEY": "k"}).load(Flags{})
	diff(t, "missing", "The model is not fully set up: it has no name (set OPENAI_MODEL). Then start this agent again.", c.Missing())
}

// A wrong address must not send the key to the default one, nor to another service.
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
			c, warnings := newHouse(t, nil, map[string]string{
				"KIMI_API_KEY": "k", "KIMI_BASE_URL": tt.address, "KIMI_MODEL_NAME": "m", "OPENAI_API_KEY": "o", "OPENAI_MODEL": "n",
			}).load(Flags{})
			diff(t, "models", []string(nil), models(c))
			diff(t, "warnings", []string{"KIMI_BASE_URL " + tt.warn + "; these variables are not used until it is corrected."}, warnings)
			if missing := c.Missing(); !strings.HasPrefix(missing, "The model is not fully set up: its address cannot be used (set KIMI_BASE_URL ") {
				t.Errorf("missing: %s", missing)
			}
		})
	}
}

// No key of a file reaches an address of the environment, nor the other way round.
func TestKeysKeepToTheirAddresses(t *testing.T) {
	// Every model is named after its provider.
	file := func(providers ...string) string {
		text := strings.Join(providers, "\n") + "\n[models]\n"
		for _, p := range providers {
			name, _, _ := strings.Cut(strings.TrimPrefix(p, "providers."), " ")
			text += name + ` = { provider = "` + name + `", model = "m" }` + "\n"
		}
		return text
	}
	const (
		far    = `providers.far = { type = "kimi", base_url = "https://far.test", api_key = "far-key", custom_headers = { X = "far-header" } }`
		near   = `providers.near = { type = "kimi", base_url = "https://api.moonshot.ai/v1/", api_key = "near-key" }`
		bare   = `providers.bare = { type = "kimi", base_url = "https://bare.test" }`
		signed = `providers.signed = { type = "kimi", base_url = "https://signed.test", oauth = { key = "x" } }`
		other  = `providers.other = { type = "openai", base_url = "https://other.test", api_key = "other-key" }`
		wrong  = `providers.wrong = { type = "kimi", base_url = "wrong" }`

		asFar    = `far = m "", 128000, ; far kimi https://far.test key=far-key X=far-header`
		asNear   = `near = m "", 128000, ; near kimi https://api.moonshot.ai/v1 key=near-key`
		asBare   = `bare = m "", 128000, ; bare kimi https://bare.test key=`
		asOther  = `other = m "", 128000, ; other openai https://other.test key=other-key`
		envModel = `m = m "", 128000, image_in+thinking; environment kimi https://env.test key=env-key`
	)
	const signIn = `~/.kimi/config.toml:LINE: the model "signed" is left out: its provider "signed" has no api_key, and signing in is not supported.`
	tests := []struct {
		name   string
		env    map[string]string
		file   string
		models string
		warn   string
	}{
		{
			"both variables",
			map[string]string{"KIMI_API_KEY": "env-key", "KIMI_BASE_URL": "https://env.test"},
			file(far, near, bare, signed, other, wrong),
			`far = m "", 128000, ; far kimi https://env.test key=env-key
			near = m "", 128000, ; near kimi https://env.test key=env-key
			bare = m "", 128000, ; bare kimi https://env.test key=env-key
			signed = m "", 128000, ; signed kimi https://env.test key=env-key
			` + asOther + `
			wrong = m "", 128000, ; wrong kimi https://env.test key=env-key`, "",
		},
		{
			"key alone",
			map[string]string{"KIMI_API_KEY": "env-key"},
			file(far, near, bare, other),
			asFar + "\n" + `near = m "", 128000, ; near kimi https://api.moonshot.ai/v1 key=env-key` + "\n" + asBare + "\n" + asOther,
			`KIMI_API_KEY is not sent to the provider "bare" of kimi-cli's file, which has another address; set KIMI_BASE_URL too if it belongs there.
			KIMI_API_KEY is not sent to the provider "far" of kimi-cli's file, which has another address; set KIMI_BASE_URL too if it belongs there.`,
		},
		{
			"address alone",
			map[string]string{"KIMI_BASE_URL": "https://env.test"},
			file(far, bare, other, signed),
			asFar + "\n" + `bare = m "", 128000, ; bare kimi https://env.test key=` + "\n" + asOther,
			`KIMI_BASE_URL is not used for the provider "far" of kimi-cli's file, whose key must not go there; set KIMI_API_KEY too.
			KIMI_BASE_URL is not used for the provider "signed" of kimi-cli's file, whose key must not go there; set KIMI_API_KEY too.
			` + strings.Replace(signIn, "LINE", "9", 1),
		},
		{
			"address alone, wrong",
			map[string]string{"KIMI_BASE_URL": "env"},
			file(bare), asBare,
			`KIMI_BASE_URL does not begin with http:// or https://; these variables are not used until it is corrected.`,
		},
		{
			"a model of their own",
			map[string]string{"KIMI_API_KEY": "env-key", "KIMI_BASE_URL": "https://env.test", "KIMI_MODEL_NAME": "m"},
			file(far, near), envModel + "\n" + asFar + "\n" + asNear, "",
		},
		{"the other family", map[string]string{"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "https://env.test"}, file(other, far), asOther + "\n" + asFar, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, warnings := newHouse(t, map[string]string{kimiCLI: tt.file}, tt.env).load(Flags{})
			diff(t, "models", lines(tt.models), models(c))
			diff(t, "warnings", lines(tt.warn), warnings)
		})
	}
	both := map[string]string{"KIMI_API_KEY": "env-key", "KIMI_BASE_URL": "https://env.test"}
	for _, name := range []string{kimiCode, own} {
		c, _ := newHouse(t, map[string]string{name: file(far)}, both).load(Flags{})
		diff(t, "the variables do not apply to "+name, []string{asFar}, models(c))
	}
	// A provider is taken whole: the key of one file does not meet the address of another.
	c, _ := newHouse(t, map[string]string{
		kimiCLI: file(far), own: `providers.far = { type = "kimi", base_url = "https://elsewhere.test" }` + "\n" + `models.mine = { provider = "far", model = "m" }`,
	}, nil).load(Flags{})
	diff(t, "whole", []string{`mine = m "", 128000, ; far kimi https://elsewhere.test key=`, asFar}, models(c))
}
