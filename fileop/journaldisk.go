package fileop

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The names in a journal's folder.
const (
	journalName  = "journal.jsonl"
	contentsName = "contents"
	scratchName  = "scratch"
	toldName     = "told.json"
)

// maxJournalFile is how large a journal may be, in bytes, before the states that
// later ones have taken the place of are left out of it at the next opening.
const maxJournalFile = 16 << 20

// maxTold bounds what is read of a mark, in bytes. One takes far less.
const maxTold = 1 << 20

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
	if f.Scratch, err = f.openFile(scratchName, os.O_RDWR|os.O_TRUNC); err != nil {
		return err
	}
	if err := f.openJournal(); err != nil {
		return err
	}
	info, err := f.file.Stat()
	if err != nil || info.Size() <= maxJournalFile {
		return err
	}
	if err := f.shorten(); err != nil {
		return nil // it is as it was, and long; the next opening tries again
	}
	return f.openJournal()
}

// openJournal reads the journal's file and goes on with it.
func (f *JournalFolder) openJournal() (err error) {
	if f.file != nil {
		if err := f.file.Close(); err != nil {
			return err
		}
	}
	if f.file, err = f.openFile(journalName, os.O_RDWR|os.O_APPEND); err != nil {
		return err
	}
	f.Journal, err = OpenJournal(JournalOptions{Old: f.file, File: f.file, Contents: f.contents})
	return err
}

// shorten writes the journal anew, with the latest state of each action alone.
func (f *JournalFolder) shorten() error {
	return f.replace(journalName, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		for _, a := range f.Journal.Actions(Which{All: true}) {
			line, err := encodeAction(&a)
			if err != nil {
				return err
			}
			if _, err := b.Write(line); err != nil {
				return err
			}
		}
		return b.Flush()
	})
}

// replace writes a file of the folder anew: it is the old one or the new one.
func (f *JournalFolder) replace(name string, write func(io.Writer) error) error {
	temp := name + ".new"
	file, err := f.openFile(temp, os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = f.root.Rename(temp, name)
	}
	if err != nil {
		_ = f.root.Remove(temp) // the next one writes over it
	}
	return err
}

// Told is the mark up to which the model was told, the zero Mark when none was set or
// it cannot be read: then it is told again.
func (f *JournalFolder) Told() Mark {
	file, err := f.root.Open(toldName)
	if err != nil {
		return Mark{}
	}
	defer func() { _ = file.Close() }() // only read: nothing can be lost
	data, err := io.ReadAll(io.LimitReader(file, maxTold))
	var m Mark
	if err != nil || json.Unmarshal(data, &m) != nil {
		return Mark{}
	}
	return f.Journal.within(m)
}

// SetTold takes down up to where the model was told.
func (f *JournalFolder) SetTold(m Mark) error {
	err := f.replace(toldName, func(w io.Writer) error { return json.NewEncoder(w).Encode(m) })
	if err != nil {
		return fmt.Errorf("taking down what the model was told: %w", err)
	}
	return nil
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
