package fileop

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kimi-acp/internal/filelock"
)

// The names of temporary files: what stands between is random.
const (
	tempPrefix = ".kimi-acp-"
	tempSuffix = ".tmp"
)

// tempAge is how old a temporary file must be to count as left behind. One that is in
// use is locked but for the moment between closing and renaming.
const tempAge = 10 * time.Second

// maxTidied bounds the files of a folder that are looked at.
const maxTidied = 100_000

func tempName() string { return tempPrefix + rand.Text() + tempSuffix }

// isTempName tells names of tempName from those that people give.
func isTempName(name string) bool {
	random, ok := strings.CutPrefix(name, tempPrefix)
	random, ends := strings.CutSuffix(random, tempSuffix)
	return ok && ends && len(random) == len(rand.Text()) && strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// Tidy removes what a write of the file at path, or of one beside it, left behind when
// its program was killed: regular files of ours by name and owner that nobody holds. What
// cannot be removed stays, and so does what stands behind the first 100,000 names of a
// folder, or in one that no file is written in any more. Nothing is listed when ctx is over.
func (d *Disk) Tidy(ctx context.Context, path string) {
	p, root, err := d.place(ctx, path)
	if err != nil {
		return
	}
	folder, missing, err := enter(root, filepath.Dir(p.rel))
	if err != nil {
		return
	}
	if missing == "" && ctx.Err() == nil {
		tidy(folder)
	}
	_ = folder.Close() // a folder holds no data that could be lost
}

// tidy removes what was left behind in a folder, and tells whether there is something
// that may be removed later: it is in use, or too young to say.
func tidy(folder *os.Root) (again bool) {
	dir, err := folder.Open(".")
	if err != nil {
		return false
	}
	names, _ := dir.Readdirnames(maxTidied) // what cannot be listed is left
	_ = dir.Close()
	for _, name := range names {
		if isTempName(name) && removeStray(folder, name) {
			again = true
		}
	}
	return again
}

// removeStray removes a file that was left behind, and tells whether that is to be tried
// again. What is not ours, or cannot be removed, is not.
func removeStray(folder *os.Root, name string) (again bool) {
	info, err := folder.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || !mine(info) {
		return false
	}
	if time.Since(info.ModTime()) < tempAge {
		return true
	}
	f, err := folder.OpenFile(name, os.O_RDWR|openWithoutWaiting, 0)
	if err != nil {
		return false
	}
	opened, err := f.Stat()
	if err == nil && os.SameFile(info, opened) {
		if filelock.Try(f) == nil {
			removeHeld(folder, name, f)
		} else {
			again = true
		}
	}
	_ = f.Close()
	return again
}

// removeHeld removes a file that is open and locked. Where an open file cannot be
// removed, it is closed first.
func removeHeld(folder *os.Root, name string, f *os.File) {
	if folder.Remove(name) != nil {
		_ = f.Close()
		_ = folder.Remove(name) // what cannot be removed stays
	}
}

// tidyOnce tidies a folder before the first file is put in it.
func (d *Disk) tidyOnce(folder *os.Root, dir string, at *os.Root) {
	key := tidied{at, dir}
	if d.tidied[key] {
		return
	}
	if !tidy(folder) && len(d.tidied) < maxTidyNoted {
		if d.tidied == nil {
			d.tidied = map[tidied]bool{}
		}
		d.tidied[key] = true
	}
}

// tidied is a folder that holds nothing left behind that could be removed.
type tidied struct {
	root *os.Root
	dir  string
}

// maxTidyNoted bounds the folders that are noted as tidy; others are looked at again.
const maxTidyNoted = 10_000
