package session

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// kimiName is kimi-cli's list of the work dirs that have sessions. Programs that
// know only the folders of sessions cannot tell whose they are.
const (
	kimiName = "kimi.json"
	maxKimi  = 16 << 20 // bytes
)

// member is a key of a JSON object with its value, as it stands in the file: what
// this program does not know must survive that it writes the file.
type member struct {
	key   string
	value json.RawMessage
}

type members []member

func (m members) index(key string) int {
	for i := range m {
		if m[i].key == key {
			return i
		}
	}
	return -1
}

// text gives a member that is a string, "" when there is none.
func (m members) text(key string) string {
	var s string
	if i := m.index(key); i >= 0 && json.Unmarshal(m[i].value, &s) != nil {
		return ""
	}
	return s
}

func parseMembers(data []byte) (members, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.Join(errors.New("it is no JSON object"), err)
	}
	var all members
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		all = append(all, member{key: fmt.Sprint(key), value: value})
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind the JSON object")
	}
	return all, nil
}

func (m members) encode() []byte {
	o := object{'{'}
	for _, x := range m {
		o.raw(x.key, x.value)
	}
	return o.end()
}

// kimiFile is what kimi.json holds.
type kimiFile struct {
	all  members
	dirs []members // the items of work_dirs
}

func readKimi(share folder) (kimiFile, error) {
	data, err := readFile(share, kimiName, maxKimi)
	if errors.Is(err, fs.ErrNotExist) {
		return kimiFile{}, nil
	}
	if err != nil {
		return kimiFile{}, err
	}
	k := kimiFile{}
	if k.all, err = parseMembers(data); err != nil {
		return kimiFile{}, fmt.Errorf("%s: %w", kimiName, err)
	}
	i := k.all.index("work_dirs")
	if i < 0 {
		return k, nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(k.all[i].value, &items); err != nil {
		return kimiFile{}, fmt.Errorf("%s: work_dirs: %w", kimiName, err)
	}
	for _, raw := range items {
		dir, err := parseMembers(raw)
		if err != nil {
			return kimiFile{}, fmt.Errorf("%s: work_dirs: %w", kimiName, err)
		}
		k.dirs = append(k.dirs, dir)
	}
	return k, nil
}

// isLocal tells whether a work dir is one of this machine.
func isLocal(dir members) bool {
	kind := dir.text("kaos")
	return kind == "" || kind == "local"
}

// paths gives the work dirs by the names of their folders.
func (k kimiFile) paths() map[string]string {
	all := map[string]string{}
	for _, dir := range k.dirs {
		if path := dir.text("path"); path != "" && isLocal(dir) {
			all[folderOf(path)] = path
		}
	}
	return all
}

// addWorkDir enters a work dir into kimi.json, unless it is there.
func addWorkDir(share folder, path string) error {
	k, err := readKimi(share)
	if err != nil {
		return err
	}
	if k.paths()[folderOf(path)] != "" {
		return nil
	}
	dir := object{'{'}
	dir.string("path", path)
	dir.string("kaos", "local")
	dir.text("last_session_id", "")
	entry, err := parseMembers(dir.end())
	if err != nil {
		return err
	}
	k.dirs = append(k.dirs, entry)
	return k.write(share)
}

// forgetSession takes a session that is deleted out of kimi.json, where it may be
// the one to go on with.
func forgetSession(share folder, id string) error {
	k, err := readKimi(share)
	if err != nil {
		return err
	}
	found := false
	for _, dir := range k.dirs {
		if i := dir.index("last_session_id"); i >= 0 && dir.text("last_session_id") == id {
			dir[i].value = json.RawMessage("null")
			found = true
		}
	}
	if !found {
		return nil
	}
	return k.write(share)
}

func (k kimiFile) write(share folder) error {
	list := []byte{'['}
	for i, dir := range k.dirs {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, dir.encode()...)
	}
	list = append(list, ']')
	if i := k.all.index("work_dirs"); i >= 0 {
		k.all[i].value = list
	} else {
		k.all = append(k.all, member{key: "work_dirs", value: list})
	}
	// Several programs may do this at once; each has a temporary file of its own.
	return replaceFile(share, kimiName, "."+kimiName+"."+rand.Text(), contents(indent(k.all.encode())))
}
