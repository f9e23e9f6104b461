package contextprovider

import "time"

// Bundle is what is known around one prompt. It is a value: once it was handed out
// nobody changes it.
type Bundle struct {
	Session SessionContext
	Facts
	// Requests are what the user chose in the editor to be sent with the prompt.
	Requests []Request
	// Missed says what is not in the bundle, or is older than the prompt, and why.
	Missed []Missed

	shares map[string]int // of the budget, by section
}

// Facts is what a provider knows. A field is left empty where it knows nothing; each
// fact has one place here, whoever knows it.
type Facts struct {
	Editor      *EditorState
	Files       []FileSnapshot // what the prompt mentions, and unsaved changes
	Symbols     []Symbol
	Diagnostics []Diagnostic
	Git         []GitState // one for each repository
	Tree        []TreeFolder
	Notes       []Note // of programs that the user has set up
}

// Missed is something that a bundle lacks.
type Missed struct {
	Provider string // by its name
	Reason   string // in a few words, for the model
}

// EditorState is what the user looks at.
type EditorState struct {
	Editor    string       // name of the editor, "" when it did not say
	Active    string       // absolute path of the file in focus, "" when unknown
	Cursor    *Position    // in Active, nil when unknown
	Selection *Selection   // in Active, nil when nothing is selected
	Visible   *LineRange   // lines of Active on the screen, nil when unknown
	Open      []Document   // in the order in which the editor lists them
	Recent    []string     // absolute paths, the latest first
	Seen      time.Time    // when the editor said so
	Withheld  bool         // Active is sensitive: nothing but its name is told
	Problems  []Diagnostic // what the editor shows of problems
}

// Selection is a selected piece of a text.
type Selection struct {
	From, To Position // To is behind the last character
	Text     string   // as the user sees it; "" when it was not told
}

// Document is a file that is open in an editor.
type Document struct {
	Path  string  // absolute
	Dirty bool    // it has unsaved changes
	Text  *string // the whole unsaved text, nil where it was not told
}

// FileSnapshot is a piece of a file as the user sees it.
type FileSnapshot struct {
	Path     string
	First    int    // number of the first line of Text, from 1
	Text     string // lines joined by LF
	Total    int    // lines of the whole file, -1: unknown
	More     bool   // there are lines behind Text
	Dirty    bool   // it has unsaved changes
	Folder   bool   // Path is a folder and Text lists what is in it
	Withheld string // why there is no Text, "" when there is
}

// Symbol is something that a program's text names.
type Symbol struct {
	Name       string
	Kind       string // such as "func", "" when unknown
	Path       string
	Line       int    // from 1
	Signature  string // one line, or a few
	Doc        string
	References int // how often it is used, -1: unknown
}

// Severity says how bad a Diagnostic is. The zero value is unknown.
type Severity uint8

// The severities, from the worst, numbered as the language server protocol does.
const (
	SeverityError Severity = iota + 1
	SeverityWarning
	SeverityInformation
	SeverityHint
)

var severityNames = [...]string{"problem", "error", "warning", "information", "hint"}

// String is the word for a severity.
func (s Severity) String() string {
	if int(s) < len(severityNames) {
		return severityNames[s]
	}
	return severityNames[0]
}

// Diagnostic is a problem that a tool has found in a file.
type Diagnostic struct {
	Path     string
	Lines    LineRange
	Column   int // of its beginning, from 1; 0: unknown
	Severity Severity
	Source   string // who says so, such as "gopls"
	Code     string
	Message  string
}

// TreeFolder is a folder and what is in it.
type TreeFolder struct {
	Path    string   // absolute
	Entries []string // names, folders with a slash at the end
	More    int      // entries that are not listed
}

// Note is what a program of the user's adds.
type Note struct {
	Source string // name of the program in the settings
	Title  string
	Path   string // absolute path of the file that it is about, "" for none
	Text   string
}
