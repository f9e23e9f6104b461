package doctest

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the made parts of the pages")

// home is the module's folder.
const home = "../.."

// The lines around a made part of a page, with its name between the halves.
const (
	beginsWith = "<!-- made by go test ./internal/doctest -update: "
	endsWith   = "<!-- end of "
	closing    = " -->\n"
)

// hold holds a page against the parts that it must have, by name.
func hold(t *testing.T, page string, parts map[string]string) {
	t.Helper()
	if t.Failed() {
		return // the parts are not whole
	}
	path := filepath.Join(home, "docs", page)
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := rewrite(string(was), parts)
	if err != nil {
		t.Fatalf("docs/%s: %v", page, err)
	}
	if want == string(was) {
		return
	}
	if !*update {
		t.Errorf("docs/%s is not what the program is (-page +program); go test ./internal/doctest -update mends it:\n%s", page, cmp.Diff(strings.Split(string(was), "\n"), strings.Split(want, "\n")))
		return
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// rewrite puts the parts in the places that a page has for them.
func rewrite(page string, parts map[string]string) (string, error) {
	var out strings.Builder
	missing := maps.Clone(parts)
	for {
		before, rest, found := strings.Cut(page, beginsWith)
		out.WriteString(before)
		if !found {
			break
		}
		name, rest, ok := strings.Cut(rest, closing)
		end := endsWith + name + closing
		_, rest, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return "", fmt.Errorf("the part %q has no end", name)
		}
		part, known := missing[name]
		if !known {
			return "", fmt.Errorf("the part %q is unknown, or there twice", name)
		}
		delete(missing, name)
		out.WriteString(beginsWith + name + closing + "\n" + strings.Trim(part, "\n") + "\n\n" + end)
		page = rest
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("there is no place for %v", slices.Sorted(maps.Keys(missing)))
	}
	return out.String(), nil
}

func TestRewrite(t *testing.T) {
	place := func(name, text string) string { return beginsWith + name + closing + text + endsWith + name + closing }
	for _, tt := range []struct {
		name, page string
		want, err  string
	}{
		{"two", "# T\n" + place("a", "old\n") + "between\n" + place("b", "") + "after\n", "# T\n" + place("a", "\nA\n\n") + "between\n" + place("b", "\nB\n\n") + "after\n", ""},
		{"no place", place("a", ""), "", "no place for [b]"},
		{"unknown", place("a", "") + place("b", "") + place("c", ""), "", `"c" is unknown`},
		{"twice", place("a", "") + place("a", "") + place("b", ""), "", `"a" is unknown, or there twice`},
		{"no end", place("a", "") + beginsWith + "b" + closing, "", `"b" has no end`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := rewrite(tt.page, map[string]string{"a": "A\n", "b": "\nB"})
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q, %v; want %q, %s", got, err, tt.want, tt.err)
			}
			if again, _ := rewrite(got, map[string]string{"a": "A\n", "b": "\nB"}); tt.err == "" && again != got {
				t.Errorf("a second time it gives %q", again)
			}
		})
	}
}

// table makes a Markdown table. Cells may hold anything but line breaks that count.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			fmt.Fprintf(&b, " %s |", strings.ReplaceAll(strings.Join(strings.Fields(c), " "), "|", `\|`))
		}
		b.WriteString("\n")
	}
	line(head)
	b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

func code(s string) string { return "`" + s + "`" }
