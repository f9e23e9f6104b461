//go:build unix

package proc

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The test binary also plays the programs that a test needs to see end: the
// supervisor, and a protocol process that is killed while its command runs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "play-supervisor":
			os.Exit(SuperviseMain(os.Stdin))
		case "play-parent":
			if err := playParent(os.Args[2]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	goleak.VerifyTestMain(m)
}
