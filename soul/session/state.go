package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"kimi-acp/soul/wire"
)

const (
	stateName  = "state.json"
	legacyName = "metadata.json" // what came before state.json
	maxState   = 16 << 20        // bytes
)

// State is the settings of a session, as state.json has them. An empty string
// stands for null.
type State struct {
	Version               int           `json:"version"`
	Approval              ApprovalState `json:"approval"`
	AdditionalDirs        []string      `json:"additional_dirs"`
	CustomTitle           string        `json:"custom_title"`
	TitleGenerated        bool          `json:"title_generated"`
	TitleGenerateAttempts int           `json:"title_generate_attempts"`
	PlanMode              bool          `json:"plan_mode"`
	PlanSessionID         string        `json:"plan_session_id"` // 32 hexadecimal digits
	PlanSlug              string        `json:"plan_slug"`
	WireMtime             *float64      `json:"wire_mtime"` // seconds since 1970
	Archived              bool          `json:"archived"`
	ArchivedAt            *float64      `json:"archived_at"` // seconds since 1970
	AutoArchiveExempt     bool          `json:"auto_archive_exempt"`
	Todos                 []TodoState   `json:"todos"`
}

// ApprovalState is what need not be asked for.
type ApprovalState struct {
	Yolo               bool     `json:"yolo"`
	AFK                bool     `json:"afk"`
	AutoApproveActions []string `json:"auto_approve_actions"`
}

// TodoState is an entry of the to-do list.
type TodoState struct {
	Title  string `json:"title"`
	Status string `json:"status"` // pending | in_progress | done
}

// TodoItems is the to-do list as the Wire tells it.
func (st State) TodoItems() []wire.TodoItem {
	items := make([]wire.TodoItem, 0, len(st.Todos))
	for _, t := range st.Todos {
		items = append(items, wire.TodoItem(t))
	}
	return items
}

// TodosOf is a plan in the form in which a session's state holds it: without what only the
// messages of the session tell.
func TodosOf(plan []wire.PlanItem) []TodoState {
	todos := make([]TodoState, 0, len(plan))
	for _, i := range plan {
		todos = append(todos, TodoState{Title: i.Title, Status: i.Status})
	}
	return todos
}

func defaultState() State { return State{Version: 1} }

// clone is a copy that shares nothing.
func (st State) clone() State {
	st.Approval.AutoApproveActions = slices.Clone(st.Approval.AutoApproveActions)
	st.AdditionalDirs = slices.Clone(st.AdditionalDirs)
	st.Todos = slices.Clone(st.Todos)
	for _, at := range []**float64{&st.WireMtime, &st.ArchivedAt} {
		if *at != nil {
			v := **at
			*at = &v
		}
	}
	return st
}

// takeShared takes over what other programs change while a session is open: its
// title and its place in an archive.
func (st *State) takeShared(disk State) {
	st.CustomTitle = disk.CustomTitle
	st.TitleGenerated = disk.TitleGenerated
	st.TitleGenerateAttempts = disk.TitleGenerateAttempts
	st.Archived, st.ArchivedAt = disk.Archived, disk.ArchivedAt
	st.AutoArchiveExempt = disk.AutoArchiveExempt
}

// State gives the session's settings as they were read or last updated.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.clone()
}

// UpdateState changes the settings and writes them, whole or not at all. The title
// and archive fields are read from disk before the change, since other programs
// write them too. When it fails, nothing has changed. Change must not call the
// session.
func (s *Session) UpdateState(change func(*State)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	next := s.state.clone()
	disk, err := loadState(s.dir)
	if err != nil {
		// What cannot be read will be replaced, and is kept aside.
		if err := s.keepState(); err != nil {
			return fmt.Errorf("keeping the damaged settings of the session: %w", err)
		}
	} else {
		next.takeShared(disk)
	}
	change(&next)
	if err := replaceFile(s.dir, stateName, stateName+".tmp", contents(next.encode())); err != nil {
		return fmt.Errorf("writing the settings of the session: %w", err)
	}
	s.state = next.clone()
	// It is in state.json now. Left behind, it would bring back old values.
	if err := s.dir.Remove(legacyName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the old settings of the session: %w", err)
	}
	return nil
}

// keepState copies a damaged state.json to what is ours.
func (s *Session) keepState() error {
	f, err := s.dir.OpenFile(stateName, os.O_RDONLY)
	if err != nil {
		return err
	}
	_, err = s.keepTorn(io.NewSectionReader(f, 0, maxState))
	return errors.Join(err, f.Close())
}

// loadState reads the settings. Where there are none, or none that can be read, it
// gives the defaults, in the second case with an error.
func loadState(dir folder) (State, error) {
	st := defaultState()
	data, err := readFile(dir, stateName, maxState)
	if err == nil {
		err = json.Unmarshal(data, &st)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return defaultState(), fmt.Errorf("the settings of the session cannot be read, and are the defaults now: %w", err)
	}
	legacy := defaultState()
	data, err = readFile(dir, legacyName, maxState)
	if err == nil && json.Unmarshal(data, &legacy) == nil {
		st.takeLegacy(data, legacy)
	}
	return st, nil
}

// takeLegacy fills in what has its default from the file that came before.
func (st *State) takeLegacy(data []byte, legacy State) {
	var title struct {
		Title string `json:"title"`
	}
	if st.CustomTitle == "" && json.Unmarshal(data, &title) == nil && title.Title != untitled {
		st.CustomTitle = title.Title
	}
	st.TitleGenerated = st.TitleGenerated || legacy.TitleGenerated
	st.TitleGenerateAttempts = max(st.TitleGenerateAttempts, legacy.TitleGenerateAttempts)
	st.Archived = st.Archived || legacy.Archived
	st.AutoArchiveExempt = st.AutoArchiveExempt || legacy.AutoArchiveExempt
	if st.ArchivedAt == nil {
		st.ArchivedAt = legacy.ArchivedAt
	}
	if st.WireMtime == nil {
		st.WireMtime = legacy.WireMtime
	}
}
