package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Reader reads a session without taking it: it takes no lock, makes nothing and
// changes nothing, also while another process writes to the session. Its methods may
// be called at once.
type Reader struct {
	id, workDir, path string
	dir               folder
	ours              folder // nil: there is nothing of ours
	held              []io.Closer
}

// Read opens a session for reading; the arguments are those of Open. ErrNotFound is
// told apart. The caller closes the Reader.
func (st *Store) Read(workDir, id string) (*Reader, error) {
	r, err := st.read(workDir, id)
	if err != nil {
		return nil, fmt.Errorf("reading session %q: %w", id, err)
	}
	return r, nil
}

func (st *Store) read(workDir, id string) (*Reader, error) {
	return existing(st, id, func(root *os.Root) (*Reader, error) { return st.readIn(root, workDir, id) })
}

func (st *Store) readIn(root *os.Root, workDir, id string) (*Reader, error) {
	dirName, workDir, err := st.place(root, workDir, id)
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(filepath.Join(st.share, sessionsName, dirName, id))
	if err != nil {
		return nil, err
	}
	dir, err := openFolder(root, false, sessionsName, dirName, id)
	if err != nil {
		return nil, err
	}
	r := &Reader{id: id, workDir: workDir, path: path, dir: st.wrap(rootFolder{dir}), held: []io.Closer{dir}}
	ours, err := openFolder(root, false, oursName, sessionsName, id)
	switch {
	case errors.Is(err, fs.ErrNotExist): // a session of kimi-cli's
	case err != nil:
		return nil, errors.Join(err, dir.Close())
	default:
		r.ours = st.wrap(rootFolder{ours})
		r.held = append(r.held, ours)
	}
	return r, nil
}

// ID is the session's id.
func (r *Reader) ID() string { return r.id }

// WorkDir is the folder that the session belongs to, "" when that is not known.
func (r *Reader) WorkDir() string { return r.workDir }

// Dir is the absolute path of the folder with kimi-cli's files.
func (r *Reader) Dir() string { return r.path }

// Title is what Session.Title is.
func (r *Reader) Title() string {
	d, _ := describe(r.dir) // what cannot be read has no title
	return d.title
}

// State gives the settings. With an error they are the defaults.
func (r *Reader) State() (State, error) { return loadState(r.dir) }

// Files describes the files and folders of the session's folder, in order of their
// names.
func (r *Reader) Files() ([]fs.FileInfo, error) {
	names, err := r.dir.Names()
	var all []fs.FileInfo
	for _, name := range names {
		if info, err := r.dir.Lstat(name); err == nil { // else it went in this moment
			all = append(all, info)
		}
	}
	return all, err
}

// Close lets go of the folders.
func (r *Reader) Close() error {
	var errs []error
	for _, c := range r.held {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// History is what a context.jsonl holds, and what is wrong with it.
type History struct {
	Restored
	Findings []Finding // more precise than Skipped, which is made of it
	Size     int64     // bytes
	Checked  int64     // bytes of which the sums are known
	Updated  time.Time // when it was last written
}

// History reads the history as opening the session would, and mends nothing. A
// session whose history is missing has an empty one, with a finding.
func (r *Reader) History() (History, error) {
	var h History
	for range 5 {
		var again bool
		var err error
		if h, again, err = r.history(); err != nil {
			return History{}, fmt.Errorf("reading the history: %w", err)
		}
		if !again {
			break
		}
	}
	return h, nil
}

// history reads once. Again says that it was written meanwhile, and that what was
// found may come of that.
func (r *Reader) history() (h History, again bool, err error) {
	rotations, err := rotationsIn(r.dir)
	if err != nil {
		return History{}, false, err
	}
	// Sums are written after what they tell of, so they are read before it.
	var extents []extent
	if r.ours != nil {
		data, _ := readFile(r.ours, sumsName, maxSums) // without it nothing is checked
		extents, _ = parseSums(data, rotations)
	}
	f, err := r.dir.OpenFile(contextName, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		h.Findings = []Finding{{Kind: KindNoHistory, Text: "there is no " + contextName}}
		return h, false, nil
	}
	if err != nil {
		return History{}, false, err
	}
	h, err = readHistory(f, extents)
	after, statErr := f.Stat()
	if err := errors.Join(err, statErr, f.Close()); err != nil {
		return History{}, false, err
	}
	now, err := rotationsIn(r.dir)
	again = len(h.Findings) > 0 && (after.Size() != h.Size || now != rotations)
	return h, again, err
}

func readHistory(f file, extents []extent) (History, error) {
	info, err := f.Stat()
	if err != nil {
		return History{}, err
	}
	h := History{Size: info.Size(), Updated: info.ModTime()}
	for _, e := range extents {
		h.Checked += e.size
	}
	restorer := newRestorer(newVerifier(extents))
	if err := restorer.read(f, info.Size()); err != nil {
		return History{}, err
	}
	if torn := restorer.torn; torn != nil {
		restorer.notes.add(KindTornTail, "the history ends in %d bytes of a torn line", torn.size)
	}
	if h.Restored, _, err = restorer.finish(); err != nil {
		return History{}, err
	}
	h.Findings = restorer.notes.all()
	return h, nil
}
