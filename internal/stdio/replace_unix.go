//go:build unix && !linux

package stdio

import "golang.org/x/sys/unix"

// replace makes fd stand for the same file as from. Not every Unix has dup3.
func replace(from, fd int) error { return unix.Dup2(from, fd) }
