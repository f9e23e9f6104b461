package contextprovider

// SessionContext is where a session stands: what it may work on, and what the
// user looks at as far as the editor tells.
type SessionContext struct {
	SessionID   string
	Roots       []string   // absolute; the first is the working directory
	CurrentFile string     // absolute path of the file in focus, "" when unknown
	Cursor      *Position  // in CurrentFile, nil when unknown
	Selection   *LineRange // in CurrentFile, nil when nothing is selected
}

// Position is a place in a text. Both numbers count from 1; a column counts
// UTF-16 code units, as editors do.
type Position struct{ Line, Column int }

// LineRange is a range of whole lines, both ends included, counted from 1.
type LineRange struct {
	First int `json:"first"`
	Last  int `json:"last"`
}
