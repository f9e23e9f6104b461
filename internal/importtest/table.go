// Package importtest holds the directions in which the packages of the module
// import one another, as a table, and the tests that hold the code against it.
//
// It must not be imported, and it imports nothing of the module.
package importtest

// A rule says what packages may import of the module. Paths are without the
// module's name. A pattern is a package, or a folder with "/..." for everything
// in and beneath it; of the rules that fit a package the longest pattern counts.
type rule struct {
	pattern string
	allowed []string
}

// rules is the house, from the roof down. A package imports what stands beneath
// it; what it needs from above it declares as an interface.
var rules = []rule{
	{"cmd/kimi-acp", []string{"cmd/kimi-acp/...", "acp", "soul/...", "contextprovider/...", "editors/...", "fileop/...", "internal/..."}},
	// The demo sees what an editor sees, and scripts the model's end.
	{"cmd/kimi-acp/demo", []string{"fileop/...", "internal/..."}},
	// A turn without an editor, and what is built on it.
	{"cmd/kimi-acp/run", []string{"soul", "soul/background", "soul/llm", "soul/skill", "soul/subagent", "soul/tool", "soul/wire", "contextprovider", "fileop", "internal/..."}},
	{"cmd/kimi-acp/eval", []string{"cmd/kimi-acp/run", "soul", "soul/llm", "soul/tool", "soul/wire", "internal/..."}},
	{"cmd/kimi-acp/doctor", []string{"soul/llm", "soul/llm/openai", "internal/..."}},
	// What is kept of sessions, shown and mended.
	{"cmd/kimi-acp/sessionscmd", []string{"cmd/kimi-acp/playback", "soul/llm", "soul/session", "soul/wire", "internal/..."}},
	{"cmd/kimi-acp/wirecmd", []string{"cmd/kimi-acp/playback", "soul/session", "soul/wire", "internal/..."}},
	{"cmd/kimi-acp/playback", []string{"soul", "soul/llm", "soul/session", "soul/tool", "soul/wire", "internal/..."}},
	{"cmd/kimi-acp/policycmd", []string{"fileop/facts", "internal/policy"}},
	{"cmd/kimi-acp/trustcmd", []string{"internal/policy", "internal/trust"}},
	{"acp", []string{"editors", "soul", "soul/background", "soul/llm", "soul/session", "soul/tool", "soul/wire", "contextprovider", "fileop", "fileop/facts", "internal/..."}},

	{"soul", []string{"soul/background", "soul/llm", "soul/wire", "soul/tool", "soul/session", "soul/skill", "soul/compaction", "contextprovider", "fileop", "internal/..."}},
	{"soul/background", []string{"internal/..."}},
	{"soul/compaction", []string{"soul/llm", "soul/session", "contextprovider"}},
	{"soul/kernel", []string{"contextprovider", "soul", "soul/llm", "soul/session", "soul/wire", "internal/..."}},
	// A client of kimi-cli's Wire at the same place where acp has an editor.
	{"soul/wireserver", []string{"soul", "soul/background", "soul/hook", "soul/subagent", "soul/llm", "soul/session", "soul/skill", "soul/tool", "soul/wire", "fileop", "internal/..."}},
	// The agents that a model starts.
	{"soul/subagent", []string{"soul", "soul/background", "soul/llm", "soul/session", "soul/skill", "soul/tool", "soul/wire"}},
	{"soul/agentfile", []string{"soul/tool", "internal/yaml"}},
	{"soul/skill", nil},
	{"soul/hook", []string{"soul/wire", "internal/..."}},
	{"soul/session", []string{"soul/llm", "soul/wire", "internal/..."}},
	{"soul/tool", []string{"soul/background", "soul/llm", "soul/wire", "contextprovider", "fileop", "fileop/facts", "internal/..."}},
	{"soul/wire/...", []string{"soul/llm", "internal/..."}},
	{"soul/llm", []string{"internal/jsonstring"}},
	{"soul/llm/openai", []string{"soul/llm", "internal/..."}},
	{"soul/llm/catalog", []string{"soul/llm", "soul/llm/openai", "soul/llm/scripted", "internal/..."}},
	{"soul/llm/scripted", []string{"soul/llm", "internal/..."}},

	{"contextprovider", []string{"editors/state", "fileop", "internal/..."}},
	// What git tells, by the git binary.
	{"contextprovider/git", []string{"contextprovider", "internal/..."}},
	// What language servers know, and what a text alone tells.
	{"contextprovider/lsp", []string{"contextprovider", "contextprovider/outline", "internal/..."}},
	{"contextprovider/outline", nil},
	{"editors", []string{"editors/state"}},
	{"editors/companion", []string{"editors/state", "internal/..."}},
	{"editors/state", []string{"internal/..."}},

	{"fileop", []string{"internal/..."}},
	{"fileop/sandbox", []string{"internal/..."}},
	{"fileop/facts", []string{"internal/policy"}},
	{"fileop/storetest", []string{"fileop"}},

	// The pages are made from whatever they are about.
	{"internal/doctest", []string{"acp", "soul/...", "contextprovider", "fileop", "internal/..."}},
	// kimi-cli and the store of sessions on the same files.
	{"internal/kerneltest", []string{"soul", "soul/kernel", "soul/llm", "soul/session", "soul/wire", "internal/..."}},
	{"internal/...", []string{"internal/..."}},
}

// testKits may be imported by tests alone, but for the exceptions.
var testKits = []struct {
	pattern    string
	exceptions []string
}{
	{"internal/acptest/...", nil},
	{"internal/modeltest", []string{"cmd/kimi-acp/demo", "internal/agentbench"}},
	{"internal/clienttest", nil},
	{"internal/kerneltest", nil},
	{"internal/llamatest", nil},
	{"internal/foreigntest", nil},
	{"internal/soaktest", nil},
	{"internal/doctest", nil},
	{"internal/importtest", nil},
	{"internal/obs/obstest", nil},
	{"fileop/storetest", nil},
}

// forTests are packages that the tests of whoever may know their parent may use.
var forTests = []string{"soul/kernel", "soul/subagent", "soul/llm/scripted", "soul/llm/openai", "soul/skill", "soul/hook"}

// testsWith are packages that only the tests of a package may use.
var testsWith = map[string][]string{
	"soul/kernel": {"fileop"}, // a host that edits files while its kernel is killed
}

// outside are modules that one package, or one tree, keeps from the others.
var outside = map[string][]string{
	"github.com/coder/acp-go-sdk":       {"acp"},
	"github.com/sashabaranov/go-openai": {"soul/llm/openai"},
	"github.com/google/jsonschema-go":   {"soul/tool", "soul/wireserver", "internal/acptest/..."},
	"github.com/aymanbagabas/go-udiff":  {"fileop"},
	"github.com/bmatcuk/doublestar/v4":  {"soul/tool"},
	"github.com/fsnotify/fsnotify":      {"contextprovider/git", "editors/state", "internal/config", "soul/session"},
	"github.com/tliron/glsp":            {"contextprovider/lsp", "editors/companion"},
	"github.com/pelletier/go-toml/v2":   {"internal/config"},
	"mvdan.cc/sh/v3":                    {"internal/policy"},
	"github.com/google/go-cmp":          nil, // tests
	"go.uber.org/goleak":                nil, // tests
	"go.yaml.in/yaml/v3":                nil, // tests
	"pgregory.net/rapid":                nil, // tests
	"golang.org/x/sys":                  {"internal/...", "fileop/..."},
	"golang.org/x/term":                 {"cmd/kimi-acp", "internal/..."},
}
