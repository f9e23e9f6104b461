package obs

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func records(t *testing.T, path string) []map[string]any {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for line := range bytes.Lines(b) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, m)
	}
	return out
}

func TestLevels(t *testing.T) {
	for _, debug := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "a", "logs")
		var stderr bytes.Buffer
		l := Open(Options{Dir: dir, Debug: debug, Stderr: &stderr})
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folder was made before anything was logged: %v", err)
		}
		l.Debug("detail")
		l.Info("start", "n", 1)
		l.Warn("slow", "err", errors.New("line one\nline two"), "n", 2)
		l.With("error", "given before").WithGroup("g").Error("broken")
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		l.Info("after the end")
		var messages []string
		for _, r := range records(t, filepath.Join(dir, "kimi-acp.log")) {
			messages = append(messages, r["level"].(string)+" "+r["msg"].(string))
		}
		want := "INFO start|WARN slow|ERROR broken"
		if debug {
			want = "DEBUG detail|" + want
		}
		if got := strings.Join(messages, "|"); got != want {
			t.Errorf("debug %v: got %s", debug, got)
		}
		if got := stderr.String(); got != "kimi-acp: warning: slow: line one line two\nkimi-acp: error: broken: given before\n" {
			t.Errorf("stderr:\n%s", got)
		}
	}
}

func TestLogIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	dir := filepath.Join(t.TempDir(), "logs")
	path := filepath.Join(dir, "kimi-acp.log")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"msg":"earlier"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l := Open(Options{Dir: dir})
	l.Info("x")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{dir: 0o700, path: 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if got := records(t, path); len(got) != 2 || got[0]["msg"] != "earlier" {
		t.Errorf("got %v", got)
	}
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	f := &logFile{dir: dir, warn: func(err error) { t.Error(err) }}
	line := bytes.Repeat([]byte("y"), 1<<20)
	for range 5*maxLogMiB + 1 {
		if _, err := f.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1+maxBackups {
		t.Errorf("%d files: %v", len(entries), entries)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > maxLogMiB<<20 {
			t.Errorf("%s has %d bytes", e.Name(), info.Size())
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", e.Name(), info.Mode())
		}
	}
}

// Two processes on one log: what one of them rotates away, the other does not lose, and
// the newest is where people look.
func TestRotationBesideAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	open := func() *rotating {
		r, err := openRotating(path, 10, 2)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, two := open(), open()
	for _, w := range []struct {
		by   *rotating
		text string
	}{{one, "aaaaaa\n"}, {two, "bb\n"}, {one, "cccccc\n"}, {two, "dddddddd\n"}, {two, "ee\n"}, {one, "a line longer than a file\n"}} {
		if n, err := w.by.Write([]byte(w.text)); n != len(w.text) || err != nil {
			t.Fatal(n, err)
		}
	}
	for _, r := range []*rotating{one, two} {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{path: "a line longer than a file\n", path + ".1": "ee\n", path + ".2": "dddddddd\n"} {
		if got, err := os.ReadFile(name); string(got) != want {
			t.Errorf("%s holds %q (%v), want %q", filepath.Base(name), got, err, want)
		}
	}
}

func TestLogThatCannotBeWritten(t *testing.T) {
	tests := []struct {
		name, dir, want string
		prepare         func(t *testing.T, dir string)
	}{
		{"the folder is a file", "file", "The log cannot be written: make the log folder: ", func(t *testing.T, dir string) {
			if err := os.WriteFile(dir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"the log is a folder", "logs", "The log cannot be written: open the log: ", func(t *testing.T, dir string) {
			if err := os.MkdirAll(filepath.Join(dir, "kimi-acp.log", "kept"), 0o700); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), tt.dir)
			tt.prepare(t, dir)
			var stderr bytes.Buffer
			l := Open(Options{Dir: dir, Stderr: &stderr})
			l.Info("one")
			l.Info("two")
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if got := stderr.String(); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "kimi-acp: warning: "+tt.want) {
				t.Errorf("stderr:\n%s", got)
			}
		})
	}
}

func TestNowhereToLog(t *testing.T) {
	l := Open(Options{})
	l.Error("x")
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestSentenceIsBounded(t *testing.T) {
	var stderr bytes.Buffer
	Open(Options{Stderr: &stderr}).Warn(strings.Repeat("é", 5000))
	if got := stderr.String(); len(got) > maxSentence+40 || !strings.HasSuffix(got, "é…\n") {
		t.Errorf("%d bytes, ends with %q", len(got), got[len(got)-10:])
	}
}
