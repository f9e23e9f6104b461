package tool

import "strings"

// filesOfType names the files of a type, as patterns for the last element of a path;
// false: the type is not known.
func filesOfType(name string) ([]string, bool) {
	for _, t := range fileTypes() {
		for alias := range strings.FieldsSeq(t.names) {
			if strings.EqualFold(alias, name) {
				return strings.Fields(t.files), true
			}
		}
	}
	return nil, false
}

// typeNames lists the types by their first names.
func typeNames() string {
	var names []string
	for _, t := range fileTypes() {
		first, _, _ := strings.Cut(t.names, " ")
		names = append(names, first)
	}
	return strings.Join(names, ", ")
}

type fileType struct{ names, files string }

func fileTypes() []fileType {
	return []fileType{
		{"c", "*.c *.h"},
		{"clojure clj", "*.clj *.cljc *.cljs *.edn"},
		{"cmake", "*.cmake CMakeLists.txt"},
		{"cpp c++", "*.cc *.cpp *.cxx *.c++ *.hh *.hpp *.hxx *.h++ *.h *.inl"},
		{"csharp cs", "*.cs *.csx"},
		{"css", "*.css *.scss *.sass *.less"},
		{"dart", "*.dart"},
		{"docker dockerfile", "Dockerfile Dockerfile.* *.dockerfile"},
		{"elixir", "*.ex *.exs *.eex *.heex"},
		{"elm", "*.elm"},
		{"erlang", "*.erl *.hrl"},
		{"fsharp fs", "*.fs *.fsi *.fsx"},
		{"go golang", "*.go"},
		{"graphql", "*.graphql *.gql"},
		{"groovy gradle", "*.groovy *.gradle"},
		{"haskell hs", "*.hs *.lhs"},
		{"html", "*.html *.htm *.xhtml"},
		{"java", "*.java"},
		{"js javascript", "*.js *.jsx *.mjs *.cjs"},
		{"json", "*.json *.jsonc *.json5 *.jsonl"},
		{"julia", "*.jl"},
		{"kotlin kt", "*.kt *.kts"},
		{"lua", "*.lua"},
		{"make", "Makefile makefile GNUmakefile *.mk *.mak"},
		{"md markdown", "*.md *.markdown *.mdx"},
		{"nix", "*.nix"},
		{"objc", "*.m *.mm *.h"},
		{"ocaml", "*.ml *.mli"},
		{"perl", "*.pl *.pm *.t"},
		{"php", "*.php *.phtml"},
		{"proto protobuf", "*.proto"},
		{"ps powershell", "*.ps1 *.psm1 *.psd1"},
		{"py python", "*.py *.pyi *.pyx"},
		{"r", "*.r *.R *.Rmd"},
		{"rst", "*.rst"},
		{"ruby rb", "*.rb *.rake *.gemspec Gemfile Rakefile"},
		{"rust rs", "*.rs"},
		{"scala", "*.scala *.sbt"},
		{"sh shell bash", "*.sh *.bash *.zsh *.ksh .bashrc .zshrc .profile"},
		{"sql", "*.sql"},
		{"svelte", "*.svelte"},
		{"swift", "*.swift"},
		{"terraform tf", "*.tf *.tfvars"},
		{"toml", "*.toml"},
		{"ts typescript", "*.ts *.tsx *.mts *.cts"},
		{"txt", "*.txt"},
		{"vue", "*.vue"},
		{"xml", "*.xml *.xsd *.xsl *.svg"},
		{"yaml yml", "*.yaml *.yml"},
		{"zig", "*.zig"},
	}
}
