// Package fileop is the only exit to the user's files. A Store holds whole files:
// a folder on disk, a map in memory, or the editor behind a protocol. An Operator
// stands before a disk and, where there is one, an editor: it reads a file as the
// user sees it, plans an edit, and commits it if nothing has changed since, so that
// what was shown and approved is what is written.
//
// A text is handed out with its lines joined by LF and without a byte order mark.
// How the file writes them is kept beside the text and put back on writing.
//
// The package must not know who asks for an edit, whether it was approved, which
// protocol an editor speaks, or how a change is shown.
package fileop
