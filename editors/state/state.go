package state

import "time"

// Format is the version of the format. A state of another one is not read.
const Format = 1

// State is what one editor shows. Paths are absolute.
type State struct {
	Format  int       `json:"format"`
	PID     int       `json:"pid"` // of the companion
	Editor  Editor    `json:"editor"`
	Roots   []string  `json:"roots"`   // folders of the workspace
	Updated time.Time `json:"updated"` // when it was written
	Active  *Active   `json:"active,omitempty"`
	// Documents are those that are open, the most recently used first.
	Documents   []Document        `json:"documents,omitempty"`
	Diagnostics []FileDiagnostics `json:"diagnostics,omitempty"`
	// LeftOut counts what did not fit into the limits.
	LeftOut LeftOut `json:"left_out,omitzero"`
}

// Editor names the program that the companion serves, as far as it said.
type Editor struct {
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
}

// Active is the document in focus.
type Active struct {
	Path     string    `json:"path"`
	Language string    `json:"language,omitempty"` // as the editor calls it, e.g. "go"
	Cursor   *Position `json:"cursor,omitempty"`   // nil: not known
	// Selection is nil when nothing is selected, or when it is not known.
	Selection *Selection `json:"selection,omitempty"`
	Visible   *Range     `json:"visible,omitempty"`  // nil: not known
	Withheld  bool       `json:"withheld,omitempty"` // a sensitive file: nothing but its name and places is told
	At        time.Time  `json:"at"`                 // when the editor last told
}

// Position is a place in a text: line and column count from 1, a column counts
// characters (code points); Byte is the offset in bytes within the line, from 0.
// In a document whose text the companion does not hold, column and byte are the
// units that the editor counts in, which differ only after characters beyond ASCII.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// Range is a part of a text, without the character at End.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Selection is what the user has selected.
type Selection struct {
	Range
	Text string `json:"text,omitempty"` // "" where it is not known or withheld
	Cut  bool   `json:"cut,omitempty"`  // Text is only the beginning
}

// Document is an open document.
type Document struct {
	Path     string `json:"path"`
	Language string `json:"language,omitempty"`
	Version  int    `json:"version"`
	Dirty    bool   `json:"dirty,omitempty"` // not as on disk
	// Text is the whole text of a dirty document, nil where it is not told.
	Text     *string   `json:"text,omitempty"`
	Withheld bool      `json:"withheld,omitempty"` // a sensitive file: a name only
	Changed  time.Time `json:"changed,omitzero"`   // the last edit or save, zero: none since it was opened
	Used     time.Time `json:"used"`               // when it was last opened, edited or in focus
}

// FileDiagnostics are what language servers and linters say of a file.
type FileDiagnostics struct {
	Path  string       `json:"path"`
	Items []Diagnostic `json:"items,omitempty"` // none: the file is clean
	At    time.Time    `json:"at"`              // when the editor told them
}

// Diagnostic is one finding.
type Diagnostic struct {
	Range    Range    `json:"range"`
	Severity Severity `json:"severity,omitempty"`
	Source   string   `json:"source,omitempty"` // who says so, e.g. "gopls"
	Code     string   `json:"code,omitempty"`
	Message  string   `json:"message"`
}

// Severity says how bad a finding is; it may be empty.
type Severity string

// The severities.
const (
	Error       Severity = "error"
	Warning     Severity = "warning"
	Information Severity = "information"
	Hint        Severity = "hint"
)

// LeftOut counts what a state does not hold because of the limits.
type LeftOut struct {
	Documents   int `json:"documents,omitempty"`
	Texts       int `json:"texts,omitempty"` // of dirty documents
	Diagnostics int `json:"diagnostics,omitempty"`
}

// PromptKind is which code action queued a prompt.
type PromptKind string

// The kinds.
const (
	Ask PromptKind = "ask" // the user wants to talk about the place
	Fix PromptKind = "fix" // the user wants the findings there fixed
)

// Prompt is what the user queued in the editor for the next turn.
type Prompt struct {
	Kind        PromptKind   `json:"kind"`
	Path        string       `json:"path"`
	Range       Range        `json:"range"`
	Text        string       `json:"text,omitempty"` // of the range
	Cut         bool         `json:"cut,omitempty"`
	Withheld    bool         `json:"withheld,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
	At          time.Time    `json:"at"`
}
