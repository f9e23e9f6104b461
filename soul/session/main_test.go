package session

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/soul/llm"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		os.Exit(runVictim(dir))
	}
	os.Exit(m.Run())
}

const workDir = "/home/é/project"

func user(text string) llm.Message {
	return llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text(text)}}
}

func assistant(text string, calls ...llm.ToolCall) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Content: []llm.Part{llm.Text(text)}, ToolCalls: calls}
}

func call(id, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: "Shell", Arguments: &arguments}
}

func result(id, text string) llm.Message {
	return llm.Message{Role: llm.RoleTool, ToolCallID: id, Content: []llm.Part{llm.Text(text)}}
}

// texts gives each message in a short form: the role's first letter and the text.
func texts(messages []llm.Message) string {
	var all []string
	for _, m := range messages {
		s := string(m.Role[0]) + ":" + m.ToolCallID
		for _, p := range m.Content {
			if p.Text == interrupted {
				p.Text = "(interrupted)"
			}
			s += p.Text
		}
		for _, c := range m.ToolCalls {
			s += "+" + c.ID
		}
		all = append(all, s)
	}
	return strings.Join(all, " ")
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newStore gives a store on a share dir of the test's own.
func newStore(t *testing.T) *Store {
	t.Helper()
	return NewStore(filepath.Join(t.TempDir(), "share"))
}

func create(t *testing.T, st *Store, id string) *Session {
	t.Helper()
	s, err := st.Create(workDir, id)
	check(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func open(t *testing.T, st *Store, id string) *Session {
	t.Helper()
	s, err := st.Open(workDir, id)
	check(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// place is a file of a session.
func place(st *Store, id, name string) string {
	return filepath.Join(st.share, sessionsName, folderOf(workDir), id, name)
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	check(t, err)
	return string(data)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, []byte(text), 0o644))
}

// appendTo does what another program does that appends without looking.
func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	check(t, err)
	_, err = f.WriteString(text)
	check(t, err)
	check(t, f.Close())
}

// snapshot gives everything beneath a folder: names, modes, times and contents.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	check(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		b.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String() + "\n")
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			b.Write(data)
			return err
		}
		return nil
	}))
	return b.String()
}

func skipped(s *Session) string { return strings.Join(s.Restored().Skipped, "\n") }
