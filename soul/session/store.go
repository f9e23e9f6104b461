package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"kimi-acp/internal/uuid"
)

// Store is all sessions of a share dir. Its methods may be called at once, also by
// several processes.
type Store struct {
	share string
	wrap  func(folder) folder // what tests put between a session and the disk
}

// NewStore gives the sessions of a share dir, an absolute path. Nothing is read or
// made before a method asks for it; the share dir itself may be a link, nothing in it.
func NewStore(shareDir string) *Store {
	return &Store{share: shareDir, wrap: func(f folder) folder { return f }}
}

// The folders in a share dir.
const (
	sessionsName = "sessions"
	oursName     = "acp"
)

// Create makes a session of a work dir, an absolute path, and opens it. It is on
// disk when Create returns, and outlasts a crash of the machine, and is known to
// kimi.json, when the first step is written: until then there is nothing to lose. With id "" it gets a new UUID; an id that is taken is an
// ErrExists.
func (st *Store) Create(workDir, id string) (*Session, error) {
	if id == "" {
		id = uuid.New()
	}
	s, err := st.create(workDir, id)
	if err != nil {
		return nil, fmt.Errorf("making session %q: %w", id, err)
	}
	return s, nil
}

func (st *Store) create(workDir, id string) (*Session, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	workDir, err := cleanWorkDir(workDir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(st.share, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(st.share)
	if err != nil {
		return nil, err
	}
	s, err := st.createIn(root, workDir, id)
	return s, errors.Join(err, root.Close())
}

func (st *Store) createIn(root *os.Root, workDir, id string) (*Session, error) {
	taken, err := st.find(root, id)
	if err != nil {
		return nil, err
	}
	if len(taken) > 0 {
		return nil, ErrExists
	}
	s, err := st.openIn(root, workDir, folderOf(workDir), id, true)
	if err != nil {
		return nil, err
	}
	if err := writeOrigin(s.ours, workDir); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.settle = func() { st.settle(s) }
	return s, nil
}

// settle makes a new session outlast a crash of the machine, and enters its work dir
// into kimi.json. It is as good without: the list of all knows it from its origin.
func (st *Store) settle(s *Session) {
	root, err := os.OpenRoot(st.share)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }() // what matters was synced
	if err := addWorkDir(rootFolder{root}, s.workDir); err != nil {
		s.restored.Skipped = append(s.restored.Skipped, "the work dir could not be entered into "+kimiName+": "+clip(err.Error()))
	}
	if f, err := s.ours.OpenFile(originName, os.O_RDWR); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
	s.dir.Sync()
	s.ours.Sync()
	for _, names := range [][]string{{sessionsName, folderOf(s.workDir)}, {sessionsName}, {oursName, sessionsName}, {oursName}, {}} {
		if dir, err := openFolder(root, false, names...); err == nil {
			rootFolder{dir}.Sync()
			_ = dir.Close()
		}
	}
}

// Open opens a session of a work dir; with workDir "" that is found out, and of
// several sessions of one id the one that was used last is taken. ErrNotFound and
// ErrInUse are told apart. What the opening repaired stands in Restored.
func (st *Store) Open(workDir, id string) (*Session, error) {
	s, err := st.open(workDir, id)
	if err != nil {
		return nil, fmt.Errorf("opening session %q: %w", id, err)
	}
	return s, nil
}

func (st *Store) open(workDir, id string) (*Session, error) {
	return existing(st, id, func(root *os.Root) (*Session, error) { return st.locate(root, workDir, id) })
}

// existing does something with a session that should be there, in the share dir that
// is held open for it.
func existing[T any](st *Store, id string, do func(root *os.Root) (*T, error)) (*T, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(st.share)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	made, err := do(root)
	return made, errors.Join(err, root.Close())
}

func (st *Store) locate(root *os.Root, workDir, id string) (*Session, error) {
	dir, workDir, err := st.place(root, workDir, id)
	if err != nil {
		return nil, err
	}
	return st.openIn(root, workDir, dir, id, false)
}

// place gives the folder that holds a session, and its work dir if that is known.
func (st *Store) place(root *os.Root, workDir, id string) (dir, of string, err error) {
	found, err := st.find(root, id)
	if err != nil {
		return "", "", err
	}
	if workDir != "" {
		if workDir, err = cleanWorkDir(workDir); err != nil {
			return "", "", err
		}
		found = slices.DeleteFunc(found, func(c candidate) bool { return c.dir != folderOf(workDir) })
	}
	if len(found) == 0 {
		return "", "", ErrNotFound
	}
	slices.SortStableFunc(found, candidate.compare)
	dir = found[0].dir
	if workDir == "" {
		workDir = st.workDirs(root).of(dir, id)
	}
	return dir, workDir, nil
}

// openIn opens a session, one that is there or, with create, one that is not, and
// makes what it needs.
func (st *Store) openIn(root *os.Root, workDir, dirName, id string, create bool) (s *Session, err error) {
	var held []io.Closer
	defer func() {
		if err != nil {
			for _, c := range held {
				_ = c.Close() // nothing was written
			}
		}
	}()
	ours, err := openFolder(root, true, oursName, sessionsName, id)
	if err != nil {
		return nil, err
	}
	held = append(held, ours)
	lock, note, err := acquire(ours)
	if err != nil {
		return nil, err
	}
	held = append(held, lock)
	// Under the lock: it may have been made, or deleted, since it was looked for.
	switch _, err := root.Lstat(filepath.Join(sessionsName, dirName, id)); {
	case create && err == nil:
		return nil, ErrExists
	case !create && errors.Is(err, fs.ErrNotExist):
		return nil, ErrNotFound
	}
	dir, err := openFolder(root, true, sessionsName, dirName, id)
	if err != nil {
		return nil, err
	}
	held = append([]io.Closer{dir}, held...)
	own, err := filepath.Abs(filepath.Join(st.share, oursName, sessionsName, id))
	if err != nil {
		return nil, err
	}
	s = &Session{id: id, workDir: workDir, own: own, maxLine: maxLine, dir: st.wrap(rootFolder{dir}), ours: st.wrap(rootFolder{ours}), held: held}
	s.record = newRecording(s.dir)
	s.asides.dir = s.ours
	s.underway.dir = s.ours
	var found notes
	if note != "" {
		found.add(KindUnlocked, "%s", note)
	}
	if s.state, err = loadState(s.dir); err != nil {
		found.add(KindSettings, "%v", err)
	}
	if err = s.load(found); err != nil {
		s.lose(err) // and let go of the file
		return nil, err
	}
	if !create {
		s.dir.Sync()
	}
	return s, nil
}

// Delete removes a session with all that belongs to it. One that is not there is
// fine, one that is open is an ErrInUse.
func (st *Store) Delete(id string) error {
	if err := st.delete(id); err != nil {
		return fmt.Errorf("deleting session %q: %w", id, err)
	}
	return nil
}

func (st *Store) delete(id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	root, err := os.OpenRoot(st.share)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(st.deleteIn(root, id), root.Close())
}

func (st *Store) deleteIn(root *os.Root, id string) error {
	found, err := st.find(root, id)
	if err != nil {
		return err
	}
	theirs, err := st.find(root, KernelPrefix+id)
	if err != nil {
		return err
	}
	found = append(found, theirs...)
	own := filepath.Join(oursName, sessionsName, id)
	if _, err := root.Lstat(own); len(found) == 0 && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ours, err := openFolder(root, true, oursName, sessionsName, id)
	if err != nil {
		return err
	}
	lock, _, err := acquire(ours)
	if err != nil {
		return errors.Join(err, ours.Close())
	}
	for _, c := range found {
		err = errors.Join(err, removeSession(root, c))
	}
	// The lock goes while it is held, so that whoever waits for it sees that. Where
	// what is open cannot be removed, it goes afterwards.
	again := err == nil && root.RemoveAll(own) != nil
	err = errors.Join(err, lock.Close(), ours.Close())
	if again && err == nil {
		err = root.RemoveAll(own)
	}
	if err == nil {
		_ = forgetSession(rootFolder{root}, id) // kimi-cli copes with a session that is gone
	}
	return err
}

// removeSession removes a session's folder.
func removeSession(root *os.Root, c candidate) error {
	dir, err := openFolder(root, false, sessionsName, c.dir, c.id) // which refuses links
	if err != nil {
		return err
	}
	// Without its history it is a session no more, whatever happens next.
	err = dir.Remove(contextName)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err := errors.Join(err, dir.Close()); err != nil {
		return err
	}
	return root.RemoveAll(filepath.Join(sessionsName, c.dir, c.id))
}
