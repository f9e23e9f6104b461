//go:build unix

package facts

import (
	"os"
	"path"
	"strings"
)

// door tells whether following a path leads through a link of /proc, which is no
// link to a name but a door into a process: its folder, its root, its open files.
// The path that it gives then names the door and what is asked for behind it.
func door(name string) (string, bool) {
	at, rest := "/", strings.Split(name, "/")
	for links := 0; len(rest) > 0 && links <= maxLinks; {
		next := rest[0]
		rest = rest[1:]
		switch next {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		target, err := os.Readlink(path.Join(at, next))
		if err != nil {
			at = path.Join(at, next)
			continue
		}
		links++
		if inProcess(at) {
			return path.Join(append([]string{at, next}, rest...)...), true
		}
		if strings.HasPrefix(target, "/") {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return "", false
}

// inProcess tells whether a folder belongs to one process: /proc/self itself is a
// plain link, what is below it is not.
func inProcess(dir string) bool {
	below, ok := strings.CutPrefix(dir, "/proc/")
	return ok && below != ""
}
