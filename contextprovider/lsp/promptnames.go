package lsp

import (
	"regexp"
	"slices"
	"strings"

	"kimi-acp/contextprovider/outline"
)

// Bounds on the names that are looked for in a prompt.
const (
	maxPrompt  = 16 << 10 // bytes that are looked at
	maxNames   = 5
	maxLetters = 100 // bytes of a name
)

// maybeName finds what could name a symbol: words joined by dots, colons or #.
var maybeName = regexp.MustCompile(`[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*`)

// namesIn gives the symbols that a prompt seems to name, those first that were meant to
// be names without a doubt: in backticks, then called, then written as no word is.
func namesIn(prompt string) []string {
	prompt = prompt[:min(len(prompt), maxPrompt)]
	var ranks [4][]string
	quoted := false
	last := 0
	for _, span := range maybeName.FindAllStringIndex(prompt, -1) {
		quoted = quoted != (strings.Count(prompt[last:span[0]], "`")%2 == 1)
		last = span[0]
		name := prompt[span[0]:span[1]]
		before, after := prompt[:span[0]], prompt[span[1]:]
		if len(name) < 2 || len(name) > maxLetters || inPath(before, name, after) {
			continue
		}
		switch {
		case quoted:
			ranks[0] = append(ranks[0], name)
		case strings.HasPrefix(after, "("):
			ranks[1] = append(ranks[1], name)
		case isMixed(name):
			ranks[2] = append(ranks[2], name)
		case len(name) > 3 && isUpper(name[0]) && !strings.ContainsFunc(name, func(r rune) bool { return r == '.' }) && !beginsSentence(before):
			ranks[3] = append(ranks[3], name)
		}
	}
	var all []string
	for _, names := range ranks {
		for _, n := range names {
			if len(all) < maxNames && !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all
}

// inPath tells whether a name is a part of a path or an address.
func inPath(before, name, after string) bool {
	if strings.HasSuffix(before, "/") || strings.HasSuffix(before, `\`) || strings.HasSuffix(before, "@") || strings.HasSuffix(before, "-") {
		return true
	}
	if strings.HasPrefix(after, "/") || strings.HasPrefix(after, "@") || strings.HasPrefix(after, "://") {
		return true
	}
	return strings.Contains(name, ".") && !strings.HasPrefix(after, "(") && (outline.Knows(name) || isFileName(name))
}

// isFileName tells whether a name ends like files that define nothing.
func isFileName(name string) bool {
	ext := name[strings.LastIndexByte(name, '.')+1:]
	return slices.Contains([]string{"md", "txt", "json", "toml", "yaml", "yml", "mod", "sum", "lock", "log", "html", "css", "xml", "csv", "png", "com", "org", "io", "net"}, ext)
}

// isMixed tells whether a name is written as no word is: with an underscore, parts, or
// capitals behind small letters.
func isMixed(name string) bool {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == ':' || r == '#' })
	if len(parts) > 1 {
		return slices.ContainsFunc(parts, func(p string) bool { return len(p) > 1 }) && name != "e.g" && name != "i.e"
	}
	if strings.Contains(strings.Trim(name, "_"), "_") {
		return true
	}
	for i := 1; i < len(name); i++ {
		if isUpper(name[i]) && !isUpper(name[i-1]) {
			return true
		}
	}
	return false
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func beginsSentence(before string) bool {
	before = strings.TrimRight(before, " \t")
	return before == "" || strings.ContainsRune(".!?:;\n-*#>\"", rune(before[len(before)-1]))
}
