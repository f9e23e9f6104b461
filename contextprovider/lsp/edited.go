package lsp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kimi-acp/contextprovider"
)

// Bounds on what is told after an edit.
const (
	longestCheck  = 1500 * time.Millisecond // that an edit waits
	baselineCheck = 600 * time.Millisecond  // of it, for how things stood before
	maxNew        = 10                      // problems that are told
	maxElsewhere  = 5                       // of them, in other files
	maxEdited     = 20                      // files that are remembered as edited
)

// NewProblems gives the errors and warnings of a file that came with an edit, the worst
// first, at most ten, and behind them at most five errors that have come up in other files
// since. before is nil for a new file. It waits no longer than 1.5 seconds, and only for a
// server that runs and knows the workspace; a server that does not run is started for the
// next time.
func (s *Servers) NewProblems(ctx context.Context, path string, before *string, after string) []contextprovider.Diagnostic {
	s.remember(path)
	c := s.ready(ctx, path)
	if c == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.pace.check)
	defer cancel()
	var base []contextprovider.Diagnostic
	known := before == nil
	if before != nil {
		base, known = s.baseline(ctx, c, path, *before)
	}
	prior, mark := c.findings.all(), c.findings.mark()
	version, told, err := c.documents.sync(path, after)
	if err != nil {
		return nil
	}
	if err := c.documents.saved(path); err != nil {
		return nil
	}
	if !told {
		return nil // the text is as it was
	}
	now, ok := c.findings.await(ctx, path, version, mark)
	if !ok {
		return nil
	}
	c.findings.quiet(ctx)
	old := ""
	if before != nil {
		old = *before
	}
	var here []contextprovider.Diagnostic
	if known {
		here = added(base, now.all, old, after)
	} else {
		// What stood there before is not known, so only what lies where the edit was made
		// can be said to come with it.
		here = within(now.all, changedLines(old, after))
	}
	return append(worst(here), s.elsewhere(c, path, prior)...)
}

// elsewhere gives the errors in files besides one that a server has told since it told
// prior: an edit may break what uses the file.
func (s *Servers) elsewhere(c *client, path string, prior map[string]published) []contextprovider.Diagnostic {
	var out []contextprovider.Diagnostic
	all := c.findings.all()
	for _, other := range slices.Sorted(maps.Keys(all)) {
		if other == path || all[other].seq == prior[other].seq || s.rootOf(other) == "" {
			continue
		}
		for _, d := range all[other].all {
			if d.Severity == contextprovider.SeverityError && !slices.Contains(prior[other].all, d) && len(out) < maxElsewhere {
				out = append(out, d)
			}
		}
	}
	return out
}

// baseline gives the problems of a file as it was, which the server may have to be shown
// first. It is false when they are not known soon.
func (s *Servers) baseline(ctx context.Context, c *client, path, before string) ([]contextprovider.Diagnostic, bool) {
	mark := c.findings.mark()
	version, told, err := c.documents.sync(path, before)
	if err != nil {
		return nil, false
	}
	if !told {
		p, ok := c.findings.get(path)
		return p.all, ok
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.pace.baseline)
	defer cancel()
	p, ok := c.findings.await(ctx, path, version, mark)
	return p.all, ok
}

// remember notes that a file was edited.
func (s *Servers) remember(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.edited = slices.DeleteFunc(s.edited, func(p string) bool { return p == path })
	s.edited = append(s.edited, path)
	s.edited = s.edited[max(0, len(s.edited)-maxEdited):]
}

// lately are the files that were edited, the latest first.
func (s *Servers) lately() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.edited)
	slices.Reverse(all)
	return all
}

// added gives the problems that are in after and were not in before. An edit moves
// problems to other lines, so they are compared by what is said about which text.
func added(before, after []contextprovider.Diagnostic, old, text string) []contextprovider.Diagnostic {
	key := func(d contextprovider.Diagnostic, lines []string) string {
		line := ""
		if d.Lines.First >= 1 && d.Lines.First <= len(lines) {
			line = strings.TrimSpace(lines[d.Lines.First-1])
		}
		return fmt.Sprintf("%d\x00%s\x00%s\x00%s\x00%s", d.Severity, d.Source, d.Code, d.Message, line)
	}
	count := map[string]int{}
	lines := strings.Split(old, "\n")
	for _, d := range before {
		count[key(d, lines)]++
	}
	var out []contextprovider.Diagnostic
	lines = strings.Split(text, "\n")
	for _, d := range after {
		k := key(d, lines)
		switch {
		case count[k] > 0:
			count[k]--
		case slices.Contains(before, d):
			// The same is said of the same place: it was there before, or the server has not
			// looked at the new text yet, as rust-analyzer says what it knows once more.
		default:
			out = append(out, d)
		}
	}
	return out
}

// changedLines are the lines of a text that are not as they were.
func changedLines(old, text string) contextprovider.LineRange {
	a, b := strings.Split(old, "\n"), strings.Split(text, "\n")
	first := 0
	for first < len(a) && first < len(b) && a[first] == b[first] {
		first++
	}
	last := 0
	for last < len(a)-first && last < len(b)-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	return contextprovider.LineRange{First: first + 1, Last: len(b) - last}
}

func within(all []contextprovider.Diagnostic, lines contextprovider.LineRange) []contextprovider.Diagnostic {
	var out []contextprovider.Diagnostic
	for _, d := range all {
		if d.Lines.Last >= lines.First && d.Lines.First <= lines.Last {
			out = append(out, d)
		}
	}
	return out
}

// worst gives errors and warnings, errors first.
func worst(all []contextprovider.Diagnostic) []contextprovider.Diagnostic {
	var out []contextprovider.Diagnostic
	for _, d := range all {
		if d.Severity <= contextprovider.SeverityWarning {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b contextprovider.Diagnostic) int { return int(a.Severity) - int(b.Severity) })
	return out[:min(len(out), maxNew)]
}
