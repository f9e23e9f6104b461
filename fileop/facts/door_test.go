//go:build unix

package facts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDoor: a path that leads through a process is told by the door, not by what
// stands behind it.
func TestDoor(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"root": "/proc/self/root", "chain": "root", "fds": "/proc/self/fd", "plain": "/etc", "loop": "loop", "self": "/proc/self",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("links cannot be made here:", err)
		}
	}
	if _, err := os.Readlink("/proc/self/root"); err != nil {
		t.Skip("there is no /proc here")
	}
	for name, want := range map[string]string{
		dir + "/root/etc/passwd": "root/etc/passwd", dir + "/chain": "root", dir + "/self/cwd/x": "cwd/x", "/proc/self/exe": "exe",
		dir + "/plain/passwd": "", dir + "/loop": "", dir + "/none/../root": "root", "/proc/self/status": "", "/etc/passwd": "",
	} {
		got, ok := door(name)
		if ok != (want != "") || ok && !(strings.HasPrefix(got, "/proc/") && strings.HasSuffix(got, "/"+want)) {
			t.Errorf("%s: %q, %v, want the end %q", name, got, ok, want)
		}
	}
}
