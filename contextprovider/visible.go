package contextprovider

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"kimi-acp/internal/policy"
)

// longestLine bounds a line of the context, in bytes.
const longestLine = 1000

// shownLine makes one line out of anything: hidden characters become visible, tags
// that could be taken for ours lose their meaning, what is too long is cut.
func shownLine(s string) string {
	if len(s) > longestLine {
		cut := longestLine
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	if strings.Contains(s, "\t") {
		// Code is indented by tabs, and a model reads them as we do.
		cells := strings.Split(s, "\t")
		for i, c := range cells {
			cells[i] = policy.Visible(c)
		}
		s = strings.Join(cells, "\t")
	} else {
		s = policy.Visible(s)
	}
	return disarm(s)
}

// shownName shows a name of a file, branch or person within a line.
func shownName(s string) string { return strings.ReplaceAll(shownLine(s), "\t", `\t`) }

// tagLike finds what could be read as one of the tags that mean something in a
// prompt, also in letters that only look like them.
var tagLike = regexp.MustCompile(`(?i)([<＜‹〈﹤❮])(\s*[/／]?\s*)(context|requests|editor|files|symbols|diagnostics|git|diff|tree|notes|missed|mention|system|instructions|user|assistant|developer|tool|human)`)

// disarm puts a backslash behind the bracket of what looks like such a tag.
func disarm(s string) string {
	if !strings.ContainsAny(s, "<＜‹〈﹤❮") {
		return s
	}
	return tagLike.ReplaceAllString(s, `$1\$2$3`)
}
