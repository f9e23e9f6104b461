package contextprovider

// merge adds a provider's facts behind those of the providers before it, which win
// where both know the same.
func (b *Bundle) merge(f Facts, share int) {
	grow := func(section string, more bool) {
		if more {
			b.shares[section] = max(b.shares[section], share)
		}
	}
	if b.Editor == nil {
		b.Editor = f.Editor
	}
	grow(sectionEditor, f.Editor != nil)
	b.Files = join(b.Files, f.Files, func(f FileSnapshot) any { return [2]any{f.Path, f.First} })
	grow(sectionFiles, len(f.Files) > 0)
	b.Symbols = join(b.Symbols, f.Symbols, func(s Symbol) any { return [3]any{s.Path, s.Line, s.Name} })
	grow(sectionSymbols, len(f.Symbols) > 0)
	b.Diagnostics = join(b.Diagnostics, f.Diagnostics, func(d Diagnostic) any { return [3]any{d.Path, d.Lines.First, d.Message} })
	grow(sectionDiagnostics, len(f.Diagnostics) > 0)
	b.Git = join(b.Git, f.Git, func(g GitState) any { return g.Root })
	grow(sectionGit, len(f.Git) > 0)
	grow(sectionDiff, len(f.Git) > 0)
	b.Tree = join(b.Tree, f.Tree, func(t TreeFolder) any { return t.Path })
	grow(sectionTree, len(f.Tree) > 0)
	b.Notes = join(b.Notes, f.Notes, func(n Note) any { return [3]any{n.Source, n.Title, n.Path} })
	grow(sectionNotes, len(f.Notes) > 0)
}

// join appends those of more that have a key of their own. The result is a new
// slice: a cached one of a provider is never written to.
func join[T any](have, more []T, key func(T) any) []T {
	if len(more) == 0 {
		return have
	}
	out := make([]T, 0, len(have)+len(more))
	seen := make(map[any]bool, len(have)+len(more))
	for _, list := range [][]T{have, more} {
		for _, v := range list {
			if k := key(v); !seen[k] {
				seen[k] = true
				out = append(out, v)
			}
		}
	}
	return out
}

// withheldReason says why the text of a file is not there.
const withheldReason = "it is not shown: it may hold secrets, or lies outside the workspace"

// withhold takes out the text of every file that must not be read: its name is all
// that stays. readable tells by an absolute path.
func (b *Bundle) withhold(readable func(path string) bool) {
	if e := b.Editor; e != nil {
		clean := *e
		if e.Active != "" && !readable(e.Active) {
			clean.Withheld, clean.Cursor, clean.Selection, clean.Visible = true, nil, nil, nil
		}
		b.Editor = &clean
	}
	for i := range b.Files {
		if f := &b.Files[i]; f.Withheld == "" && !f.Folder && !readable(f.Path) {
			*f = FileSnapshot{Path: f.Path, Withheld: withheldReason}
		}
	}
	b.Symbols = keep(b.Symbols, func(s Symbol) bool { return readable(s.Path) })
	b.Diagnostics = keep(b.Diagnostics, func(d Diagnostic) bool { return readable(d.Path) })
	for i := range b.Git {
		b.Git[i].Diffs = keep(b.Git[i].Diffs, func(d GitDiff) bool { return readable(d.Path) })
	}
	for i := range b.Notes {
		if n := &b.Notes[i]; n.Path != "" && !readable(n.Path) {
			n.Text = withheldReason
		}
	}
}

// keep gives a new slice of those that pass.
func keep[T any](all []T, pass func(T) bool) []T {
	var out []T
	for _, v := range all {
		if pass(v) {
			out = append(out, v)
		}
	}
	return out
}
