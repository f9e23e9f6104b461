package outline

import (
	"path/filepath"
	"slices"
	"strings"
)

// Definition is something that a text defines.
type Definition struct {
	Name      string // as it is written; of a method without its type
	Of        string // the type of a method or a field, "" for none or when unknown
	Kind      string // such as "func"
	Line      int    // from 1
	Signature string // one line, or a few
	Doc       string
}

// MaxText bounds the texts that are looked at, in bytes: longer ones are mostly made by
// programs, and define nothing as far as this package is concerned.
const MaxText = 1 << 20

// maxDefinitions bounds what is found in one text.
const maxDefinitions = 5000

// maxSignature and maxDoc bound what is told of one definition, in bytes.
const (
	maxSignature = 400
	maxDoc       = 600
)

// Knows tells whether definitions can be found in a file of this name.
func Knows(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".go" || languageOf(ext) != nil
}

// Of gives what a text defines, in the order of its lines, at most 5000 of them. The
// language is that of the file's name. A text that is broken or in a language that is
// not known defines what can be made out, perhaps nothing.
func Of(path string, text []byte) []Definition {
	if len(text) > MaxText {
		return nil
	}
	ext := strings.ToLower(filepath.Ext(path))
	if ext == ".go" {
		return clipped(ofGo(text))
	}
	if l := languageOf(ext); l != nil {
		return clipped(l.definitions(string(text)))
	}
	return nil
}

func clipped(all []Definition) []Definition {
	slices.SortStableFunc(all, func(a, b Definition) int { return a.Line - b.Line })
	all = all[:min(len(all), maxDefinitions)]
	for i := range all {
		all[i].Signature, all[i].Doc = clip(all[i].Signature, maxSignature), clip(all[i].Doc, maxDoc)
	}
	return all
}

func clip(s string, n int) string {
	s = strings.TrimSpace(s)
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
