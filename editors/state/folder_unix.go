//go:build unix

package state

import (
	"io/fs"
	"os"
	"syscall"
)

func ownedByUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

func othersMayEnter(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
