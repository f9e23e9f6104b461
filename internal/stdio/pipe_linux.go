package stdio

import "golang.org/x/sys/unix"

// pipeBytes is what the output pipe holds: less than the usual 64 KiB, so that an
// answer does not wait long behind a stream that the editor reads slowly, and
// enough for a good batch of lines.
const pipeBytes = 16 << 10

// smallPipe makes a pipe hold less. Where that cannot be done it stays as it is.
func smallPipe(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeBytes) }
