package editors_test

import (
	"testing"

	"kimi-acp/editors"
)

func TestFor(t *testing.T) {
	jetBrains := editors.Profile{Name: "JetBrains", AuthMethodsOnlyWhenLoggedOut: true}
	hidden := jetBrains
	hidden.HideConfigOptions = true
	tests := []struct {
		name, version string
		want          editors.Profile
	}{
		{"zed", "0.999.0", editors.Profile{Name: "Zed", ReannounceCommands: true}},
		{"zed", "", editors.Profile{Name: "Zed", ReannounceCommands: true}},
		{"JetBrains.PyCharm", "2026.1.2", hidden},
		{"JetBrains.IntelliJIdea", "2026.1", hidden},
		{"JetBrains.PyCharm", "2025.3", jetBrains},
		{"JetBrains.PyCharm", "2026.2", jetBrains},
		{"JetBrains.PyCharm", "2026.10", jetBrains},
		{"JetBrains.PyCharm", "", jetBrains},
		{"JetBrains", "2026.1", editors.Profile{}},
		{"QtCreator", "1.0", editors.Profile{Name: "Qt Creator"}},
		{"vscode-acp", "1.3.0", editors.Profile{Name: "vscode-acp"}},
		{"vscode-acp-client", "0.2.0", editors.Profile{Name: "ACP Client for VS Code"}},
		{"zedd", "1", editors.Profile{}},
		{"", "", editors.Profile{}},
	}
	for _, tt := range tests {
		if got := editors.For(tt.name, tt.version); got != tt.want {
			t.Errorf("For(%q, %q) = %+v, want %+v", tt.name, tt.version, got, tt.want)
		}
	}
}
