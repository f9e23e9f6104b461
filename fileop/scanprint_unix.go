//go:build unix

package fileop

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// fingerprintOf looks at a file without following a link.
func fingerprintOf(path string) (fingerprint, error) { return fingerprintAt(unix.AT_FDCWD, path) }

// fingerprintAt looks at a file in an open folder, without following a link.
func fingerprintAt(dir int, name string) (fingerprint, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fingerprint{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return fingerprint{}, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
	}
	return fingerprint{
		size:    st.Size,
		written: st.Mtim.Nano(),
		status:  st.Ctim.Nano(),
		device:  uint64(st.Dev),
		inode:   st.Ino,
	}, nil
}

// fingerprintIn is what a look at a file that was made already tells.
func fingerprintIn(info fs.FileInfo, name string) (fingerprint, error) {
	if !info.Mode().IsRegular() {
		return fingerprint{}, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
	}
	p := fingerprint{size: info.Size(), written: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		p.device, p.inode = uint64(st.Dev), st.Ino //nolint:unconvert // Dev has another type elsewhere
	}
	return p, nil
}
