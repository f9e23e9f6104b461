package fileop

import (
	"io/fs"
	"os"
	"syscall"
)

// fingerprintOf looks at a file without following a link.
func fingerprintOf(path string) (fingerprint, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return fingerprint{}, err
	}
	return fingerprintIn(info, path)
}

// fingerprintIn is what a look at a file that was made already tells.
func fingerprintIn(info fs.FileInfo, path string) (fingerprint, error) {
	if !info.Mode().IsRegular() {
		return fingerprint{}, &fs.PathError{Op: "lstat", Path: path, Err: fs.ErrNotExist}
	}
	p := fingerprint{size: info.Size(), written: info.ModTime().UnixNano()}
	if d, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		p.status = d.CreationTime.Nanoseconds()
	}
	return p, nil
}
