package fileop

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Errors of this package, to be matched with errors.Is. The texts around them are
// written for the model that asked: they say what stands in the way and what to do.
// A missing file is always fs.ErrNotExist, a file that may not be written
// fs.ErrPermission.
var (
	// ErrPath: the text cannot be a path (empty, over-long, a NUL byte, a leading ~).
	ErrPath = errors.New("unusable path")
	// ErrOutside: the path, or what it links to, lies in none of the workspace roots.
	ErrOutside = errors.New("outside the workspace")
	// ErrMoved: the path leads elsewhere than when it was looked at.
	ErrMoved = errors.New("leads elsewhere than when it was asked for")
	// ErrNotRegular: a directory, pipe, socket or device, or a path below a file.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge: more bytes than are read, written or edited. See SizeError.
	ErrTooLarge = errors.New("too large")
	// ErrBinary: the bytes are not text.
	ErrBinary = errors.New("not a text file")
	// ErrEncoding: the text cannot be written in the file's encoding.
	ErrEncoding = errors.New("encoding does not allow it")
	// ErrStale: buffer or disk changed between Plan and Commit.
	ErrStale = errors.New("changed since it was read")
	// ErrNoMatch: a replacement's old text is not in the file. See MatchError.
	ErrNoMatch = errors.New("text not found")
	// ErrAmbiguous: a replacement's old text is in the file more than once. See MatchError.
	ErrAmbiguous = errors.New("text found more than once")
	// ErrNoChange: the edit would leave the file as it is.
	ErrNoChange = errors.New("nothing would change")
	// ErrBadEdit: the edit contradicts itself, or says nothing.
	ErrBadEdit = errors.New("unusable edit")
	// ErrBadPatch: the text is no patch.
	ErrBadPatch = errors.New("unusable patch")
	// ErrBadNotebook: the text is no Jupyter notebook of format 4.
	ErrBadNotebook = errors.New("not a notebook")
	// ErrRefused: the editor answered with an error. Its words are in the text.
	ErrRefused = errors.New("refused by the editor")
	// ErrDirtyBuffer: the editor holds unsaved changes and offers no way to write.
	ErrDirtyBuffer = errors.New("unsaved changes in the editor")
	// ErrUnconfirmed: a write was reported as failed, and yet the file is no longer
	// what it was. Commit returns its Result together with this error.
	ErrUnconfirmed = errors.New("reported as failed, but the file has changed")
)

// SizeError is an ErrTooLarge with its numbers.
type SizeError struct {
	Path string
	Size int64 // bytes; what was seen so far when the whole size is unknown
	Max  int64 // bytes
}

// Error names the file, its size and the bound.
func (e *SizeError) Error() string {
	return fmt.Sprintf("%s: %v: %d bytes, at most %d are handled here; use a command for a file of this size",
		e.Path, ErrTooLarge, e.Size, e.Max)
}

// Unwrap gives ErrTooLarge.
func (e *SizeError) Unwrap() error { return ErrTooLarge }

// Line is one line of a file.
type Line struct {
	Number int    // 1-based
	Text   string // without its ending, cut to a bounded length
}

// MatchError says why a replacement could not be made, or a part of a patch. Nothing
// of its edit was.
type MatchError struct {
	Path     string
	Index    int    // which of the edit's replacements, from 0
	Total    int    // how many replacements the edit has
	Count    int    // how often the old text occurs: 0 or at least 2
	Lines    []int  // where it occurs, one for each, the first few, 1-based
	Nearest  []Line // lines that come close, when it does not occur
	Part     bool   // it is a part of a patch, see Passage
	Consumed bool   // it occurred until an earlier replacement of the same edit changed it
}

// Unwrap gives ErrNoMatch or ErrAmbiguous.
func (e *MatchError) Unwrap() error {
	if e.Count == 0 {
		return ErrNoMatch
	}
	return ErrAmbiguous
}

// Error says what was looked for, what was found, and what to do.
func (e *MatchError) Error() string {
	var b strings.Builder
	what := "replacement"
	if e.Part {
		what = "part"
	}
	fmt.Fprintf(&b, "%s: %s %d of %d: ", e.Path, what, e.Index+1, e.Total)
	switch {
	case e.Count > 0 && e.Part:
		fmt.Fprintf(&b, "its lines occur %d times, at lines %s. ", e.Count, joinInts(e.Lines, e.Count))
		b.WriteString("Nothing was changed. Add more of the lines around it, or a line from above it behind @@.")
	case e.Count > 0:
		fmt.Fprintf(&b, "the old text occurs %d times, at lines %s. ", e.Count, joinInts(e.Lines, e.Count))
		b.WriteString("Nothing was changed. Add surrounding lines until it is unique, or replace all occurrences.")
	case e.Consumed:
		b.WriteString("the old text was in the file until an earlier replacement of this edit changed it. ")
		b.WriteString("Nothing was changed. Replacements see the result of those before them: join them, or reorder them.")
	default:
		if what = "the old text does not occur"; e.Part {
			what = "its lines do not occur one below the other"
		}
		b.WriteString(what + ". Nothing was changed. Read the file again and copy the text exactly, with its indentation.")
		if len(e.Nearest) > 0 {
			b.WriteString(" Closest:")
			for _, l := range e.Nearest {
				fmt.Fprintf(&b, "\nline %d: %s", l.Number, l.Text)
			}
		}
	}
	return b.String()
}

func joinInts(ns []int, total int) string {
	parts := make([]string, 0, len(ns)+1)
	for _, n := range ns {
		parts = append(parts, strconv.Itoa(n))
	}
	if total > len(ns) {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}

func notRegular(path string, m fs.FileMode) error {
	kind := "a special file"
	switch {
	case m.IsDir():
		kind = "a directory"
	case m&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case m&fs.ModeSocket != 0:
		kind = "a socket"
	case m&fs.ModeDevice != 0:
		kind = "a device"
	case m&fs.ModeSymlink != 0:
		kind = "a symbolic link"
	}
	return fmt.Errorf("%s: %w but %s", path, ErrNotRegular, kind)
}

func missing(path string) error {
	return fmt.Errorf("%s: %w", path, fs.ErrNotExist)
}
