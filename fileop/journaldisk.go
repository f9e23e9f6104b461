package fileop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The names in a journal's folder.
const (
	journalName  = "journal.jsonl"
	contentsName = "contents"
	scratchName  = "scratch"
)

// JournalFolder is a journal on disk with all that belongs to it.
type JournalFolder struct {
	Journal *Journal
	Scratch *os.File // for CommandScans; empty after each opening

	contents *ContentStore
	file     *os.File
	root     *os.Root
}

// OpenJournalFolder opens the journal in a folder, and makes both where there are
// none. Only the user may look into it. One process at a time may have it open.
func OpenJournalFolder(dir string, l ContentLimits) (*JournalFolder, error) {
	root, err := openPrivate(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the journal of changes: %w", err)
	}
	f := &JournalFolder{root: root}
	if err := f.open(dir, l); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the journal of changes: %w", err), f.Close())
	}
	return f, nil
}

func (f *JournalFolder) open(dir string, l ContentLimits) (err error) {
	if f.contents, err = OpenContents(filepath.Join(dir, contentsName), l); err != nil {
		return err
	}
	if f.file, err = f.openFile(journalName, os.O_RDWR|os.O_APPEND); err != nil {
		return err
	}
	if f.Scratch, err = f.openFile(scratchName, os.O_RDWR|os.O_TRUNC); err != nil {
		return err
	}
	f.Journal, err = OpenJournal(JournalOptions{Old: f.file, File: f.file, Contents: f.contents})
	return err
}

// openFile opens a file that is no link, and that nobody else can read.
func (f *JournalFolder) openFile(name string, flags int) (*os.File, error) {
	info, err := f.root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, notRegular(name, info.Mode())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	file, err := f.root.OpenFile(name, flags|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := file.Chmod(0o600); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Close lets go of the files. The journal and scans must not be used afterwards.
func (f *JournalFolder) Close() error {
	var errs []error
	if f.file != nil {
		errs = append(errs, f.file.Close())
	}
	if f.Scratch != nil {
		errs = append(errs, f.Scratch.Close(), f.root.Remove(scratchName))
	}
	if f.contents != nil {
		errs = append(errs, f.contents.Close())
	}
	return errors.Join(append(errs, f.root.Close())...)
}
