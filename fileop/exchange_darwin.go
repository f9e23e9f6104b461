package fileop

import (
	"os"

	"golang.org/x/sys/unix"
)

// exchange lets two files of a folder change names in one step.
func exchange(folder *os.Root, a, b string) error { return renameAs(folder, a, b, unix.RENAME_SWAP) }

// renameFree renames a file unless the new name is taken, which is fs.ErrExist.
func renameFree(folder *os.Root, from, to string) error {
	return renameAs(folder, from, to, unix.RENAME_EXCL)
}

func renameAs(folder *os.Root, from, to string, how uint32) error {
	return renamed(from, to, inFolder(folder, func(fd int) error { return unix.RenameatxNp(fd, from, fd, to, how) }))
}
