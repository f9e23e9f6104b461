package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	testName   = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9_]+)`")
	folderName = regexp.MustCompile(`\(([a-z/-]+)\)`)
	dataName   = regexp.MustCompile("`(testdata/[^`]+)`")
)

// tableRows gives the rows of the tables of a page below a heading, cell by cell.
func tableRows(page, heading string) (rows [][]string) {
	_, rest, _ := strings.Cut(page, "\n## "+heading+"\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	for _, line := range strings.Split(rest, "\n") {
		if cells, ok := strings.CutPrefix(line, "| "); ok {
			rows = append(rows, strings.Split(strings.TrimSuffix(cells, " |"), " | "))
		}
	}
	if len(rows) > 0 {
		rows = rows[1:] // below the titles
	}
	return rows
}

// missingTests says which tests that a cell names there are not. Groups of names end
// with a semicolon, and with a folder in brackets when it is not internal/policy.
func missingTests(cell string, functions func(folder string) []string) (missing []string, named int) {
	for _, group := range strings.Split(cell, ";") {
		folder := "internal/policy"
		if m := folderName.FindStringSubmatch(group); m != nil {
			folder = m[1]
		}
		for _, m := range testName.FindAllStringSubmatch(group, -1) {
			named++
			if !slices.Contains(functions(folder), m[1]) {
				missing = append(missing, folder+": "+m[1])
			}
		}
		for _, m := range dataName.FindAllStringSubmatch(group, -1) {
			if _, err := os.Stat(filepath.Join(home, folder, m[1])); err != nil {
				missing = append(missing, folder+": "+m[1])
			}
		}
	}
	return missing, named
}

// TestPromises: each promise of docs/security.md, and each bug that docs/files.md says is
// held off, names a test, and there is one of that name.
func TestPromises(t *testing.T) {
	known := map[string][]string{}
	functions := func(folder string) []string {
		if known[folder] == nil {
			s := parse(t, folder, true)
			known[folder] = append(s.tests(), s.functions("Fuzz")...)
		}
		return known[folder]
	}
	for _, table := range []struct {
		page, heading string
		least         int // rows
	}{
		{"security.md", "Promises, and the tests that hold them", 25},
		{"security.md", "Cases of the corpus that are held elsewhere", 8},
		{"files.md", "What went wrong elsewhere", 19},
	} {
		data, err := os.ReadFile(filepath.Join(home, "docs", table.page))
		if err != nil {
			t.Fatal(err)
		}
		rows := tableRows(string(data), table.heading)
		if len(rows) < table.least {
			t.Errorf("%q has %d rows", table.heading, len(rows))
		}
		for _, row := range rows {
			missing, named := missingTests(row[len(row)-1], functions)
			if named == 0 {
				t.Errorf("no test is named for %q", row[0])
			}
			for _, m := range missing {
				t.Errorf("%q: there is no %s", row[0], m)
			}
		}
	}
}

func TestMissingTests(t *testing.T) {
	functions := func(folder string) []string {
		return map[string][]string{"internal/policy": {"TestA"}, "acp": {"TestB", "FuzzC"}}[folder]
	}
	missing, named := missingTests("`TestA`, `testdata/none`; `TestB`, `FuzzC`, `TestA` (acp); there is no way", functions)
	if want := []string{"internal/policy: testdata/none", "acp: TestA"}; !slices.Equal(missing, want) || named != 4 {
		t.Errorf("%q, %d", missing, named)
	}
}
