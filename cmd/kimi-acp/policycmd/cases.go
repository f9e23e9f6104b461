package policycmd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"kimi-acp/internal/policy"
)

// scenario is a case of a file: something that is done, and what should happen.
type scenario struct {
	ID       string `json:"id"`
	Category string `json:"cat"`
	In       string `json:"in"`
	Want     string `json:"want"`
	Why      string `json:"why"`
	Setup    string `json:"setup"`
}

// outcome is how a case ended.
type outcome uint8

const (
	right     outcome = iota
	wrong             // another decision than the one that was wanted
	needless          // asked for, or denied, although it should be allowed
	loose             // allowed although it should not be
	elsewhere         // not decided by policy
)

const (
	maxCases = 100_000
	maxLine  = 1 << 20 // bytes of a case
)

// test holds the policy against a file of cases.
func test(file string, o Options) (int, error) {
	data, err := os.ReadFile(file) //nolint:forbidigo // the user names the file of cases
	if err != nil {
		return 2, fmt.Errorf("reading the cases: %w", err)
	}
	b := bench{engines: map[string]*policy.Engine{}}
	count := map[outcome]int{}
	others := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if n > maxCases {
			return 2, fmt.Errorf("%s: more than %d lines", file, maxCases)
		}
		var s scenario
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return 2, fmt.Errorf("%s: line %d is no case: %w", file, n, err)
		}
		got, what := b.judge(s)
		count[got]++
		switch got {
		case elsewhere:
			others[s.Category]++
		case wrong, needless, loose:
			name := map[outcome]string{wrong: "MISMATCH", needless: "NEEDLESS", loose: "FALSE ALLOW"}[got]
			_, _ = fmt.Fprintf(o.Out, "%s %s: %s\n    want %s, got %s\n", name, s.ID, policy.Visible(shorten(s.In)), s.Want, what)
		}
	}
	if err := lines.Err(); err != nil {
		return 2, fmt.Errorf("reading %s: %w", file, err)
	}
	failed := count[wrong] + count[needless] + count[loose]
	_, _ = fmt.Fprintf(o.Out, "%d cases judged: %d as wanted, %d false allows, %d needless prompts, %d other mismatches\n",
		failed+count[right], count[right], count[loose], count[needless], count[wrong])
	var names []string
	for name := range others {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		_, _ = fmt.Fprintf(o.Out, "not judged here: %d of %s\n", others[name], name)
	}
	if failed > 0 {
		return 1, nil
	}
	return 0, nil
}

func shorten(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

// judge runs one case and says what happened.
func (b bench) judge(s scenario) (outcome, string) {
	switch {
	case strings.HasPrefix(s.Category, "approval/shell"):
		return b.judgeShell(s)
	case strings.HasPrefix(s.Category, "path"):
		return b.judgePath(s)
	}
	return elsewhere, ""
}

// compare holds a verdict against what was wanted.
func (w want) compare(v policy.Verdict) (outcome, string) {
	text := fmt.Sprintf("%s (%s)", v.Decision, v.Reason)
	switch {
	case w.takes(v.Decision):
		if w.shown != "" && !strings.Contains(strings.Join(v.Lines(), "\n"), w.shown) {
			return wrong, fmt.Sprintf("shown as %q", v.Lines())
		}
		return right, text
	case v.Decision == policy.Allow:
		return loose, text
	case slices.Equal(w.any, decisionsFor("ALLOW")):
		return needless, text
	}
	return wrong, text
}
