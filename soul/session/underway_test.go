package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/soul/llm"
)

func calling(ids ...string) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant}
	for _, id := range ids {
		m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: id, Name: "Do"})
	}
	return m
}

func resulting(id string) llm.Message {
	return llm.Message{Role: llm.RoleTool, ToolCallID: id, Content: []llm.Part{llm.Text("did " + id)}}
}

// crashed lets go of a session as the end of its program does.
func crashed(t *testing.T, s *Session) {
	t.Helper()
	check(t, s.Close())
}

// What tools had done when the program was killed is in the history at the next opening,
// once, and stays there.
func TestStepUnderway(t *testing.T) {
	st := newStore(t)
	s := create(t, st, "x")
	check(t, s.AppendTurn(0, user("go")))
	check(t, s.AppendCheckpoint(1))
	check(t, s.BeginStep(calling("a", "b")))
	check(t, s.StepDid(resulting("a")))
	check(t, s.AppendStep(calling("a", "b"), 0, resulting("a"), resulting("b")))
	check(t, s.AppendCheckpoint(2))
	check(t, s.BeginStep(calling("c", "d", "e")))
	check(t, s.StepDid(resulting("e")))
	check(t, s.StepDid(resulting("c")))
	crashed(t, s)

	const want = "u:go a:+a+b t:adid a t:bdid b a:+c+d+e t:cdid c t:d(interrupted) t:edid e"
	for range 2 { // nothing was written in between
		s = open(t, st, "x")
		if got := texts(s.Restored().Messages); got != want {
			t.Errorf("restored %s", got)
		}
		if m := s.Restored().Messages[4]; m.Mark != 3 {
			t.Errorf("the step is marked %d", m.Mark)
		}
		crashed(t, s)
	}
	s = open(t, st, "x")
	check(t, s.AppendTurn(3, user("and now")))
	check(t, s.Close())
	s = open(t, st, "x")
	if got := texts(s.Restored().Messages); got != want+" u:and now" {
		t.Errorf("later it is %s", got)
	}
	check(t, s.Close())
}

// A step that is whole in the history, or belongs to another one, counts no more, and
// one that is damaged counts as far as it is whole.
func TestStepUnderwayThatIsNone(t *testing.T) {
	for name, c := range map[string]struct {
		after func(t *testing.T, s *Session, path string)
		want  string
	}{
		"another program went on": {func(t *testing.T, _ *Session, path string) {
			history := filepath.Join(filepath.Dir(path), "context.jsonl")
			f, err := os.OpenFile(history, os.O_WRONLY|os.O_APPEND, 0)
			check(t, err)
			_, err = f.WriteString(`{"role":"user","content":"theirs"}` + "\n")
			check(t, err)
			check(t, f.Close())
		}, "u:go u:theirs"},
		"a torn result": {func(t *testing.T, s *Session, _ string) {
			own := filepath.Join(s.OwnDir(), underwayName)
			info, err := os.Stat(own)
			check(t, err)
			check(t, os.Truncate(own, info.Size()-5))
		}, "u:go a:+a t:a(interrupted)"},
		"a torn answer": {func(t *testing.T, s *Session, _ string) {
			check(t, os.Truncate(filepath.Join(s.OwnDir(), underwayName), 20))
		}, "u:go"},
		"no head": {func(t *testing.T, s *Session, _ string) {
			check(t, os.WriteFile(filepath.Join(s.OwnDir(), underwayName), []byte("x\n"), 0o600))
		}, "u:go"},
		"other roles": {func(t *testing.T, s *Session, _ string) {
			own := filepath.Join(s.OwnDir(), underwayName)
			raw, err := os.ReadFile(own)
			check(t, err)
			check(t, os.WriteFile(own, []byte(strings.Replace(string(raw), `"assistant"`, `"user"`, 1)), 0o600))
		}, "u:go"},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStore(t)
			s := create(t, st, "x")
			check(t, s.AppendTurn(0, user("go")))
			check(t, s.BeginStep(calling("a")))
			check(t, s.StepDid(resulting("a")))
			crashed(t, s)
			c.after(t, s, place(st, "x", contextName))
			s = open(t, st, "x")
			if got := texts(s.Restored().Messages); got != c.want {
				t.Errorf("restored %s", got)
			}
			check(t, s.Close())
		})
	}
}

// The user takes back the turn in which the program was killed and says the same again:
// the history is as long as it was, and the step that went with the turn stays gone.
func TestStepUnderwayThatWasTakenBack(t *testing.T) {
	for name, between := range map[string]func(*Session){
		"at once":                 func(*Session) {},
		"after the step was kept": func(s *Session) { check(t, s.Mend()) },
	} {
		st := newStore(t)
		s := create(t, st, "x")
		check(t, s.AppendTurn(0, user("go")))
		check(t, s.AppendCheckpoint(1))
		check(t, s.BeginStep(calling("a")))
		check(t, s.StepDid(resulting("a")))
		crashed(t, s)
		s = open(t, st, "x")
		between(s)
		check(t, s.RevertTo(0))
		check(t, s.AppendTurn(2, user("go")))
		check(t, s.AppendCheckpoint(3))
		crashed(t, s)
		s = open(t, st, "x")
		if got := texts(s.Restored().Messages); got != "u:go" {
			t.Errorf("%s: restored %s", name, got)
		}
		crashed(t, s)
	}
}

// windowsFolder is a folder on a system where a handle that can only append cannot cut.
type windowsFolder struct{ folder }

func (w windowsFolder) OpenFile(name string, flag int) (file, error) {
	f, err := w.folder.OpenFile(name, flag)
	if err == nil && flag&os.O_APPEND != 0 {
		f = appendOnly{f}
	}
	return f, err
}

type appendOnly struct{ file }

func (appendOnly) Truncate(int64) error { return os.ErrPermission }

// Steps are kept on Windows as well, one after the other, and settled.
func TestStepUnderwayWhereAppendingCannotCut(t *testing.T) {
	st := newStore(t)
	st.wrap = func(f folder) folder { return windowsFolder{f} }
	s := create(t, st, "x")
	check(t, s.AppendTurn(0, user("go")))
	check(t, s.BeginStep(calling("a", "b")))
	check(t, s.StepDid(resulting("a")))
	check(t, s.AppendStep(calling("a", "b"), 0, resulting("a"), resulting("b")))
	if data, err := os.ReadFile(filepath.Join(s.OwnDir(), underwayName)); err == nil {
		t.Errorf("a step that is over is still kept: %q", data)
	}
	check(t, s.BeginStep(calling("c", "d")))
	check(t, s.StepDid(resulting("c")))
	crashed(t, s)
	s = open(t, st, "x")
	defer crashed(t, s)
	if got := texts(s.Restored().Messages); got != "u:go a:+a+b t:adid a t:bdid b a:+c+d t:cdid c t:d(interrupted)" {
		t.Errorf("restored %s", got)
	}
}
