//go:build unix

package fileop

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// fingerprintOf looks at a file without following a link.
func fingerprintOf(path string) (fingerprint, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return fingerprint{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return fingerprint{}, &fs.PathError{Op: "lstat", Path: path, Err: fs.ErrNotExist}
	}
	return fingerprint{
		size:    st.Size,
		written: st.Mtim.Nano(),
		status:  st.Ctim.Nano(),
		device:  uint64(st.Dev),
		inode:   st.Ino,
	}, nil
}
