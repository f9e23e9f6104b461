package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLast(t *testing.T) {
	share := t.TempDir()
	st := NewStore(share)
	if _, err := st.Last("/proj"); !errors.Is(err, ErrNotFound) {
		t.Errorf("nothing was there: %v", err)
	}
	kept := `{"work_dirs":[{"path":"/proj","kaos":"ssh","last_session_id":"far"},{"path":"/other","kaos":"local"}],"thinking":true}`
	if err := os.WriteFile(filepath.Join(share, kimiName), []byte(kept), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Last("/proj"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the session of another machine was found: %v", err)
	}
	for _, dir := range []string{"/proj", "/other"} {
		if err := st.SetLast(dir+"/", "s-1"); err != nil {
			t.Fatal(err)
		}
		if id, err := st.Last(dir); id != "s-1" || err != nil {
			t.Errorf("%s: %q, %v", dir, id, err)
		}
	}
	data, err := os.ReadFile(filepath.Join(share, kimiName))
	if err != nil || !strings.Contains(string(data), `"far"`) || !strings.Contains(string(data), `"thinking"`) {
		t.Errorf("what others wrote is gone: %s, %v", data, err)
	}
	if err := st.SetLast("/proj", "../x"); !errors.Is(err, ErrID) {
		t.Errorf("an id that is a path: %v", err)
	}
}
