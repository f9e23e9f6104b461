package lsp

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Server says how a language server is started and for which files.
type Server struct {
	Name       string
	Command    []string // the program and its arguments
	Extensions []string // of its files, such as ".go"
	// Markers are files that stand in the folder that the server is to work in, the most
	// telling first. Where there is none, it is the root of the workspace.
	Markers  []string
	Settings map[string]any // given as initialization options and as configuration
	Environ  []string       // on top of the environment of all servers
}

// Builtin lists the servers that are known without any settings. Which of them are
// installed is found out when they are needed.
func Builtin() []Server {
	node := []string{"NODE_OPTIONS=--max-old-space-size=2048"}
	return []Server{
		{
			Name: "gopls", Command: []string{"gopls"}, Extensions: []string{".go"}, Markers: []string{"go.work", "go.mod"},
			Settings: map[string]any{"diagnosticsDelay": "100ms"}, Environ: []string{"GOMEMLIMIT=2GiB"},
		},
		{
			Name: "typescript-language-server", Command: []string{"typescript-language-server", "--stdio"}, Environ: node,
			Extensions: []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"},
			Markers:    []string{"tsconfig.json", "jsconfig.json", "package.json"},
		},
		{
			Name: "pyright", Command: []string{"pyright-langserver", "--stdio"}, Extensions: []string{".py", ".pyi"}, Environ: node,
			Markers: []string{"pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"},
		},
		{Name: "rust-analyzer", Command: []string{"rust-analyzer"}, Extensions: []string{".rs"}, Markers: []string{"Cargo.lock", "Cargo.toml"}},
		{
			Name: "clangd", Command: []string{"clangd"},
			Extensions: []string{".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".m", ".mm"},
			Markers:    []string{"compile_commands.json", "compile_flags.txt", ".clangd"},
		},
	}
}

// With puts servers before others: of two for one kind of file the first is used, and
// of two with one name the first takes the other's place.
func With(first, others []Server) []Server {
	out := slices.Clone(first)
	for _, s := range others {
		if !slices.ContainsFunc(first, func(f Server) bool { return f.Name == s.Name }) {
			out = append(out, s)
		}
	}
	return out
}

// Installed tells whether one of the servers can be found on this machine.
func Installed(servers []Server) bool {
	return slices.ContainsFunc(servers, func(s Server) bool {
		_, err := exec.LookPath(s.Command[0])
		return err == nil
	})
}

// serves tells whether a server is for a file.
func (s Server) serves(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext != "" && slices.Contains(s.Extensions, ext)
}

// home is the folder that the server works in for a file of a root.
func (s Server) home(path, root string) string {
	for _, marker := range s.Markers {
		for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
			if _, err := os.Lstat(filepath.Join(dir, marker)); err == nil {
				return dir
			}
			if dir == root || len(dir) <= len(root) {
				break
			}
		}
	}
	return root
}

// languageIDs are the names of languages in the protocol, where they are not the
// extension.
var languageIDs = map[string]string{
	".py": "python", ".pyi": "python", ".rs": "rust", ".tsx": "typescriptreact", ".jsx": "javascriptreact",
	".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
	".h": "c", ".cc": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp", ".m": "objective-c", ".mm": "objective-cpp",
	".rb": "ruby", ".cs": "csharp", ".kt": "kotlin", ".sh": "shellscript", ".md": "markdown", ".yml": "yaml", ".ex": "elixir", ".exs": "elixir", ".hs": "haskell",
}

func languageID(path string) string {
	ext := strings.ToLower(filepath.Ext(path))
	if id, ok := languageIDs[ext]; ok {
		return id
	}
	return strings.TrimPrefix(ext, ".")
}
