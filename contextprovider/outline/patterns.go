package outline

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// language says how the lines of a language define something.
type language struct {
	extensions []string
	patterns   []pattern
	comment    string // how a line of a comment begins
}

// pattern finds a definition in a line. Its group "name" is what is defined.
type pattern struct {
	kind string
	expr *regexp.Regexp
}

// languages are those that are read by patterns.
//
// The patterns want a definition to begin its line, behind words that may stand before
// one: what stands deeper in a line is nearly always a use.
var languages = sync.OnceValue(func() []language {
	const (
		name   = `(?P<name>[A-Za-z_$][\w$]*)`
		script = `^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?`
		rust   = `^\s*(?:pub(?:\([^)]*\))?\s+)?(?:default\s+)?(?:const\s+)?(?:async\s+)?(?:unsafe\s+)?(?:extern\s+"[^"]*"\s+)?`
		access = `^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|protected|private|internal|static|final|abstract|sealed|partial|virtual|override|async|readonly|open|data|inline|suspend|synchronized|extern|unsafe)\s+)*`
	)
	p := func(kind, expr string) pattern { return pattern{kind, regexp.MustCompile(expr)} }
	return []language{
		{[]string{".py", ".pyi"}, []pattern{
			p("func", `^\s*(?:async\s+)?def\s+`+name), p("class", `^\s*class\s+`+name), p("var", `^`+name+`\s*(?::[^=]+)?=[^=]`),
		}, "#"},
		{[]string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"}, []pattern{
			p("func", script+`(?:async\s+)?function\s*\*?\s*`+name), p("class", script+`class\s+`+name),
			p("interface", script+`interface\s+`+name), p("type", script+`type\s+`+name+`\s*(?:<[^=]*)?=`),
			p("enum", script+`(?:const\s+)?enum\s+`+name), p("const", `^(?:export\s+)?(?:declare\s+)?(?:const|let|var)\s+`+name),
		}, "//"},
		{[]string{".rs"}, []pattern{
			p("func", rust+`fn\s+`+name), p("struct", rust+`(?:struct|union)\s+`+name), p("enum", rust+`enum\s+`+name),
			p("trait", rust+`(?:auto\s+)?trait\s+`+name), p("type", rust+`type\s+`+name), p("const", rust+`(?:const|static)\s+(?:mut\s+)?`+name+`\s*:`),
			p("macro", `^\s*macro_rules!\s+`+name), p("module", rust+`mod\s+`+name),
		}, "///"},
		{[]string{".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".m", ".mm"}, []pattern{
			p("macro", `^\s*#\s*define\s+`+name), p("type", `^\s*(?:typedef\s+)?(?:struct|union|enum(?:\s+class)?|class)\s+`+name+`\s*[:{]?[^;()]*$`),
			p("func", `^[A-Za-z_][\w:<>,*&\s]*?[\s*&](?:\w+::)*`+name+`\s*\([^;]*$`),
		}, "//"},
		{[]string{".java", ".cs", ".kt", ".kts", ".scala", ".swift"}, []pattern{
			p("class", access+`(?:class|interface|enum|record|struct|object|trait|protocol|extension|actor)\s+`+name),
			p("func", access+`(?:fun|func|def)\s+(?:<[^>]*>\s*)?(?:\w+\.)?`+name),
			p("method", access+`[A-Z\w][\w<>\[\],.?]*\s+`+name+`\s*\([^;=]*\)\s*(?:throws\s+[\w.,\s]+)?\{?\s*$`),
		}, "//"},
		{[]string{".rb", ".rake"}, []pattern{
			p("func", `^\s*def\s+(?:self\.)?`+name), p("class", `^\s*class\s+(?:\w+::)*`+name), p("module", `^\s*module\s+(?:\w+::)*`+name),
		}, "#"},
		{[]string{".php"}, []pattern{
			p("func", access+`function\s+&?`+name), p("class", access+`(?:class|interface|trait|enum)\s+`+name),
		}, "//"},
		{[]string{".lua"}, []pattern{p("func", `^\s*(?:local\s+)?function\s+(?:[\w.]+[.:])?`+name)}, "--"},
		{[]string{".sh", ".bash", ".zsh"}, []pattern{p("func", `^\s*(?:function\s+)?`+name+`\s*\(\)`), p("func", `^\s*function\s+`+name)}, "#"},
		{[]string{".ex", ".exs"}, []pattern{p("func", `^\s*defp?\s+`+name), p("module", `^\s*defmodule\s+(?:\w+\.)*`+name)}, "#"},
		{[]string{".proto"}, []pattern{p("type", `^\s*(?:message|enum|service)\s+`+name), p("func", `^\s*rpc\s+`+name)}, "//"},
		{[]string{".sql"}, []pattern{p("table", `(?i)^\s*create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure)\s+(?:if\s+not\s+exists\s+)?(?:\w+\.)?`+name)}, "--"},
	}
})

func languageOf(ext string) *language {
	all := languages()
	i := slices.IndexFunc(all, func(l language) bool { return slices.Contains(l.extensions, ext) })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// longestLine bounds the lines that are looked at, in bytes.
const longestLine = 500

// notNames begin lines that look like definitions in some languages.
var notNames = []string{"if", "else", "for", "while", "switch", "return", "catch", "new", "case", "do", "sizeof", "throw", "await", "using", "in"}

func (l *language) definitions(text string) []Definition {
	var all []Definition
	var doc []string
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		trimmed := strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(trimmed, l.comment); ok {
			doc = append(doc, strings.TrimSpace(strings.TrimLeft(rest, "/#-!")))
			continue
		}
		if d, ok := l.definition(line); ok {
			d.Line, d.Signature, d.Doc = number, strings.TrimRight(trimmed, "{ \t"), strings.Join(doc, "\n")
			all = append(all, d)
		}
		if !strings.HasPrefix(trimmed, "#[") && !strings.HasPrefix(trimmed, "@") { // attributes stand between the two
			doc = doc[:0]
		}
		if len(all) >= maxDefinitions {
			break
		}
	}
	return all
}

func (l *language) definition(line string) (Definition, bool) {
	if len(line) > longestLine || strings.TrimSpace(line) == "" {
		return Definition{}, false
	}
	for _, p := range l.patterns {
		found := p.expr.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		name := found[p.expr.SubexpIndex("name")]
		first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if slices.Contains(notNames, name) || p.kind != "const" && slices.Contains(notNames, first) {
			continue
		}
		return Definition{Name: name, Kind: p.kind}, true
	}
	return Definition{}, false
}
