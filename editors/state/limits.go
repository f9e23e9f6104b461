package state

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// What a state and a prompt hold at most. What is more is left out and counted,
// texts of selections are cut.
const (
	MaxRoots       = 32
	MaxDocuments   = 128
	MaxText        = 256 << 10 // bytes of one unsaved text
	MaxTexts       = 1 << 20   // bytes of all unsaved texts
	MaxSelection   = 16 << 10  // bytes
	MaxDiagnostics = 200       // of all files
	MaxPerFile     = 50        // diagnostics of one file
	MaxMessage     = 1 << 10   // bytes of a diagnostic's message
	MaxName        = 256       // bytes of a source, a code, a language, an editor's name
	MaxPath        = 4 << 10   // bytes
	MaxPrompts     = 8         // queued in one companion; the oldest makes room
	PromptAge      = time.Hour // a prompt that nobody took is dropped
	maxCompanions  = 64        // read at a time
	maxFile        = 16 << 20  // bytes of a file that is read; texts of control characters are six times as long in JSON
	maxPromptsRead = 64
	lockless       = time.Hour // on file systems without locks: how long a state counts
)

// bound makes a state fit the limits. The texts of the most recently used documents
// are kept, and the diagnostics of the active file come first.
func (s *State) bound() {
	s.Editor.Name, s.Editor.Version = cut(s.Editor.Name, MaxName), cut(s.Editor.Version, MaxName)
	s.Roots = s.Roots[:min(len(s.Roots), MaxRoots)]
	if s.Active != nil {
		active := *s.Active
		active.Language = cut(active.Language, MaxName)
		if active.Selection != nil {
			selection := *active.Selection
			selection.Text, selection.Cut = cutText(selection.Text, selection.Cut)
			if active.Withheld {
				selection.Text, selection.Cut = "", false
			}
			active.Selection = &selection
		}
		s.Active = &active
	}
	s.boundDocuments()
	s.boundDiagnostics()
}

func (s *State) boundDocuments() {
	all := slices.Clone(s.Documents)
	slices.SortStableFunc(all, func(a, b Document) int { return b.Used.Compare(a.Used) })
	if len(all) > MaxDocuments {
		// A dirty document is worth more than one that was looked at later.
		slices.SortStableFunc(all, func(a, b Document) int { return cmp.Compare(rank(a), rank(b)) })
		s.LeftOut.Documents += len(all) - MaxDocuments
		all = all[:MaxDocuments]
		slices.SortStableFunc(all, func(a, b Document) int { return b.Used.Compare(a.Used) })
	}
	texts := 0
	s.LeftOut.Texts = 0
	for i := range all {
		d := &all[i]
		d.Language = cut(d.Language, MaxName)
		if d.Withheld || !d.Dirty {
			d.Text = nil
			continue
		}
		if d.Text == nil || len(*d.Text) > MaxText || texts+len(*d.Text) > MaxTexts {
			d.Text = nil
			s.LeftOut.Texts++
			continue
		}
		texts += len(*d.Text)
	}
	s.Documents = all
}

func rank(d Document) int {
	if d.Dirty {
		return 0
	}
	return 1
}

func (s *State) boundDiagnostics() {
	all := slices.Clone(s.Diagnostics)
	active := ""
	if s.Active != nil {
		active = s.Active.Path
	}
	slices.SortStableFunc(all, func(a, b FileDiagnostics) int {
		if (a.Path == active) != (b.Path == active) {
			if a.Path == active {
				return -1
			}
			return 1
		}
		return b.At.Compare(a.At)
	})
	left := MaxDiagnostics
	for i := range all {
		if s.withholds(all[i].Path) {
			all[i].Items = nil // a message may quote the text
			continue
		}
		items := boundItems(all[i].Items, min(left, MaxPerFile))
		s.LeftOut.Diagnostics += len(all[i].Items) - len(items)
		left -= len(items)
		all[i].Items = items
	}
	if len(all) > MaxDiagnostics {
		all = all[:MaxDiagnostics]
	}
	s.Diagnostics = all
}

// withholds tells whether a path is that of a sensitive file.
func (s *State) withholds(path string) bool {
	return s.Active != nil && s.Active.Withheld && s.Active.Path == path ||
		slices.ContainsFunc(s.Documents, func(d Document) bool { return d.Withheld && d.Path == path })
}

// boundItems keeps the worst of some diagnostics.
func boundItems(items []Diagnostic, most int) []Diagnostic {
	items = slices.Clone(items)
	if len(items) > most {
		slices.SortStableFunc(items, func(a, b Diagnostic) int { return cmp.Compare(a.Severity.weight(), b.Severity.weight()) })
		items = items[:most]
	}
	for i := range items {
		d := &items[i]
		d.Message, d.Source, d.Code = cut(d.Message, MaxMessage), cut(d.Source, MaxName), cut(d.Code, MaxName)
	}
	return items
}

// weight orders severities, the worst first; one that is not given is an error to
// most editors.
func (s Severity) weight() int {
	return slices.Index([]Severity{"", Error, Warning, Information, Hint}, s)
}

func (p *Prompt) bound() {
	p.Text, p.Cut = cutText(p.Text, p.Cut)
	p.Diagnostics = boundItems(p.Diagnostics, MaxPerFile)
	if p.Withheld {
		p.Text, p.Cut, p.Diagnostics = "", false, nil
	}
}

// cutText cuts the text of a selection.
func cutText(s string, was bool) (text string, isCut bool) {
	short := cut(s, MaxSelection)
	return short, was || len(short) < len(s)
}

// cut gives the beginning of a string, whole characters of at most n bytes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.Clone(s[:n])
}
