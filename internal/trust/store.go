package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kimi-acp/internal/keptfile"
)

// Answer is what the user has decided about a folder.
type Answer string

// The answers.
const (
	Undecided Answer = ""        // nothing
	Trusted   Answer = "trusted" // it may run code of its own
	Never     Answer = "never"   // it may not, and that is not to be asked again
)

// Entry is a folder that was decided about.
type Entry struct {
	Path  string    `json:"path"` // with every link resolved
	Trust Answer    `json:"trust"`
	Since time.Time `json:"since"`
}

// Bounds of the file.
const (
	maxEntries = 10_000
	maxFile    = 4 << 20 // bytes
)

const fileVersion = 1

// file is what trust.json holds.
type file struct {
	Version int     `json:"version"`
	Folders []Entry `json:"folders"`
}

// Store is the decisions of a user, in a file that several processes may use at once.
// Its methods may be called by several goroutines at once. Nothing is kept in memory:
// what one process decides holds for the others with their next action.
type Store struct {
	path string
	home string
	now  func() time.Time
}

// NewStore gives the decisions that are kept in a folder of the program's own; without
// a folder nothing is decided and nothing can be. Home is the user's home folder, may
// be empty.
func NewStore(dir, home string) *Store {
	s := &Store{home: home, now: time.Now}
	if dir != "" {
		s.path = filepath.Join(dir, "trust.json")
	}
	return s
}

var errNoPlace = errors.New("there is no folder to keep this in; set KIMI_SHARE_DIR")

// Of says what was decided about a folder: about itself, or about the nearest folder
// above it that was decided about. It does not reach into a repository within one: that
// has its own answer. With an error the answer is Undecided.
func (s *Store) Of(dir string) (Answer, error) {
	e, err := s.entry(dir)
	return e.Trust, err
}

// entry gives the decision that a folder goes by, the zero Entry when there is none.
func (s *Store) entry(dir string) (Entry, error) {
	real, err := Real(dir)
	if err != nil {
		return Entry{}, err
	}
	entries, err := s.List()
	if err != nil {
		return Entry{}, err
	}
	for at := real; ; at = filepath.Dir(at) {
		if i := slices.IndexFunc(entries, func(e Entry) bool { return e.Path == at }); i >= 0 {
			if entries[i].Trust == Trusted && s.tooWide(at) != nil {
				return Entry{}, nil
			}
			return entries[i], nil
		}
		if repository(at) || filepath.Dir(at) == at {
			return Entry{}, nil
		}
	}
}

// Set keeps a decision, Trusted or Never, and gives the folder's real path. The error
// says that there is no such folder, that it cannot be trusted as a whole (your home,
// the root of the disk, a folder that everybody may write to), or that the decision
// could not be kept.
func (s *Store) Set(dir string, a Answer) (real string, err error) {
	if real, err = Real(dir); err != nil {
		return "", err
	}
	if a == Trusted {
		if err := s.tooWide(real); err != nil {
			return "", err
		}
	}
	return real, s.change(func(entries []Entry) ([]Entry, error) {
		entries = without(entries, real)
		if len(entries) >= maxEntries {
			return nil, fmt.Errorf("more than %d folders are kept; remove some", maxEntries)
		}
		return append(entries, Entry{Path: real, Trust: a, Since: s.now().UTC().Truncate(time.Second)}), nil
	})
}

// Remove forgets what was decided about a folder, which need not exist any more; false
// when nothing was.
func (s *Store) Remove(dir string) (removed bool, err error) {
	path, err := Real(dir)
	if err != nil {
		if path, err = filepath.Abs(dir); err != nil {
			return false, fmt.Errorf("finding the folder: %w", err)
		}
	}
	err = s.change(func(entries []Entry) ([]Entry, error) {
		left := without(entries, path)
		removed = len(left) < len(entries)
		return left, nil
	})
	return removed && err == nil, err
}

// List gives the decisions in the order of their paths.
func (s *Store) List() ([]Entry, error) {
	if s.path == "" {
		return nil, nil
	}
	data, err := keptfile.Read(s.path, maxFile)
	if err != nil {
		return nil, err
	}
	return s.parse(data)
}

func (s *Store) parse(data []byte) ([]Entry, error) {
	if data == nil {
		return nil, nil
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%s: this is not what was written there: %w", s.path, err)
	}
	if f.Version != fileVersion {
		return nil, fmt.Errorf("%s: version %d is not known; another version of this program wrote it", s.path, f.Version)
	}
	for i, e := range f.Folders {
		if !filepath.IsAbs(e.Path) || e.Trust != Trusted && e.Trust != Never {
			return nil, fmt.Errorf("%s: folder %d is not understood", s.path, i+1)
		}
	}
	return f.Folders, nil
}

func (s *Store) change(f func([]Entry) ([]Entry, error)) error {
	if s.path == "" {
		return errNoPlace
	}
	return keptfile.Update(s.path, maxFile, func(old []byte) ([]byte, error) {
		entries, err := s.parse(old)
		if err != nil {
			return nil, err
		}
		if entries, err = f(entries); err != nil {
			return nil, err
		}
		slices.SortStableFunc(entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
		text, err := json.MarshalIndent(file{Version: fileVersion, Folders: entries}, "", "  ")
		return append(text, '\n'), err
	})
}

func without(entries []Entry, path string) []Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Path == path })
}
