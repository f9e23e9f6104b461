package doctest

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// item is a line of the checklist.
type item struct {
	number                int
	section, text         string
	named                 []string // tests that bear no number
	open, notServed       string
	titleOfSection, where string // the section's title, where it begins; file and line
}

var (
	headingLine = regexp.MustCompile(`^([A-Z]): (.+)$`)
	itemLine    = regexp.MustCompile(`^(\d{3}) ([A-Z]) (.+\.)$`)
	noteLine    = regexp.MustCompile(`^ +(tests|open|not served): (.+)$`)
)

// parseChecklist reads the checklist and says what is wrong with it.
func parseChecklist(text string) (items []item, err error) {
	section, title := "", ""
	for n, line := range strings.Split(text, "\n") {
		at := fmt.Sprintf("line %d", n+1)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if m := headingLine.FindStringSubmatch(line); m != nil {
			section, title = m[1], m[2]
			continue
		}
		if m := itemLine.FindStringSubmatch(line); m != nil {
			number, _ := strconv.Atoi(m[1])
			if m[2] != section || number != len(items)+1 {
				return nil, fmt.Errorf("%s: want number %03d of section %s", at, len(items)+1, section)
			}
			items = append(items, item{number: number, section: section, text: m[3], titleOfSection: title, where: at})
			title = ""
			continue
		}
		m := noteLine.FindStringSubmatch(line)
		if m == nil || len(items) == 0 {
			return nil, fmt.Errorf("%s is neither a heading, an item that ends with a full stop, nor a note", at)
		}
		switch last := &items[len(items)-1]; m[1] {
		case "tests":
			last.named = strings.Split(m[2], ", ")
		case "open":
			last.open = m[2]
		case "not served":
			last.notServed = m[2]
		}
	}
	return items, nil
}

func TestParseChecklist(t *testing.T) {
	items, err := parseChecklist("# about\nA: Lines\n001 A One.\n002 A Two.\n  tests: TestX, TestY\n  open: half\n\nB: More\n003 B Three.\n  not served: `x/y`\n")
	if err != nil || len(items) != 3 {
		t.Fatalf("%v, %v", items, err)
	}
	if i := items[1]; !slices.Equal(i.named, []string{"TestX", "TestY"}) || i.open != "half" || i.titleOfSection != "" {
		t.Errorf("%+v", i)
	}
	if i := items[2]; i.section != "B" || i.titleOfSection != "More" || i.notServed != "`x/y`" {
		t.Errorf("%+v", i)
	}
	for _, bad := range []string{"A: L\n002 A Two.", "A: L\n001 B One.", "A: L\n001 A no full stop", "  tests: TestX", "A: L\n001 A One.\n  maybe: x"} {
		if _, err := parseChecklist(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

var (
	numberInName  = regexp.MustCompile(`^Test(\d{3})(?:(To|And)(\d{3}))?\D`)
	sectionInName = regexp.MustCompile(`^([A-K])(\d+)$`)
)

// numbersOf gives the numbers that a test bears, and the section that its name
// claims for them, "" for none. Numbers of section P are of another list.
func numbersOf(test string) (numbers []int, section string) {
	if m := numberInName.FindStringSubmatch(test); m != nil {
		first, _ := strconv.Atoi(m[1])
		last, _ := strconv.Atoi(m[3])
		switch m[2] {
		case "And":
			return []int{first, last}, ""
		case "To":
			for n := first; n <= last; n++ {
				numbers = append(numbers, n)
			}
			return numbers, ""
		}
		return []int{first}, ""
	}
	for word := range strings.SplitSeq(strings.TrimPrefix(test, "Test"), "_") {
		if m := sectionInName.FindStringSubmatch(word); m != nil {
			n, _ := strconv.Atoi(m[2])
			numbers, section = append(numbers, n), m[1]
		}
	}
	return numbers, section
}

func TestNumbersOf(t *testing.T) {
	for name, want := range map[string]string{
		"Test016LineOverTheLimit":         "[16] ",
		"Test054To055UnknownSession":      "[54 55] ",
		"Test004To007X":                   "[4 5 6 7] ",
		"Test030And032ClientCapabilities": "[30 32] ",
		"TestA3_OneLineOfUTF8":            "[3] A",
		"TestP28_A19_DuplicateID":         "[19] A",
		"TestP20_P23_OrderOfArrival":      "[] ",
		"TestPeer47PromptsRun":            "[] ",
		"TestModes":                       "[] ",
	} {
		numbers, section := numbersOf(name)
		if got := fmt.Sprint(numbers, " ", section); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// testsByNumber finds the tests that show what the checklist says.
func testsByNumber(t *testing.T, items []item) map[int][]string {
	t.Helper()
	found := map[int][]string{}
	there := map[string]string{} // test → as it is shown
	for _, folder := range []string{"acp", "cmd/kimi-acp", "internal/jsonrpc"} {
		for _, name := range parse(t, folder, true).tests() {
			shown := code(name)
			if folder != "acp" {
				shown += " (" + path.Base(folder) + ")"
			}
			there[name] = shown
			numbers, section := numbersOf(name)
			for _, n := range numbers {
				if n < 1 || n > len(items) || section != "" && items[n-1].section != section {
					t.Errorf("%s/%s bears %s%d, which the checklist does not have", folder, name, section, n)
					continue
				}
				found[n] = append(found[n], shown)
			}
		}
	}
	for _, i := range items {
		for _, name := range i.named {
			shown, ok := there[name]
			switch numbers, _ := numbersOf(name); {
			case !ok:
				t.Errorf("checklist %s: there is no test %s", i.where, name)
			case slices.Contains(numbers, i.number):
				t.Errorf("checklist %s: %s bears the number, so it need not be named", i.where, name)
			default:
				found[i.number] = append(found[i.number], shown)
			}
		}
	}
	for _, tests := range found {
		slices.Sort(tests)
	}
	return found
}

var methodInText = regexp.MustCompile("`([a-z_]+(?:/[a-z_]+)*)`")

// state says how an item stands, given the tests that show it and the methods that
// are served. The error says why it cannot be so.
func (i item) state(tests []string, served map[string]bool) (string, error) {
	switch {
	case len(tests) > 0 && i.notServed != "":
		return "", fmt.Errorf("it is not served and has tests (%s); one of both is wrong", strings.Join(tests, ", "))
	case i.notServed != "":
		for _, m := range methodInText.FindAllStringSubmatch(i.notServed, -1) {
			if served[m[1]] {
				return "", fmt.Errorf("it waits for %s, which is served", m[1])
			}
		}
		return "not served: " + i.notServed, nil
	case len(tests) == 0:
		return "", errors.New("it has no test, and no reason why not")
	case i.open != "":
		return "tested, but for: " + i.open, nil
	}
	return "tested", nil
}

func TestState(t *testing.T) {
	served := map[string]bool{"session/new": true}
	one := []string{"TestX"}
	for _, tt := range []struct {
		item  item
		tests []string
		want  string // "": an error
	}{
		{item{}, one, "tested"},
		{item{}, nil, ""},
		{item{open: "half"}, one, "tested, but for: half"},
		{item{open: "all of it"}, nil, ""},
		{item{notServed: "`session/load`"}, nil, "not served: `session/load`"},
		{item{notServed: "`session/load`"}, one, ""},
		{item{notServed: "`session/load`, `session/new`"}, nil, ""},
	} {
		got, err := tt.item.state(tt.tests, served)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%+v with %v: %q, %v", tt.item, tt.tests, got, err)
		}
	}
}

// checklistPart is the checklist as tables, one a section.
func checklistPart(t *testing.T, served map[string]bool) string {
	data, err := os.ReadFile(filepath.Join(home, "acp", "testdata", "checklist.txt"))
	if err != nil {
		t.Fatal(err)
	}
	items, err := parseChecklist(string(data))
	if err != nil {
		t.Fatalf("checklist: %v", err)
	}
	tests := testsByNumber(t, items)
	var b strings.Builder
	var rows [][]string
	flush := func() {
		if rows != nil {
			b.WriteString(table([]string{"#", "what must hold", "state", "tests"}, rows))
		}
		rows = nil
	}
	whole, partly, absent := 0, 0, 0
	for _, i := range items {
		state, err := i.state(tests[i.number], served)
		switch {
		case err != nil:
			t.Errorf("checklist %s, number %03d: %v", i.where, i.number, err)
		case i.notServed != "":
			absent++
		case i.open != "":
			partly++
		default:
			whole++
		}
		if i.titleOfSection != "" {
			flush()
			fmt.Fprintf(&b, "\n### %s. %s\n\n", i.section, i.titleOfSection)
		}
		rows = append(rows, []string{fmt.Sprintf("%03d", i.number), i.text, state, strings.Join(tests[i.number], ", ")})
	}
	flush()
	return fmt.Sprintf("Of %d lines %d are tested, %d in part; %d wait for something that is not served yet.\n%s", len(items), whole, partly, absent, b.String())
}
