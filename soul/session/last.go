package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Last gives the id of the session to go on with in a work dir, an absolute path:
// the one that a program kept with SetLast, or kimi-cli, when it ended. ErrNotFound
// says that there is none.
func (st *Store) Last(workDir string) (string, error) {
	workDir, err := cleanWorkDir(workDir)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(st.share)
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("find the last session: %w", err)
	}
	k, err := readKimi(rootFolder{root})
	if err = errors.Join(err, root.Close()); err != nil {
		return "", fmt.Errorf("find the last session: %w", err)
	}
	if dir := k.of(workDir); dir != nil && dir.text("last_session_id") != "" {
		return dir.text("last_session_id"), nil
	}
	return "", ErrNotFound
}

// SetLast notes the session to go on with in a work dir, an absolute path.
func (st *Store) SetLast(workDir, id string) error {
	if err := st.setLast(workDir, id); err != nil {
		return fmt.Errorf("note the last session: %w", err)
	}
	return nil
}

func (st *Store) setLast(workDir, id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	workDir, err := cleanWorkDir(workDir)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(st.share)
	if err != nil {
		return err
	}
	return errors.Join(setLastIn(rootFolder{root}, workDir, id), root.Close())
}

func setLastIn(share folder, workDir, id string) error {
	if err := addWorkDir(share, workDir); err != nil {
		return err
	}
	k, err := readKimi(share)
	if err != nil {
		return err
	}
	dir := k.of(workDir)
	if dir == nil {
		return errors.New("the work dir is not in " + kimiName)
	}
	value, err := json.Marshal(id)
	if err != nil {
		return err
	}
	dir.set("last_session_id", value)
	return k.write(share)
}

// of gives the entry of a work dir, nil when there is none.
func (k *kimiFile) of(workDir string) *members {
	for i := range k.dirs {
		if isLocal(k.dirs[i]) && k.dirs[i].text("path") == workDir {
			return &k.dirs[i]
		}
	}
	return nil
}

// set gives a member another value, and adds it where it is missing.
func (m *members) set(key string, value json.RawMessage) {
	if i := m.index(key); i >= 0 {
		(*m)[i].value = value
		return
	}
	*m = append(*m, member{key: key, value: value})
}
