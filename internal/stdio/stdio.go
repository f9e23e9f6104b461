// Package stdio takes standard input and output for the protocol alone.
//
// It must not know the protocol: it hands out two files and sees to it that nothing
// else in the process, and no child, reads from the one or writes to the other.
package stdio

import (
	"fmt"
	"os"
)

// Claim moves standard input and output to files of their own, which children do not
// inherit. In their old places stand the null device and standard error, so that a
// stray print, also of a library or a child, goes where it does no harm.
//
// From then on a reader that is gone makes writing to out fail and does not end the
// process. Where input and output are pipes or sockets that nothing else shares, both
// files take deadlines, and closing them ends a Read or Write that waits.
//
// Claim is called once, first thing in main: what was read before is lost, and a second
// call would get the stand-ins. After an error nothing is claimed.
func Claim() (in, out *os.File, err error) {
	in, out, err = claim()
	if err != nil {
		return nil, nil, fmt.Errorf("take standard input and output for the protocol: %w", err)
	}
	// Same place as the redirected descriptor, without what was found out about the old.
	os.Stdout = os.Stderr
	return in, out, nil
}
