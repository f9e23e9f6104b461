package contextprovider

import (
	"context"
	"errors"
)

// Code answers what is asked of the texts of programs. Paths are absolute, and lines
// and columns count as in Position. Methods may be called side by side; when ctx ends,
// they return soon. Errors are worded for the model.
type Code interface {
	// Diagnostics gives the problems of a file, as far as they are known soon.
	Diagnostics(ctx context.Context, path string) ([]Diagnostic, error)
	// Definition tells where what stands at a place is defined.
	Definition(ctx context.Context, at Place) (Found, error)
	// References lists where what stands at a place is used.
	References(ctx context.Context, at Place) ([]Reference, error)
	// Symbols lists what a file defines, or with path "" what is called name in the
	// whole workspace.
	Symbols(ctx context.Context, path, name string) (Found, error)
	// Rename works out what the files would be if what stands at a place were called
	// otherwise. It changes nothing.
	Rename(ctx context.Context, at Place, to string) ([]Rewrite, error)
}

// ErrNoServer says that only a language server could answer, and none can be asked.
var ErrNoServer = errors.New("no language server can be asked about this file")

// Place is where a name stands in a file. Without a Line it is where the file defines
// Symbol, or else the first place where it stands as a word; without a Symbol it is
// Column.
type Place struct {
	Path   string
	Line   int // from 1; 0: not said
	Column int // from 1; 0: not said
	Symbol string
}

// Found are symbols, and who knew them.
type Found struct {
	Symbols []Symbol
	By      string // a language server, by name; "": they were read from the texts, which may mislead
	More    bool   // there were more than are listed
}

// Reference is a place where something is used.
type Reference struct {
	Path         string
	Line, Column int // from 1
}

// Rewrite is a file as it is and as it would be.
type Rewrite struct{ Path, Before, After string }
