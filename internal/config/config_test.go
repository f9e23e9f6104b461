package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	kimiCode = ".kimi-code/config.toml"
	kimiCLI  = ".kimi/config.toml"
	own      = ".kimi/acp.toml"
)

func TestSourcesInOrder(t *testing.T) {
	files := map[string]string{
		kimiCode: `
			default_model = "code"
			[providers.p]
			type = "openai"
			base_url = "https://code.test/v1"
			api_key = "code-key"
			[models.code]
			provider = "p"
			model = "code-name"
			max_context_size = 10000
			[models.both]
			provider = "p"
			model = "both-of-code"
			max_context_size = 10000`,
		kimiCLI: `
			default_model = "cli"
			default_thinking = true
			[providers.p]
			type = "kimi"
			base_url = "https://cli.test/v1"
			api_key = "cli-key"
			[models.both]
			provider = "p"
			model = "both-of-cli"
			max_context_size = 20000
			[models.cli]
			provider = "p"
			model = "cli-name"
			max_context_size = 20000
			[loop_control]
			max_steps_per_turn = 7
			max_retries_per_step = 5
			max_ralph_iterations = 2`,
		own: `
			default_model = "mine"
			default_thinking = false
			default_mode = "plan"
			dmail = true
			plan_review = false
			[log]
			debug = true
			[models.mine]
			provider = "p"
			model = "mine-name"
			[loop_control]
			max_steps_per_turn = 8
			max_ralph_iterations = 0`,
	}
	const (
		code   = `code = code-name "", 10000, ; p openai https://code.test/v1 key=code-key`
		both   = `both = both-of-cli "", 20000, ; p kimi https://cli.test/v1 key=cli-key`
		cli    = `cli = cli-name "", 20000, ; p kimi https://cli.test/v1 key=cli-key`
		mine   = `mine = mine-name "", 128000, ; p kimi https://cli.test/v1 key=cli-key`
		fromEn = `env = env "", 128000, image_in+thinking; environment openai https://env.test/v1 key=env-key`
	)
	envModel := map[string]string{"OPENAI_API_KEY": "env-key", "OPENAI_BASE_URL": "https://env.test/v1", "OPENAI_MODEL": "env"}
	tests := []struct {
		name   string
		files  []string
		env    map[string]string
		flags  Flags
		models []string
	}{
		{"kimi-code", []string{kimiCode}, nil, Flags{}, []string{code, `both = both-of-code "", 10000, ; p openai https://code.test/v1 key=code-key`}},
		{"kimi-cli", []string{kimiCLI}, nil, Flags{}, []string{cli, both}},
		{"both", []string{kimiCode, kimiCLI}, nil, Flags{}, []string{cli, both, code}},
		{"all files", []string{kimiCode, kimiCLI, own}, nil, Flags{}, []string{mine, both, cli, code}},
		{"environment", []string{kimiCode, kimiCLI, own}, envModel, Flags{}, []string{fromEn, mine, both, cli, code}},
		{"flag", []string{kimiCode, kimiCLI, own}, envModel, Flags{Model: "both"}, []string{both, fromEn, mine, cli, code}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			some := map[string]string{}
			for _, name := range tt.files {
				some[name] = files[name]
			}
			c, warnings := newHouse(t, some, tt.env).load(tt.flags)
			diff(t, "models", tt.models, models(c))
			diff(t, "warnings", []string(nil), warnings)
			if c.DefaultModel != c.Models[0].ID {
				t.Errorf("the default %q is not the first", c.DefaultModel)
			}
		})
	}

	h := newHouse(t, files, nil)
	c, _ := h.load(Flags{})
	diff(t, "loop", Loop{8, 5, 0, 50_000, 0.85}, c.Loop)
	if c.DefaultMode != ModePlan || !c.DMail || !c.NoPlanReview || !c.Debug || c.Thinking == nil || *c.Thinking {
		t.Errorf("mode %q, debug %v, thinking %v", c.DefaultMode, c.Debug, c.Thinking)
	}
	h.env["KIMI_DEBUG"] = "0"
	on := true
	c, _ = h.load(Flags{Yolo: true, Thinking: &on})
	if c.DefaultMode != ModeYolo || c.Debug || !*c.Thinking {
		t.Errorf("mode %q, debug %v, thinking %v", c.DefaultMode, c.Debug, *c.Thinking)
	}
	if c, _ = h.load(Flags{Debug: true}); !c.Debug {
		t.Error("the flag does not win over the variable")
	}
}

// What kimi-cli and kimi-code write, with all that is not used here.
func TestShareDirAndDebug(t *testing.T) {
	dir := t.TempDir()
	noHome := homeVariable() + " names no folder; sessions and logs are not kept. Set KIMI_SHARE_DIR to keep them."
	tests := []struct {
		name  string
		env   map[string]string
		share string
		debug bool
		warn  []string
	}{
		{"home", map[string]string{homeVariable(): dir}, filepath.Join(dir, ".kimi"), false, nil},
		{"own folder, no home", map[string]string{"KIMI_SHARE_DIR": filepath.Join(dir, "s") + "/", "KIMI_DEBUG": "1"}, filepath.Join(dir, "s"), true, nil},
		{"no home", map[string]string{"KIMI_DEBUG": "off"}, "", false, []string{noHome}},
		{"home is relative", map[string]string{homeVariable(): "h"}, "", false, []string{noHome}},
		{
			"relative folder",
			map[string]string{"KIMI_SHARE_DIR": "s", homeVariable(): dir},
			filepath.Join(dir, ".kimi"), false,
			[]string{"KIMI_SHARE_DIR is not an absolute path; the default folder is used."},
		},
		{
			"debug is neither",
			map[string]string{homeVariable(): dir, "KIMI_DEBUG": "loud"},
			filepath.Join(dir, ".kimi"), false,
			[]string{"KIMI_DEBUG is neither 1 nor 0; it is not used."},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, warnings := house{dir: dir, env: tt.env}.load(Flags{})
			logs := ""
			if tt.share != "" {
				logs = filepath.Join(tt.share, "logs")
			}
			if c.ShareDir != tt.share || c.Debug != tt.debug || c.LogDir() != logs {
				t.Errorf("share %q, debug %v, logs %q", c.ShareDir, c.Debug, c.LogDir())
			}
			diff(t, "warnings", tt.warn, warnings)
		})
	}
}

func TestPlacesOfFiles(t *testing.T) {
	const echo = "[providers.p]\ntype = \"_echo\"\n[models.NAME]\nprovider = \"p\"\n"
	named := func(name string) string { return strings.ReplaceAll(echo, "NAME", name) }
	h := newHouse(t, map[string]string{
		"s/config.toml": named("shared"), "s/config.json": `{"models":`,
		"code/config.toml": named("moved"), kimiCode: named("unmoved"),
		"f.toml": "theme = \"dark\"\ndefault_mode = \"plan\"\n" + named("file"),
		"f.json": `{"default_mode": "plan", "providers": {"p": {"type": "_echo"}}, "models": {"b": {"provider": "p"}, "a": {"provider": "p", "max_context_size": 5000}}}`,
	}, nil)
	h.env["KIMI_SHARE_DIR"], h.env["KIMI_CODE_HOME"] = h.path("s"), h.path("code")
	ids := func(f Flags) []string {
		c, warnings := h.load(f)
		all := []string{c.DefaultMode}
		for _, m := range c.Models {
			all = append(all, m.ID)
		}
		return append(all, warnings...)
	}
	diff(t, "folders from variables", []string{"", "shared", "moved"}, ids(Flags{}))
	diff(t, "a file named", []string{"plan", "file"}, ids(Flags{ConfigFile: h.path("f.toml")}))
	diff(t, "JSON, in the order of the keys", []string{"plan", "a", "b"}, ids(Flags{ConfigFile: h.path("f.json")}))
	diff(t, "no such file", []string{"", "~/f.yaml: there is no such file; no settings are read from it."}, ids(Flags{ConfigFile: h.path("f.yaml")}))
	h.env["KIMI_SHARE_DIR"] = h.path("t")
	h.write(t, "t/config.json", `{"default_model": "z", "telemetry": true, "providers": {"p": {"type": "_echo", "x": 1}}, "models": {"y": {"provider": "p"}, "z": {"provider": "p"}}}`)
	diff(t, "the older JSON file", []string{"", "z", "y", "moved", "~/t/config.json: unknown key providers.p.x; it is not used."}, ids(Flags{}))
}

func TestMissing(t *testing.T) {
	model := func(p Provider) Config { return Config{DefaultModel: "m", Models: []Model{{ID: "m", Provider: p}}} }
	dir := t.TempDir()
	tests := []struct {
		name string
		c    Config
		want []string // pieces in order, none for an empty text
	}{
		{"nothing", Config{}, []string{"No model is set up.", "KIMI_API_KEY", "KIMI_MODEL_NAME", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "start it again."}},
		{"nothing, but a place for it", Config{ShareDir: dir}, []string{"No model is set up.", filepath.Join(dir, "acp.toml"), "[models.NAME]"}},
		{"complete", model(Provider{Type: TypeOpenAI, BaseURL: "https://a"}), nil},
		{"scripted", model(Provider{Type: TypeScripted, Scripts: "s"}), nil},
		{"scripted without a file", model(Provider{Type: TypeScripted}), []string{"KIMI_SCRIPTED_ECHO_SCRIPTS"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.c.Missing()
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

// A pipe must not keep the start waiting; a folder is no file.
// What the page about configuration offers to copy is taken as it stands.
func TestExamplesOfThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	const theirs = "[providers.moonshot]\ntype = \"kimi\"\nbase_url = \"https://api.moonshot.ai/v1\"\napi_key = \"k\"\n"
	blocks := strings.Split(strings.ReplaceAll(string(page), "\r\n", "\n"), "```toml\n")[1:]
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		c, warnings := newHouse(t, map[string]string{own: text, kimiCLI: theirs},
			map[string]string{"MOONSHOT_API_KEY": "k", "OPENAI_API_KEY": "k"}).load(Flags{})
		if len(c.Models) != 1 && len(c.Policy.Rules) == 0 || len(warnings) > 0 {
			t.Errorf("%d models, %d rules and the warnings %q of\n%s", len(c.Models), len(c.Policy.Rules), warnings, text)
		}
	}
	if len(blocks) < 4 {
		t.Errorf("%d examples", len(blocks))
	}
}

func TestFallbackModel(t *testing.T) {
	const echo = "[providers.p]\ntype = \"_echo\"\n[models.a]\nprovider = \"p\"\n[models.b]\nprovider = \"p\"\n"
	for _, c := range []struct {
		name, file, text string
		want             []string // the model, then warnings
	}{
		{"named", own, "fallback_model = \"b\"\n" + echo, []string{"b"}},
		{"not named", own, echo, []string{""}},
		{"unknown", own, "fallback_model = \"c\"\n" + echo, []string{"", `~/.kimi/acp.toml:1: there is no usable model "c" to fall back on; none is used.`}},
		{"no key of kimi-cli's", kimiCLI, "fallback_model = \"b\"\n" + echo, []string{"", "~/.kimi/config.toml:1: unknown key fallback_model; it is not used."}},
	} {
		got, warnings := newHouse(t, map[string]string{c.file: c.text}, nil).load(Flags{})
		diff(t, c.name, c.want, append([]string{got.Fallback}, warnings...))
	}
}
