//go:build unix

package fileop

import (
	"os"
	"syscall"
)

// openWithoutWaiting keeps an open from waiting for a pipe's other end.
const openWithoutWaiting = syscall.O_NONBLOCK

// keepOwner gives f the owner of the file it will replace. Only a privileged
// process can, and one that is not loses nothing that it could have kept.
func keepOwner(f *os.File, old os.FileInfo) {
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid))
	}
}

// mine tells whether a file is the user's of this process, or, where that one may do
// everything, anybody's: the file may have been given the owner of its target.
func mine(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (os.Getuid() == 0 || int(st.Uid) == os.Getuid())
}

// syncDir makes a rename inside a directory last. Some file systems cannot; the
// file is replaced all the same, so this is no error.
func syncDir(root *os.Root, dir string) {
	f, err := root.Open(dir)
	if err != nil {
		return
	}
	_ = f.Sync()
	_ = f.Close()
}
