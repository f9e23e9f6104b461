package session

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ListOptions says what to list.
type ListOptions struct {
	WorkDir  string // an absolute path; "": the sessions of all work dirs
	Cursor   string // Page.Next of the page before; "": the first page
	Limit    int    // sessions in a page, at most 1000; ≤ 0: 50
	Archived Archived
}

// Archived says whether sessions of the archive are listed.
type Archived uint8

// Which sessions are listed, by whether they are in the archive.
const (
	ArchivedToo     Archived = iota // all
	ArchivedLeftOut                 // those that are not
	ArchivedAlone                   // those that are
)

func (a Archived) lists(archived bool) bool {
	return a == ArchivedToo || archived == (a == ArchivedAlone)
}

// Page is a part of a list of sessions.
type Page struct {
	Sessions []Info
	Next     string // the cursor of the next page; "": this is the last one
}

// Info is what a list shows of a session.
type Info struct {
	ID        string
	WorkDir   string
	Title     string
	UpdatedAt time.Time // when something was last said
	Archived  bool      // put out of the way
}

const (
	defaultLimit = 50
	maxLimit     = 1000
)

// List gives sessions, those used last first. It changes nothing. Sessions in which
// nothing was said are left out, and so are those whose work dir nobody knows. An
// ErrCursor tells of a cursor that is none.
func (st *Store) List(o ListOptions) (Page, error) {
	page, err := st.list(o)
	if err != nil {
		return Page{}, fmt.Errorf("listing the sessions: %w", err)
	}
	return page, nil
}

func (st *Store) list(o ListOptions) (Page, error) {
	after, err := parseCursor(o.Cursor)
	if err != nil {
		return Page{}, err
	}
	if o.WorkDir != "" {
		if o.WorkDir, err = cleanWorkDir(o.WorkDir); err != nil {
			return Page{}, err
		}
	}
	root, err := os.OpenRoot(st.share)
	if errors.Is(err, fs.ErrNotExist) {
		return Page{}, nil
	}
	if err != nil {
		return Page{}, err
	}
	page, err := st.listIn(root, o, after)
	return page, errors.Join(err, root.Close())
}

func (st *Store) listIn(root *os.Root, o ListOptions, after *candidate) (Page, error) {
	dirs := []string{folderOf(o.WorkDir)}
	if o.WorkDir == "" {
		var err error
		if dirs, err = workDirFolders(root); err != nil {
			return Page{}, err
		}
	}
	var all []candidate
	for _, dir := range dirs {
		names, err := subfolders(root, sessionsName, dir)
		if err != nil {
			return Page{}, err
		}
		for _, id := range names {
			if strings.HasPrefix(id, KernelPrefix) {
				continue
			}
			c, ok := look(root, dir, id)
			if ok && checkID(id) == nil && (after == nil || c.compare(*after) > 0) {
				all = append(all, c)
			}
		}
	}
	slices.SortStableFunc(all, candidate.compare)
	limit := defaultLimit
	if o.Limit > 0 {
		limit = min(o.Limit, maxLimit)
	}
	known := st.workDirs(root)
	page := Page{Sessions: []Info{}}
	var last candidate
	for _, c := range all {
		info, ok := st.info(root, c, cmp.Or(o.WorkDir, known.of(c.dir, c.id)))
		if !ok || !o.Archived.lists(info.Archived) {
			continue
		}
		if len(page.Sessions) == limit {
			page.Next = last.cursor()
			break
		}
		page.Sessions = append(page.Sessions, info)
		last = c
	}
	return page, nil
}

// info describes a session, unless it is none to show.
func (st *Store) info(root *os.Root, c candidate, workDir string) (Info, bool) {
	if workDir == "" {
		return Info{}, false
	}
	dir, err := openFolder(root, false, sessionsName, c.dir, c.id)
	if err != nil {
		return Info{}, false // deleted in this moment, or not to be entered
	}
	d, _ := describe(rootFolder{dir}) // one that cannot be read is shown all the same
	_ = dir.Close()
	return Info{ID: c.id, WorkDir: workDir, Title: d.title, UpdatedAt: c.updated, Archived: d.archived}, !d.empty
}

// candidate is a session's folder.
type candidate struct {
	dir, id string
	updated time.Time
}

// compare orders the newest first, and those of the same time in some order.
func (c candidate) compare(o candidate) int {
	return cmp.Or(o.updated.Compare(c.updated), strings.Compare(c.id, o.id), strings.Compare(c.dir, o.dir))
}

// cursor is the place behind a session.
func (c candidate) cursor() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "1 %d %s %s", c.updated.UnixNano(), c.id, c.dir))
}

func parseCursor(cursor string) (*candidate, error) {
	if cursor == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	fields := strings.Split(string(raw), " ")
	if err != nil || len(fields) != 4 || fields[0] != "1" || checkID(fields[2]) != nil || !isFolderName(fields[3]) {
		return nil, ErrCursor
	}
	nanos, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return nil, ErrCursor
	}
	return &candidate{dir: fields[3], id: fields[2], updated: time.Unix(0, nanos)}, nil
}

// find gives the folders of sessions of an id.
func (st *Store) find(root *os.Root, id string) ([]candidate, error) {
	dirs, err := workDirFolders(root)
	if err != nil {
		return nil, err
	}
	var all []candidate
	for _, dir := range dirs {
		if info, err := root.Lstat(filepath.Join(sessionsName, dir, id)); err == nil {
			c, _ := look(root, dir, id)
			c.dir, c.id = dir, id
			c.updated = cmp.Or(c.updated, info.ModTime())
			all = append(all, c)
		}
	}
	return all, nil
}

// look gives a session that has a history.
func look(root *os.Root, dir, id string) (candidate, bool) {
	info, err := root.Lstat(filepath.Join(sessionsName, dir, id, contextName))
	if err != nil || !info.Mode().IsRegular() {
		return candidate{}, false
	}
	return candidate{dir: dir, id: id, updated: info.ModTime()}, true
}

// workDirFolders names the folders of the work dirs of this machine.
func workDirFolders(root *os.Root) ([]string, error) {
	names, err := subfolders(root, sessionsName)
	return slices.DeleteFunc(names, func(name string) bool { return !isFolderName(name) }), err
}

// subfolders names the folders in a folder; one that is missing has none.
func subfolders(root *os.Root, names ...string) ([]string, error) {
	dir, err := openFolder(root, false, names...)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(dir.FS(), ".")
	var all []string
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, e.Name())
		}
	}
	return all, errors.Join(err, dir.Close())
}

// workDirs knows which work dir a folder belongs to.
type workDirs struct {
	root  *os.Root
	paths map[string]string
}

func (st *Store) workDirs(root *os.Root) workDirs {
	k, _ := readKimi(rootFolder{root}) // what cannot be read names nothing
	return workDirs{root: root, paths: k.paths()}
}

// of gives the work dir of a session, "" when nobody knows it.
func (w workDirs) of(dir, id string) string {
	if path := w.paths[dir]; path != "" {
		return path
	}
	ours, err := openFolder(w.root, false, oursName, sessionsName, id)
	if err != nil {
		return ""
	}
	path := readOrigin(rootFolder{ours}, dir)
	_ = ours.Close()
	return path
}
