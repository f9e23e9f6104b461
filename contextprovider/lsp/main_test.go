package lsp

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The test binary also plays a language server, see fake_test.go.
func TestMain(m *testing.M) {
	if temper := os.Getenv("PLAY_SERVER"); temper != "" {
		playServer(temper)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
