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
