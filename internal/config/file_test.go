package config

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestFilesOfOthersGiveNoWarnings(t *testing.T) {
	c, warnings := newHouse(t, map[string]string{
		kimiCLI: `
			default_model = "kimi-for-coding"
			default_thinking = false
			default_yolo = true
			default_plan_mode = true
			skip_afk_prompt_injection = false
			default_editor = ""
			theme = "dark"
			show_thinking_stream = true
			merge_all_available_skills = true
			extra_skill_dirs = []
			telemetry = true
			hooks = []
			[models.kimi-for-coding]
			provider = "k"
			model = "kimi-for-coding"
			max_context_size = 262144
			capabilities = ["thinking", "image_in"]
			display_name = "Kimi for Coding"
			[providers.k]
			type = "kimi"
			base_url = "https://api.kimi.com/coding/v1/"
			api_key = "k1"
			env = { A = "B" }
			custom_headers = { "X-Token" = "hush-hush", "X-A" = "b" }
			oauth = { storage = "file", key = "x" }
			[loop_control]
			max_steps_per_run = 12
			[background]
			max_running_tasks = 4
			[notifications]
			claim_stale_after_ms = 15000
			[services.moonshot_search]
			base_url = "https://api.kimi.com/coding/v1/search"
			api_key = "k2"
			custom_headers = { "Authorization" = "k3" }
			[services.moonshot_fetch]
			base_url = "https://api.kimi.com/coding/v1/fetch"
			api_key = "k4"
			[mcp.client]
			tool_call_timeout_ms = 60000`,
		kimiCode: `
			default_permission_mode = "manual"
			new_thing = 1
			[thinking]
			enabled = true
			[[permission.rules]]
			decision = "allow"
			[providers."managed"]
			type = "openai"
			api_key_env = "MY_KEY"
			rpm = 3
			[models."gpt-4.1"]
			provider = "managed"
			model = "gpt-4.1"
			max_context_size = 1047576
			capabilities = ["tool_use", "image_in", "telepathy"]
			support_efforts = ["low"]
			[models."gpt-4.1".overrides]
			max_context_size = 131072
			display_name = "Four"
			reasoning_key = "thoughts"
			[models.other]
			provider = "env"
			model = "some-thinking-model"
			max_context_size = 131072
			[providers.env]
			type = "kimi"
			env = { KIMI_API_KEY = "inner", KIMI_BASE_URL = "https://inner.test/v1" }`,
	}, map[string]string{"MY_KEY": "from-variable"}).load(Flags{})
	diff(t, "warnings", []string(nil), warnings)
	diff(t, "models", lines(`
		kimi-for-coding = kimi-for-coding "Kimi for Coding", 262144, image_in+video_in+thinking; k kimi https://api.kimi.com/coding/v1 key=k1 X-A=b X-Token=hush-hush
		gpt-4.1 = gpt-4.1 "Four", 131072, image_in; managed openai https://api.openai.com/v1 key=from-variable reasoning=thoughts
		other = some-thinking-model "", 131072, thinking+always_thinking; env kimi https://inner.test/v1 key=inner
	`), models(c))
	diff(t, "services", Services{
		MoonshotSearch: &Service{"https://api.kimi.com/coding/v1/search", "k2", map[string]string{"Authorization": "k3"}},
		MoonshotFetch:  &Service{BaseURL: "https://api.kimi.com/coding/v1/fetch", APIKey: "k4"},
	}, c.Services)
	if c.Loop.MaxStepsPerTurn != 12 || c.DefaultMode != "" {
		t.Errorf("steps %d, mode %q", c.Loop.MaxStepsPerTurn, c.DefaultMode)
	}
	secrets := c.Secrets()
	slices.Sort(secrets)
	diff(t, "secrets", []string{"from-variable", "hush-hush", "inner", "k1", "k2", "k3", "k4"}, secrets)
	if _, ok := c.Model("no such"); ok {
		t.Error("found a model that is not there")
	}
}

func TestModelsThatCannotBeUsed(t *testing.T) {
	c, warnings := newHouse(t, map[string]string{own: `default_model = "gone"
[providers]
a = { type = "anthropic", base_url = "https://a.test", api_key = "k" }
b = { type = "openai", base_url = "ftp://b.test", api_key = "k" }
c = { base_url = "https://c.test" }
d = { type = "kimi", base_url = "https://d.test", api_key = "", oauth = { key = "x" } }
e = { type = "_echo" }
s = { type = "_scripted_echo", env = { KIMI_SCRIPTED_ECHO_SCRIPTS = "~/s" } }
f = 5
g = { type = "openai_legacy", base_url = "" }
[models]
a = { provider = "a", model = "m" }
b = { provider = "b", model = "m" }
c = { provider = "c", model = "m" }
d = { provider = "d", model = "m" }
e = { provider = "e" }
s = { provider = "s" }
f = { provider = "f", model = "m" }
g = { provider = "g", model = "m" }
h = { model = "m" }
i = { provider = "ok" }
j = { provider = "ok", model = "" }
ok = { provider = "ok", model = "m", max_context_size = 3999 }
"" = { provider = "ok", model = "m" }
"a\nb" = { provider = "ok", model = "m" }
k = 1
[providers.ok]
type = "openai"
base_url = "http://localhost:11434/v1/"
`}, nil).load(Flags{Model: "also gone"})
	diff(t, "models", lines(`
		e =  "", 128000, ; e _echo  key=
		s =  "", 128000, ; s _scripted_echo  key= scripts=~/s
		ok = m "", 128000, ; ok openai http://localhost:11434/v1 key=
	`), models(c))
	diff(t, "warnings", lines(`
		~/.kimi/acp.toml:9: providers.f is not a table; it is not used.
		~/.kimi/acp.toml:26: models.k is not a table; it is not used.
		~/.kimi/acp.toml:23: models.ok.max_context_size is not a whole number between 4000 and 100000000; 128000 is used.
		~/.kimi/acp.toml:24: models."" is no name of at most 200 printable characters; the model is left out.
		~/.kimi/acp.toml:25: models."a\nb" is no name of at most 200 printable characters; the model is left out.
		~/.kimi/acp.toml:12: the model "a" is left out: its provider "a" has the type "anthropic", which is not supported.
		~/.kimi/acp.toml:13: the model "b" is left out: its provider "b" has no usable address: its base_url does not begin with http:// or https://.
		~/.kimi/acp.toml:14: the model "c" is left out: its provider "c" does not say its type.
		~/.kimi/acp.toml:15: the model "d" is left out: its provider "d" has no api_key, and signing in is not supported.
		~/.kimi/acp.toml:18: the model "f" is left out: there is no provider "f".
		~/.kimi/acp.toml:19: the model "g" is left out: its provider "g" has no usable address: its base_url is empty.
		~/.kimi/acp.toml:20: the model "h" is left out: it names no provider.
		~/.kimi/acp.toml:21: the model "i" is left out: it does not say the model's name at the provider.
		~/.kimi/acp.toml:22: the model "j" is left out: it does not say the model's name at the provider.
		--model: there is no usable model "also gone" to be the default; it is passed over.
		~/.kimi/acp.toml:1: there is no usable model "gone" to be the default; it is passed over.
	`), warnings)
}

func TestValuesThatCannotBeUsed(t *testing.T) {
	c, warnings := newHouse(t, map[string]string{own: `default_model = ["x"]
default_thinking = "yes"
default_mode = "sudo"
theme = "dark"
colour.of.night = 1
log = { debug = 1, dir = "x" }
services.moonshot_fetch = { base_url = "https://x.test", oauth = {}, api_key = "" }
[loop_control]
max_steps_per_turn = 0
max_retries_per_step = 1.5
max_ralph_iterations = -2
reserved_context_size = "much"
compaction_trigger_ratio = nan
max_stepps = 1
[services.moonshot_search]
base_url = "x"
[providers.p]
type = "openai"
base_url = "http://far.test/v1"
api_key = "sk-1\n2"
api_key_env = "NOT_SET"
custom_headers = { "X A" = "1", "X-B" = "1\n2", "X-C" = 3, "X-D" = "4" }
[providers.q]
type = "openai"
base_url = "http://far.test/v1"
api_key = "sk-1"
[providers.r]
type = "openai"
api_key_env = "NOT_SET"
[models.m]
provider = "p"
model = "m"
display_name = " \t"
capabilities = ["image_in", "telepathy", 5]
[models.n]
provider = "q"
model = "n"
capabilities = "image_in"
[models.o]
provider = "r"
model = "o"
`}, nil).load(Flags{})
	diff(t, "models", lines(`
		m = m "", 128000, image_in; p openai http://far.test/v1 key= X-D=4
		n = n "", 128000, ; q openai http://far.test/v1 key=sk-1
		o = o "", 128000, ; r openai https://api.openai.com/v1 key=
	`), models(c))
	diff(t, "loop", defaultLoop(), c.Loop)
	diff(t, "services", Services{}, c.Services)
	slices.Sort(warnings)
	want := lines(`
		~/.kimi/acp.toml:1: default_model is not a text in quotes; it is not used.
		~/.kimi/acp.toml:2: default_thinking is neither true nor false; it is not used.
		~/.kimi/acp.toml:3: default_mode is none of default, accept-edits, plan, yolo; it is not used.
		~/.kimi/acp.toml:4: unknown key theme; it is not used.
		~/.kimi/acp.toml:5: unknown key colour; it is not used.
		~/.kimi/acp.toml:6: log.debug is neither true nor false; it is not used.
		~/.kimi/acp.toml:6: unknown key log.dir; it is not used.
		~/.kimi/acp.toml:7: services.moonshot_fetch has no api_key, and signing in is not supported; the service is not used.
		~/.kimi/acp.toml:9: loop_control.max_steps_per_turn is not a whole number between 1 and 1000000; 1000 is used.
		~/.kimi/acp.toml:10: loop_control.max_retries_per_step is not a whole number between 1 and 100; 3 is used.
		~/.kimi/acp.toml:11: loop_control.max_ralph_iterations is not a whole number between -1 and 1000000; 0 is used.
		~/.kimi/acp.toml:12: loop_control.reserved_context_size is not a whole number between 1000 and 100000000; 50000 is used.
		~/.kimi/acp.toml:13: loop_control.compaction_trigger_ratio is not a number between 0.5 and 0.99; 0.85 is used.
		~/.kimi/acp.toml:14: unknown key loop_control.max_stepps; it is not used.
		~/.kimi/acp.toml:16: services.moonshot_search.base_url does not begin with http:// or https://; the service is not used.
		~/.kimi/acp.toml:20: providers.p.api_key holds characters that no key has; it is not used.
		~/.kimi/acp.toml:22: providers.p.custom_headers."X A" is no header field; it is not used.
		~/.kimi/acp.toml:22: providers.p.custom_headers.X-B is no header field; it is not used.
		~/.kimi/acp.toml:22: providers.p.custom_headers.X-C is not a text in quotes; it is not used.
		~/.kimi/acp.toml:25: providers.q.base_url begins with http://, so the key is sent unencrypted; it is used as it is.
		~/.kimi/acp.toml:29: providers.r.api_key_env names the variable "NOT_SET", which is not set; no key is sent.
		~/.kimi/acp.toml:33: models.m.display_name is no name of at most 200 printable characters; it is not used.
		~/.kimi/acp.toml:34: models.m.capabilities has an element that is not a text in quotes; that one is not used.
		~/.kimi/acp.toml:34: models.m.capabilities holds "telepathy", which is none of image_in, video_in, thinking, always_thinking; that one is not used.
		~/.kimi/acp.toml:38: models.n.capabilities is not a list of texts; it is not used.
	`)
	slices.Sort(want)
	diff(t, "warnings", want, warnings)
}

func TestBoundsOfModelsAndWarnings(t *testing.T) {
	var text strings.Builder
	text.WriteString("[providers.p]\ntype = \"_echo\"\n[models]\n")
	for range maxModels + 150 {
		text.WriteString("m" + strings.Repeat("x", text.Len()%150) + "_" + strconv.Itoa(text.Len()) + " = { provider = \"p\" }\n")
	}
	c, warnings := newHouse(t, map[string]string{own: text.String()}, nil).load(Flags{})
	if len(c.Models) != maxModels || len(warnings) != maxWarnings+1 {
		t.Fatalf("%d models, %d warnings", len(c.Models), len(warnings))
	}
	diff(t, "the last warning", "Configuration: 50 more problems like these were found.", warnings[maxWarnings])
}

func TestWarningsAreShort(t *testing.T) {
	long := strings.Repeat("é", 300)
	_, warnings := newHouse(t, map[string]string{own: `"` + long + `" = 1`}, nil).load(Flags{})
	diff(t, "warnings", []string{"~/.kimi/acp.toml:1: unknown key \"" + strings.Repeat("é", 30) + "…\"; it is not used."}, warnings)
}

func TestThingsThatAreNoFiles(t *testing.T) {
	h := newHouse(t, map[string]string{kimiCLI + "/x": ""}, nil)
	want := []string{"~/.kimi/config.toml: this is a folder, not a file; the file is not used."}
	if runtime.GOOS != "windows" {
		makePipe(t, h.path(own))
		want = append(want, "~/.kimi/acp.toml: this is not a regular file; the file is not used.")
	}
	_, warnings := h.load(Flags{})
	diff(t, "warnings", want, warnings)
}
