package fileop

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
)

// Options say which files an Operator works on and by which ways.
type Options struct {
	Disk         Store    // always there
	Editor       Store    // nil when the editor offers neither reading nor writing
	EditorReads  bool     // Editor's Read may be called
	EditorWrites bool     // Editor's Write may be called
	Roots        []string // absolute; the first is where relative paths begin
	Recorder     Recorder // is told of every Commit; nil: nobody is
	// Unsaved is asked where Editor's Read may not be called; nil: nothing is known of
	// unsaved changes. What it knows is read, and never changed.
	Unsaved Unsaved
}

// Operator reads and changes the user's files. What the user sees wins: where the
// editor offers it, text is read from there, unsaved changes included, and written
// there. What the editor refuses is not done behind its back on disk.
//
// An Operator may be called by several goroutines at once. Commits to one file go
// one after the other.
type Operator struct {
	disk, editor  Store
	reads, writes bool
	folders       folders
	recorder      Recorder
	unsaved       Unsaved // nil where the editor reads

	locks  pathLocks
	behind behindBuffers
	known  knownFiles

	// addsBOM: the editor was seen to put a byte order mark before one that was sent.
	addsBOM atomic.Bool
}

// New makes an Operator. The flags for the editor count only when there is one.
func New(o Options) *Operator {
	if o.Recorder == nil {
		o.Recorder = noRecorder{}
	}
	if o.Editor != nil && o.EditorReads {
		o.Unsaved = nil // the editor knows better
	}
	return &Operator{
		unsaved:  o.Unsaved,
		disk:     o.Disk,
		editor:   o.Editor,
		reads:    o.Editor != nil && o.EditorReads,
		writes:   o.Editor != nil && o.EditorWrites,
		folders:  newFolders(o.Roots),
		recorder: o.Recorder,
	}
}

// throughEditor tells whether a file is written by the editor. One that writes and
// does not tell what it holds would replace what the user has typed, unseen by anybody.
// So it is only given files that are not on disk; the others are changed there, where it
// notices and asks its user.
func (o *Operator) throughEditor(onDisk bool) bool {
	return o.writes && (o.reads || !onDisk)
}

// throughEditor tells whether the change is written by the editor.
func (c Change) throughEditor(o *Operator) bool {
	return o.throughEditor(c.stamp.disk != digest{})
}

// Snapshot is a file as the user sees it.
type Snapshot struct {
	Path       string  // absolute, as the user and the editor write it
	Real       string  // where Path leads with symbolic links resolved
	Text       string  // lines joined by LF, no byte order mark
	Dirty      bool    // Text is the editor's, and not what is on disk
	FromEditor bool    // Text was read from the editor
	BOM        bool    // the file begins with a byte order mark
	Newline    Newline // how the file ends its lines
	NotUTF8    bool    // Text holds bytes that are not UTF-8: escape before showing

	Encoding Encoding // of the file; Text is UTF-8 in any case
}

// Tidy removes what a write beside path left on disk when its program was killed; see
// Disk.Tidy. It may be called at any time.
func (o *Operator) Tidy(ctx context.Context, path string) {
	if d, ok := o.disk.(interface {
		Tidy(ctx context.Context, path string)
	}); ok {
		d.Tidy(ctx, path)
	}
}

// Resolve makes a path absolute and checks that it leads into a root. The result is
// the path as the user and the editor write it; links in it are followed for the
// check only. Errors are ErrPath, ErrOutside, ErrNotRegular for a path below a file,
// and what the operating system says of a path that cannot be followed.
func (o *Operator) Resolve(path string) (string, error) {
	p, err := o.folders.locate(path)
	return p.name, err
}

// Read gives a file as the user sees it. A file that is neither on disk nor in the
// editor is an error that wraps fs.ErrNotExist; ErrRefused means that the editor
// does not give a file that is on disk; ErrBinary that it is not text.
func (o *Operator) Read(ctx context.Context, path string) (Snapshot, error) {
	p, err := o.folders.locate(path)
	if err != nil {
		return Snapshot{}, err
	}
	v, err := o.look(ctx, p)
	if err != nil {
		return Snapshot{}, err
	}
	if !v.exists() {
		return Snapshot{}, missing(p.name)
	}
	return Snapshot{
		Path:       p.name,
		Real:       p.real,
		Text:       v.text.Body,
		Dirty:      v.dirty && v.buffer != nil, // else Text is what is on disk
		FromEditor: v.buffer != nil,
		BOM:        v.text.BOM,
		Newline:    v.text.Newline,
		NotUTF8:    v.text.NotUTF8,
		Encoding:   v.text.Encoding,
	}, nil
}

// key names a file for locks and memories. Where case may not tell files apart, two
// files share a key, which costs a moment and nothing else.
func (p place) key() string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(p.real)
	}
	return p.real
}
