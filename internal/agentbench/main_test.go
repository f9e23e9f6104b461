package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also the agent that the tests measure: with actAs set, this program
// is one.
func TestMain(m *testing.M) {
	if manner := os.Getenv(actAs); manner != "" {
		os.Exit(act(manner))
	}
	goleak.VerifyTestMain(m)
}
