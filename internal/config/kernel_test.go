package config

import "testing"

func TestKernel(t *testing.T) {
	const kimiCLI, own = "[runtime]\nkernel = \"python\"\n", "[runtime]\nkernel = \"rust\"\n"
	tests := []struct {
		name         string
		kimiCLI, own string
		variable     string
		flag, want   string
	}{
		{"not said", "", "", "", "", ""},
		{"kimi-cli's file", kimiCLI, "", "", "", "python"},
		{"our file over it", kimiCLI, own, "", "", "rust"},
		{"the variable over both", kimiCLI, own, "auto", "", "auto"},
		{"the flag over all", kimiCLI, own, "auto", "run it --wire", "run it --wire"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t, map[string]string{".kimi/config.toml": tt.kimiCLI, ".kimi/acp.toml": tt.own}, map[string]string{"KIMI_KERNEL": tt.variable})
			c, warnings := h.load(Flags{Kernel: tt.flag})
			if c.Kernel != tt.want || warnings != nil {
				t.Errorf("got %q with %q, want %q", c.Kernel, warnings, tt.want)
			}
		})
	}
}

// A kernel of kimi-cli's own can use what stands in its file, signed in or not; of other
// files it knows nothing.
func TestKimiModels(t *testing.T) {
	h := newHouse(t, map[string]string{
		".kimi/config.toml": `
default_model = "b"
[providers.kimi]
type = "kimi"
base_url = "https://a"
oauth = { storage = "file", key = "k" }
[models.a]
provider = "kimi"
model = "a"
max_context_size = 100000
[models.b]
provider = "kimi"
model = "b"
max_context_size = 100000
`,
		".kimi/acp.toml": `
[providers.own]
type = "openai"
base_url = "https://b"
api_key = "x"
[models.own]
provider = "own"
model = "o"
max_context_size = 100000
`,
	}, nil)
	c, _ := h.load(Flags{})
	diff(t, "kimi-cli's models", []string{"b", "a"}, c.KimiModels)
}
