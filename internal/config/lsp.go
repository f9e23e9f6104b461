package config

import "strings"

// LanguageServer is what the settings say of a language server, one that is known
// without them or another.
type LanguageServer struct {
	Name        string
	Off         bool
	Command     []string // the program and its arguments; empty: as it is known
	Filetypes   []string // extensions, such as ".go"; empty: as it is known
	RootMarkers []string // files that stand in the folder that it works in; nil: as it is known
}

// maxLanguageServers bounds the servers of the settings.
const maxLanguageServers = 32

// readLanguageServers reads the tables in [lsp], in the order of the file.
func readLanguageServers(t *table, all *[]LanguageServer) {
	names, servers := t.tables("lsp")
	for _, name := range names {
		one := servers[name]
		s := LanguageServer{Name: name, Command: one.texts("command"), RootMarkers: one.texts("root_markers")}
		if enabled := one.flag("enabled"); enabled != nil {
			s.Off = !*enabled
		}
		for _, f := range one.texts("filetypes") {
			f = strings.ToLower(strings.TrimPrefix(f, "."))
			if f == "" || strings.ContainsAny(f, `/\*`) {
				one.warn("filetypes", "has an element that is no extension such as \"go\"; that one is not used")
				continue
			}
			s.Filetypes = append(s.Filetypes, "."+f)
		}
		one.unknown()
		switch {
		case !isProgramName(name):
			t.table("lsp").warn(name, "is no name of small letters, digits and - with at most 30 characters; the language server is left out")
		case len(s.Command) > 0 && s.Command[0] == "":
			one.warn("command", "does not begin with a program; the language server is left out")
		case len(*all) >= maxLanguageServers:
			t.table("lsp").warn(name, "is one language server too many: at most %d are used; it is left out", maxLanguageServers)
		default:
			*all = append((*all)[:len(*all):len(*all)], s)
		}
	}
}
