package contextprovider

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/internal/markdown"
)

func TestDescribe(t *testing.T) {
	facts := &Facts{
		Git:  []GitState{{Root: "/w", Branch: "main", Commits: []GitCommit{{"abc1234", "A subject that is longer than a line of eighty characters can be, with a ```` in it"}}}},
		Tree: []TreeFolder{{Path: "/w", Entries: []string{strings.Repeat("a", 100), "b.go"}}},
	}
	m := momentOf(t, facts, nil)
	before := m.Part(t.Context(), "", nil, nil)
	m.Editor(func(e *EditorState) { e.Active, e.Cursor = "/w/b.go", &Position{Line: 3, Column: 5} })
	text := m.Describe(t.Context(), []string{before})
	const want = "Context is `auto`: this stands beside your next prompt.\n" + `
| part | tokens | |
|---|---:|---|
| editor | 12 | sent |
| git | 41 | as told before, not sent again |
| tree | 28 | as told before, not sent again |
| together | 81 of 4000 | |

**editor**

` + "```" + `
active file: b.go, cursor at line 3 column 5
` + "```" + `

**git**

` + "`````" + `
branch main
nothing has changed since the last commit
last commits:
  abc1234 A subject that is longer than a line of eighty characters can be,
    with a ` + "````" + ` in it
` + "`````" + `

**tree**

` + "```" + `
./: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    aaaaaaaaaaaaaaaaaaaaaaaaaa b.go
` + "```" + `
`
	if diff := cmp.Diff(want, text); diff != "" {
		t.Error(diff)
	}
	m.SetUse(UseOff)
	if text := m.Describe(t.Context(), nil); !strings.Contains(text, "Context is `off`") || strings.Count(text, "| not sent |") != 3 {
		t.Error(text)
	}
}

// Whatever stands in it, no line is wider than a terminal, and no block ends early.
func FuzzWrapped(f *testing.F) {
	f.Add(hostile)
	f.Add(strings.Repeat("wide ", 40) + "\t" + strings.Repeat("é", 200))
	f.Fuzz(func(t *testing.T, s string) {
		line := shownLine(s)
		text := wrapped([]string{line})
		for got := range strings.SplitSeq(text, "\n") {
			if utf8.RuneCountInString(got) > shownWidth {
				t.Errorf("%q is too wide", got)
			}
		}
		blanks := strings.NewReplacer(" ", "", "\t", "", "\n", "")
		if blanks.Replace(line) != blanks.Replace(text) {
			t.Errorf("%q has become %q", line, text)
		}
		if fence, _, _ := strings.Cut(markdown.Fenced("", text), "\n"); strings.Contains(text, fence) {
			t.Error("the fence is in the text")
		}
	})
}
